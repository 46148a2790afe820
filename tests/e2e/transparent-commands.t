#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Commands of every day, from coreutils, busybox and others, and what shells do: under a policy that
# allows what they need, each has the same output, errors and exit status as bare, and leaves the same
# files behind. Both begin in a new copy of one folder, at the same place.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# -- the folder: files, folders, links, a FIFO, things that ordinary permissions close
mkdir "$DIR/first" && cd "$DIR/first" || exit
file words 'pear\napple\nfig\napple\nbanana\n'
file numbers '10\n9\n2\n33\n1\n'
file table 'a:1:x\nb:2:y\nc:3:z\n'
file 'with blank' 'blank\n'
file d/one 'one\n'
file d/two 'two\n'
file d/sub/three 'three\n'
file run.sh '#!/bin/sh\necho "run $1"\nexit 5\n'
file closed 'closed\n'
file shut/in 'in\n'
mkdir empty
ln -s words link
ln -s nowhere dangling
ln -s d folder
ln -s loop loop
ln words hard
mkfifo pipe
head -c 5000 /dev/zero >zeros
chmod 755 run.sh
find . -exec touch -h -d '2024-01-02 03:04:05 UTC' {} +
cd "$DIR/work" || exit
# To open /dev/stdout is to open the file behind it: it stands where the policy lets one write.
mkdir streams

cat >"$DIR/policy.ini" <<END
[sandbox]
workdir = $DIR/work/t
protect = no
tmp = shared
[paths]
read = /
exec = /
write = $DIR/work/t, $DIR/work/streams
[env]
set = TMPDIR=$DIR/work/t
END
BARE='env -i'
! is_root || BARE='setpriv --bounding-set=-all --inh-caps=-all --no-new-privs env -i'

# Names, kinds, modes, links, sizes and contents; not times, which pass.
tree()
{
	find . \( -type f -printf '%P %M %n %s\n' \) -o -printf '%P %M %n %l\n' | sort
	find . -type f -exec cksum {} + 2>&1 | sort
}

side() # NAME COMMAND...
{
	local name=$1

	shift
	cp -a "$DIR/first" t && chmod 000 t/closed && chmod 555 t/shut || return
	# What this shell says of a command that a signal ended is not the command's.
	(cd t && "$@" >../streams/out 2>../streams/err </dev/null) 2>/dev/null
	echo $? >"$DIR/$name.status"
	mv streams/out "$DIR/$name.out"
	# sed's file has a new name each time.
	sed 's/sed......: Perm/sed: Perm/' streams/err >"$DIR/$name.err"
	(cd t && tree) >"$DIR/$name.tree" 2>&1
	chmod -R u+rwX t 2>/dev/null
	rm -rf t
}

TRIED=0
same() # COMMAND
{
	local part good=0 try

	TRIED=$((TRIED + 1))
	# shellcheck disable=SC2086 # a list
	side bare $BARE PATH=/usr/bin:/bin HOME="$HOME" LC_ALL=C TMPDIR="$DIR/work/t" sh -c "$1"
	# In a static shell a signal may interrupt a fork that nobody has received yet, as sbx-launch(1)
	# says under what it does not protect against: that, and nothing else, is tried again.
	for try in 1 2 3 4 5; do
		side boxed env -i PATH=/usr/bin:/bin HOME="$HOME" LC_ALL=C "$LAUNCH" -q -p "$DIR/policy.ini" -- sh -c "$1"
		grep -q "can't fork: Interrupted system call" "$DIR/boxed.err" || break
		echo "# interrupted, try $try"
	done
	for part in out err status tree; do
		cmp -s "$DIR/bare.$part" "$DIR/boxed.$part" || good=1
	done
	result $good "as bare: $(tr '\n\t' '; ' <<<"$1" | cut -c 1-90 | tr '#' '?')"
	[ "$good" -eq 0 ] || for part in out err status tree; do
		diff "$DIR/bare.$part" "$DIR/boxed.$part" | head -8 | cat -v | sed "s/^/# $part: /"
	done
}

# -- coreutils: files
same 'cp words new'
same 'cp -v words numbers d'
same 'cp -a d link folder dangling pipe run.sh empty; ls -lR --time-style=+%s empty'
same 'cp -r d new && cp -rL folder new2'
same 'cp -l words new; cp -s words new2; ls -l --time-style=+ new new2'
same 'cp --sparse=always zeros new; cp -p run.sh p.sh; stat -c "%a %s %Y" p.sh'
same 'cp closed new'
same 'cp words shut/new'
same 'cp nothing new; cp words; cp d new'
same 'cp words empty/; cp words nothing/'
same 'cp -n words numbers; cp -b words numbers; ls'
same 'cp -u --preserve=mode,timestamps words table; cat table'
same 'mv words new'
same 'mv words d/'
same 'mv d empty && find . | sort'
same 'mv -n words numbers; mv -v words numbers'
same 'mv shut/in .; mv words shut'
same 'mv d d/sub'
same 'mv nothing new; mv words numbers d nothing'
same 'mv closed open && ls -l --time-style=+ open'
same 'ln words new && ln -s words soft && ln -sf nowhere link && ls -l --time-style=+ soft link'
same 'ln d new; ln words numbers; ln -f words numbers'
same 'ln -sr d/one rel; readlink rel link dangling; readlink -f folder/one loop; readlink -e dangling'
same 'rm words && ls'
same 'rm -r d; rm -rf empty nothing; rm nothing'
same 'rm d; rm -d empty; rm -d d'
same 'rm -f closed shut/in'
same 'rm -rf shut; ls -l --time-style=+ shut'
same 'rm -v link dangling folder loop'
same 'unlink words; unlink d; unlink nothing'
same 'mkdir new && mkdir -p a/b/c && mkdir -m 700 private && mkdir new'
same 'mkdir -v words/x; mkdir shut/x; mkdir nothing/x'
same 'rmdir empty d; rmdir -p d/sub; rmdir words'
same 'mkdir -p p/q/r && rmdir -p p/q/r'
same 'touch new words && test new -nt hard; touch -c nothing; touch shut/x'
same 'touch -d "2001-02-03 04:05:06 UTC" words && stat -c %Y words; touch -r numbers words; stat -c %Y words'
same 'touch -h -d @100 link; stat -c %Y link words; touch closed'
same 'chmod 600 words && chmod -R go-rwx d && chmod a+x,u=rw numbers && stat -c "%A %n" words d d/* numbers'
same 'chmod 755 nothing; chmod -v +x words; chmod --reference=run.sh table; chmod 000 d; ls d'
same 'chmod 644 closed && cat closed; chmod u+w shut && touch shut/new'
same 'chown 12345 words; chgrp 12345 words; chown "$(id -u)" words; chown -h "$(id -u)" link'
same 'install -m 700 words new && install -d x/y && install -D words p/q/r && install -t d numbers'
same 'install -v words shut/; install nothing new'
same 'mktemp -u abcXXX | wc -c; f=$(mktemp) && stat -c "%a %s" "$f" && rm "$f"; d=$(mktemp -d) && stat -c %a "$d" && rmdir "$d"'
same 'mktemp shut/XXXXXX >/dev/null; mktemp XX'
same 'mkfifo new && stat -c %F new; mknod new2 p; mkfifo new'
same 'truncate -s 3 words && truncate -s +10 numbers && truncate -s 1M big && stat -c "%s %n" words numbers big; truncate -s 0 closed'
same 'shred -u -n 1 words && ls; link words2 x; link numbers x'
same 'dd if=zeros of=new bs=512 count=3 status=none && dd if=words bs=1 skip=2 count=4 2>/dev/null; dd if=nothing'
same 'dd if=words of=numbers conv=notrunc,ucase bs=4 status=none; cat numbers; dd if=/dev/zero of=shut/x count=1 status=none'
same 'split -b 1000 zeros part. && ls part.*; csplit -s words 3 && ls xx*'
same 'sync words; stat -c "%n %F %s %a %h" *; stat nothing'
same 'test -r closed; echo $?; test -w shut; echo $?; test -x run.sh -a -L link -a -p pipe; echo $?; test -e dangling; echo $?'
same 'realpath words folder/../d/one nothing nothing/x; basename a/b.c .c; dirname a/b; pathchk a/b'

# -- coreutils: what looks
same 'ls; ls -a; ls -A d; ls -1F; ls -R d; ls -d */'
same 'ls -l --time-style=+ words link d pipe run.sh | cut -d " " -f 1,2,5-'
same 'ls -l --time-style=+%s; ls -ltr --time-style=+%s d; ls -S; ls -X; ls --group-directories-first'
same 'ls nothing; ls -l closed --time-style=+; ls shut; ls -L dangling; ls loop/'
same 'df --output=fstype,target . | tail -1; df -P nothing 2>&1'
same 'du -b words; du -a --apparent-size d | sort; du nothing'
same 'cat words numbers; cat -n words; cat closed; cat d; cat nothing; cat -A "with blank"'
same 'head -n 2 words; head -c 3 words numbers; tail -n 2 words; tail -n +3 words; tail -c 4 words; head closed'
same 'tac words; rev words; nl words; od -c words | head -2; fold -w 2 words | head -3; fmt words; pr -t numbers'
same 'wc words numbers d; wc -l <words; cksum words; md5sum words >sums; sha256sum -c sums; md5sum -c sums'
same 'sort words; sort -u words; sort -n numbers; sort -r -k 2 -t : table; sort -o words words; sort -R words | wc -l; sort nothing'
same 'sort -S 32k -T . zeros words | tail -1; sort -c numbers; sort -m words numbers | wc -l'
same 'uniq -c words; sort words | uniq -d; cut -d : -f 2 table; paste words numbers; join table table; comm words hard | wc -l'
same 'tr a-z A-Z <words; expand words; tr -d "\n" <words | wc -c; seq 3 | paste -sd+; numfmt --to=iec 4096; factor 12; expr 6 \* 7'
same 'tee new <words; echo x | tee -a new numbers; echo x | tee shut/new; cat new'
same 'base64 words | base64 -d; date -u -d @0 +%F; printf "%s-%03d\n" a 7; echo -n x; yes | head -n 2; sleep 0; nproc >/dev/null'
same 'env -i A=b sh -c "echo \$A"; env nothing; nice -n 1 echo nice; nohup echo hup 2>/dev/null; timeout 5 echo in time; timeout 0.1 sleep 5'
same 'id -u; whoami; groups >/dev/null; uname -s; hostname >/dev/null; tty; stty; pwd; pwd -P; logname >/dev/null 2>&1; arch'
same 'chroot . /bin/true 2>/dev/null; [ $? -ne 0 ]; stdbuf -oL echo buffered'

# -- find, xargs, grep, sed, awk, tar, diff
same 'find . | sort; find . -type f -name "*o*" | sort; find . -type l -printf "%p %l\n" | sort'
same 'find . -perm 755 -type f; find . -newer words; find . -empty | sort; find shut closed -readable; find nothing'
same 'find d -type f -exec cat {} +; find d -type f -exec ls {} \; | sort; find d -name one -delete; find d | sort'
same 'find d -type f -execdir mv {} {}.moved \; ; find d | sort; find -L . -name one 2>/dev/null | sort'
same 'find . -type f -print0 | sort -z | xargs -0 ls -d; echo a b c | xargs -n 1 echo; ls | xargs -I{} -P 2 true {}; echo x | xargs false'
same 'printf "1\n2\n" | xargs -n 1 sh -c "exit 3"; printf x | xargs nothing-there'
same 'grep -n apple words; grep -r o d; grep -c a words numbers; grep x closed; grep -l two d/*; grep nothing words; grep x nothing'
same 'sed s/apple/APPLE/ words; sed -i.bak 2d words && cat words; sed -n "2,3p" numbers; sed -i s/x/y/ shut/in; sed p nothing; sed -i s/o/0/ d/*'
same 'awk -F : "{ print \$2 > \$1 \".out\" }" table && cat *.out; awk "BEGIN { print ENVIRON[\"LC_ALL\"]; system(\"echo sub\") }"; awk 1 nothing'
same 'tar cf new.tar d link folder && tar tf new.tar && mkdir x && tar xf new.tar -C x && find x | sort'
same 'tar czf new.tgz d words && tar xzf new.tgz -O d/one; tar cf all.tar closed; tar xf nothing.tar; tar cf - d | tar tf -'
same 'tar --sort=name --mtime=@0 -cf a.tar d && tar df a.tar; tar xf a.tar -C shut; tar --delete -f a.tar d/one && tar tf a.tar'
same 'tar cf m.tar run.sh && rm run.sh && tar xpf m.tar && ./run.sh x; echo $?'
same 'gzip words && gzip -dc words.gz; gzip -d words.gz; gzip closed; gzip -k numbers; zcat numbers.gz; xz -k table; xzcat table.xz'
same 'diff words numbers; diff -r d folder; diff -u words table >p.diff; patch words <p.diff; cat words; cmp words table; diff closed words'
same 'cpio -o 2>/dev/null </dev/null | wc -c >/dev/null; ls | sort | head -3; which sh nothing; getconf PAGESIZE'

# -- shells
same './run.sh a; echo $?; sh run.sh b; . ./words; ./words; ./closed; ./d; ./nothing; echo $?'
same 'echo new >new; echo more >>new; cat <new; : >words; cat nothing <nothing; echo x >shut/y; echo x >d; echo $?'
same 'cat <<END
here $((6 * 7)) $(echo sub)
END
cat <<-"END"
	as it is $x
	END'
same 'exec 3>new; echo three >&3; exec 3>&-; exec 4<words; read a <&4; read b <&4; echo $b $a; echo x >&4'
same 'set -C; echo x >words; echo x >|words; cat words; set -e; false; echo not here'
same 'echo a | cat | tr a b | cat; false | true; echo $?; ! true; echo $?; (exit 3); echo $?; { echo group; }; x=$(exit 4); echo $?'
same 'for f in *; do test -d "$f" && echo "$f"; done; case x in [a-z]) echo letter;; esac; i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $i'
same 'cd d && pwd | sed "s/.*\///"; cd sub && cd ../.. && cd nothing; cd closed; cd -; cd folder && ls; umask 077; echo x >../u; stat -c %a ../u'
same 'sleep 60 & kill $!; wait $!; echo $?; sleep 0.01 & wait; echo $?; kill -0 $$ && echo alive'
same 'trap "echo usr1" USR1; kill -USR1 $$; trap "echo bye" EXIT; trap "" TERM; kill $$; echo still; exit 9'
same 'sh -c "kill -TERM \$\$"; echo $?; sh -c "kill -9 \$\$"; echo $?; kill -TERM $$; echo not here'
same 'f() { echo "f $1"; return 2; }; f x; echo $?; set -- a "b c"; for i; do echo "$i"; done; shift; echo $#; unset x; echo ${x-unset} ${1:+set} ${#1}'
same 'bash -c '\''set -m; sleep 60 & jobs | sed "s/ *$//"; kill %1; wait %1 2>/dev/null; echo $?; sleep 0.01 & fg %1 >/dev/null 2>&1; echo $?'\'''
same 'bash -c '\''set -m; sleep 60 & kill -STOP %1; sleep 0.05; jobs | grep -c Stopped; kill -CONT %1; kill %1; wait %1 2>/dev/null; echo $?'\'''
same 'bash -c '\''cat <(echo one) <(echo two); echo x > >(cat); wait $!; diff <(sort words) <(sort -u words); read -r a <<<"here string"; echo "$a"'\'''
same 'bash -c '\''mapfile -t l <words; echo ${#l[@]}; shopt -s nullglob globstar; echo **/*e; echo no*; set -o pipefail; false | true; echo $?; coproc cat; echo co >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x'\'''
same 'bash -c '\''exec {fd}>new; echo $((fd >= 10)) >&$fd; exec {fd}>&-; cat new; : >/dev/stdout; echo err >/dev/stderr; cat </dev/fd/0; printf x >/dev/null; ulimit -n 100; ulimit -n'\'''
same 'bash -c '\''ulimit -n 6; exec 3<words 4<words 5<words; exec 6<words; echo not here'\'''
same 'cat pipe & echo through >pipe; wait; (echo a; echo b) >pipe & sort -r pipe; wait'

# -- busybox
same 'busybox cp -a d new && busybox find new | sort; busybox cp words shut/x; busybox cp nothing x'
same 'busybox mv words d/ && busybox ls d; busybox mv nothing x; busybox mv d shut/'
same 'busybox ln -s a b; busybox ln words x; busybox ln d y; busybox rm -r d; busybox rm nothing; busybox rm -rf shut'
same 'busybox mkdir -p a/b && busybox rmdir a/b; busybox mkdir words; busybox rmdir d; busybox touch new; busybox touch shut/x'
same 'busybox chmod 600 words; busybox stat -c "%a %s" words; busybox chmod 1 nothing; busybox chown 12345 words; busybox install -m 711 words i'
same 'busybox tar cf x.tar d && busybox tar tf x.tar && mkdir n && busybox tar xf x.tar -C n; busybox tar xf nothing; busybox tar czf y.tgz words && busybox zcat y.tgz | wc -c'
same 'busybox cat words closed; busybox head -n 1 words; busybox tail -n 1 words; busybox sort -u words; busybox wc words; busybox grep -c a words'
same 'busybox sed -i 1d words && busybox cat words; busybox awk "{ print NR, \$1 }" words; busybox cut -d : -f 1 table; busybox tr a b <words'
same 'busybox find . -type f -name "t*" -exec busybox cat {} +; busybox find d | busybox sort | busybox xargs -n 1 busybox echo'
same 'busybox dd if=words of=new bs=2 count=2 2>/dev/null; busybox truncate -s 1 numbers; busybox tee x <words; busybox mktemp -u XXXXXX | wc -c; busybox mkfifo q'
same 'busybox sh -c "echo x >new; cat <new | cat; ./run.sh a; echo \$?; cat <<E
here
E
for i in 1 2; do echo \$i; done; (exit 4); echo \$?; sleep 60 & kill \$!; wait \$!; echo \$?"'
same 'busybox ls; busybox ls -l words | busybox awk "{ print \$1, \$5 }"; busybox ls nothing; busybox readlink -f folder/one; busybox realpath nothing/x; busybox du -s d >/dev/null; busybox df . | wc -l'
same 'busybox md5sum words; busybox sha1sum words; busybox gzip words; busybox gunzip words.gz; busybox diff words numbers; busybox cmp words numbers; busybox od -c words | head -1; busybox nothing'
same 'busybox env -i busybox sh -c "busybox echo \$PATH | busybox wc -c"; busybox timeout 5 busybox echo ok; busybox nohup busybox true; busybox which sh; busybox seq 2'
same 'busybox unlink words; busybox shred -u numbers; busybox split -b 2000 zeros p. && ls p.*; busybox cpio -o -H newc 2>/dev/null </dev/null | wc -c; busybox patch </dev/null; busybox ash -c "ulimit -n 50; ulimit -n"'

[ "$TRIED" -ge 100 ]
result $? "at least 100 commands were compared ($TRIED)"
finish
