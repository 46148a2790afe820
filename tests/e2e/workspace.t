#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Real programs in a workspace that has holes: a denied name, default protections, and the policy's own
# file. What they do is what they do bare: the same output, exit status and files, and sbx says nothing
# but what the policy refuses.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

ws=$DIR/work/ws

# Files with what is in them; what no two runs have in common is left out.
tree()
{
	(
		cd "$ws" || exit
		find . -printf '%p %y %m %l\n' | sort
		find . -type f ! -name index ! -name '*.pyc' ! -name '*.pack' ! -name '*.idx' \
			! -name '*.rev' ! -name 'multi-pack-index' ! -name '*.zip' -print0 | sort -z |
			xargs -0r sha256sum
	) | sed -E 's/pack-[0-9a-f]{40}/pack-N/'
}

fresh()
{
	rm -rf "$ws" "${HOME:?}"
	mkdir -p "$ws" "$HOME"
	printf 'SECRET=1\n' >"$ws/.env"
	printf 'a=1\n' >"$ws/.npmrc"
	cp "$DIR/script" "$ws/script"
	printf '[sandbox]\ninclude = bash, build, git, npm, python\nworkspace = .\n%s' "$1" >"$ws/policy.ini"
}

# With a script from standard input, and a policy of which these are more lines.
alike() # NAME LINES
{
	local bare

	cat >"$DIR/script"
	fresh "$2"
	(cd "$ws" && TMPDIR=$DIR bash ./script >"$DIR/bare.out" 2>"$DIR/bare.err" </dev/null)
	bare=$?
	tree >"$DIR/bare.tree"
	fresh "$2"
	(cd "$ws" && "$LAUNCH" -p policy.ini --home private -- bash ./script >"$DIR/out" 2>"$DIR/err" </dev/null)
	STATUS=$?
	tree >"$DIR/tree"
	[ "$bare" -eq 0 ]
	result $? "$1: works bare"
	[ "$STATUS" -eq "$bare" ] && cmp -s "$DIR/bare.out" "$DIR/out"
	result $? "$1: same output and exit status"
	diff "$DIR/bare.out" "$DIR/out" | head -5 | sed 's/^/# /'
	cmp -s "$DIR/bare.tree" "$DIR/tree"
	result $? "$1: same files"
	diff "$DIR/bare.tree" "$DIR/tree" | head -5 | sed 's/^/# /'
	hasnt err 'sbx: ' "$1: nothing is refused"
}

# (Where reading is the broker's, libc's own reads are explained, too.)
deny=$'[paths]\ndeny = **/.env\nread = /etc/passwd, /etc/group\n'

git_script='set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export GIT_AUTHOR_DATE="2020-01-01T00:00:00Z" GIT_COMMITTER_DATE="2020-01-01T00:00:00Z"
git init -q -b main repo
cd repo
git config core.pager cat
for i in 1 2 3; do echo $i >f$i; git add f$i; git commit -qm c$i; done
git status --short
git branch side HEAD~1
git checkout -q side
echo side >s; git add s; git commit -qm side
git rebase -q main
git log --oneline
echo changed >f1; git stash -q; git status --short; git stash pop -q; git status --short
git checkout -q -- f1
git mv f2 g2; git commit -qm moved; git rm -q f3; git commit -qm removed
cd ..
git clone -q repo copy
git -C copy log --oneline
git -C copy config user.name x
git clone -q --bare repo bare.git
git -C copy tag t1
git -C copy push -q ../bare.git HEAD:refs/heads/new
git -C repo gc -q
git -C repo fsck
git worktree list 2>&1 | head -1 | cut -c1-5
mv copy moved; git -C moved status --short
rm -rf repo'
alike 'git with protections' '' <<<"$git_script"
alike 'git with a denied name' "$deny" <<<"$git_script"

npm_script='set -e
export npm_config_offline=true npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
mkdir -p local-package app
cd local-package
npm init -y >/dev/null
echo "module.exports = 42" >index.js
mkdir bin; printf "#!/usr/bin/env node\nconsole.log(require(\"..\"))\n" >bin/answer.js; chmod +x bin/answer.js
node -e "const p=require(\"./package.json\"); p.bin={answer:\"bin/answer.js\"}; fs.writeFileSync(\"package.json\", JSON.stringify(p))"
cd ../app
npm init -y >/dev/null
npm install --silent ../local-package
node -p "require(\"local-package\")"
npm pkg set scripts.hello="answer" scripts.pre="echo pre"
npm run --silent hello
rm -rf node_modules; npm ci --silent
npm ls --parseable | sed "s,.*/ws/,,"
npm run --silent pre'
alike 'npm with protections' '' <<<"$npm_script"

node_script='set -e
cat >t.js <<"J"
const fs = require("fs"), path = require("path");
fs.writeFileSync("a", "1"); fs.appendFileSync("a", "2"); fs.renameSync("a", "b");
console.log(fs.readFileSync("b", "utf8"), fs.existsSync("a"));
const d = fs.mkdtempSync("tmp-"); fs.writeFileSync(path.join(d, "x"), "x");
fs.mkdirSync(d + "/p/q/r", { recursive: true }); fs.rmSync(d, { recursive: true });
fs.mkdirSync("w"); fs.copyFileSync("b", "w/c"); fs.linkSync("b", "w/l"); fs.symlinkSync("c", "w/s");
fs.truncateSync("w/c", 1); fs.cpSync("w", "w2", { recursive: true });
console.log(fs.readdirSync("w2").join(), fs.statSync("b").nlink);
const watcher = fs.watch("w", () => { watcher.close(); console.log("watched"); });
setTimeout(() => fs.promises.writeFile("w/new", "new"), 50);
const s = fs.createWriteStream("stream"); s.end("s".repeat(100000));
try { fs.openSync("b", "wx"); } catch (e) { console.log(e.code); }
try { fs.rmdirSync("w"); } catch (e) { console.log(e.code); }
try { fs.renameSync("none", "x"); } catch (e) { console.log(e.code); }
J
node t.js'
alike 'node with protections' '' <<<"$node_script"
alike 'node with a denied name' "$deny" <<<"$node_script"

python_script='set -e
cat >t.py <<"P"
import os, pathlib, shutil, sqlite3, tempfile, zipfile, socket, fcntl, mmap
p = pathlib.Path("tree"); (p / "a" / "b").mkdir(parents=True); (p / "a" / "f").write_text("f")
(p / "l").symlink_to("a/f"); os.link(p / "a" / "f", p / "h"); shutil.copytree(p, "copy", symlinks=True)
shutil.move("copy", "moved"); print(sorted(str(x) for x in pathlib.Path("moved").rglob("*")))
with tempfile.NamedTemporaryFile(dir=".") as t: t.write(b"x")
with tempfile.TemporaryDirectory(dir=".") as t: (pathlib.Path(t) / "x").touch()
with tempfile.TemporaryFile(dir=".") as t: t.write(b"x"); t.seek(0); print(t.read())
c = sqlite3.connect("db"); print(c.execute("pragma journal_mode=wal").fetchone())
c.execute("create table t (x)"); c.executemany("insert into t values (?)", [(i,) for i in range(100)]); c.commit()
d = sqlite3.connect("db"); print(d.execute("select sum(x) from t").fetchone()); d.close(); c.close()
with zipfile.ZipFile("z.zip", "w") as z: z.writestr("in/x", "x")
with zipfile.ZipFile("z.zip") as z: z.extractall("unzipped")
s = socket.socket(socket.AF_UNIX); s.bind("sock"); s.listen()
k = socket.socket(socket.AF_UNIX)
os.unlink("sock")
f = open("locked", "w+"); fcntl.flock(f, fcntl.LOCK_EX); f.write("x" * 4096); f.flush()
m = mmap.mmap(f.fileno(), 4096); m[0:1] = b"y"; m.close(); print(open("locked").read(2))
fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o640); os.write(fd, b"t")
print(oct(os.fstat(fd).st_mode))
for call in (lambda: os.mkdir("moved"), lambda: os.rmdir("moved"), lambda: open("moved", "w"), lambda: open("no/x", "w"),
	lambda: os.rename("moved", "moved/a/x"), lambda: os.mkdir("locked/x"), lambda: os.unlink("moved"), lambda: os.truncate("moved", 0)):
	try: call(); print("worked")
	except OSError as e: print(type(e).__name__, e.errno)
shutil.rmtree("moved")
P
/usr/bin/python3 t.py
/usr/bin/python3 -m venv --without-pip --copies v >/dev/null; ls v; rm -rf v'
alike 'python with protections' '' <<<"$python_script"
alike 'python with a denied name' "$deny" <<<"$python_script"

build_script='set -e
for i in 1 2 3 4 5 6; do echo "int f$i(void) { return $i; }" >f$i.c; done
printf "int f1(void), f6(void);\n#include <stdio.h>\nint main(void) { printf(\"%%d\\\\n\", f1() + f6()); }\n" >main.c
printf "OBJ = f1.o f2.o f3.o f4.o f5.o f6.o main.o\nprog: \$(OBJ)\n\tgcc -o \$@ \$(OBJ)\nlib.a: \$(OBJ)\n\tar Drc \$@ \$(OBJ)\n" >Makefile
make -s -j2 prog lib.a
ls
'
alike 'make with protections' '' <<<"$build_script./prog"
alike 'make with a denied name' "$deny" <<<"$build_script"

archive_script='set -e
mkdir -p d/e; for i in $(seq 50); do echo $i >d/e/$i; done; chmod 640 d/e/1; chmod 755 d/e/2; ln -s 1 d/e/l; ln d/e/3 d/e/h
tar czf d.tgz --mtime=@0 d; mkdir out; tar xzf d.tgz -C out; diff -r d out/d; rm d.tgz
zip -qr d.zip d; mkdir out2; unzip -q d.zip -d out2; ls out2/d/e | wc -l
cp -a d d2; mv d2 d3; rm -rf d; find . -name 7 | sort; sed -i s/7/seven/ d3/e/7; cat d3/e/7; install -m 600 d3/e/7 inst; mktemp -p . tmp.XXXX | wc -c; rm -f ./tmp.????
'
alike 'archives with protections' '' <<<"$archive_script"
alike 'archives with a denied name' "$deny" <<<"$archive_script"

# -- what is refused is refused to programs, too
fresh "$deny"
git init -q -b main "$ws/old"
git init -q -b main "$ws/other"
before=$(cd "$ws/old/.git" && find config hooks -type f -exec sha256sum {} + | sort)
inside() { run "$LAUNCH" -p "$ws/policy.ini" --workdir "$ws" --home private -- "$@"; }
inside git -C old config user.name evil
has err "default protection of '.git/config'" 'git config is refused, in words'
inside bash -c 'echo evil >old/.git/hooks/post-commit; git -C old remote add x y; rm -rf old/.git; mv old older; mv old/.git old/g; ln old/.git/config c; echo evil >>c; cp /bin/true old/.git/hooks/pre-commit; git init -q old --template=/tmp; git -C old config --local core.fsmonitor evil'
[ "$before" = "$(cd "$ws/old/.git" && find config hooks -type f -exec sha256sum {} + | sort)" ]
result $? 'settings and hooks of a repository that was there stay as they are'
[ ! -e "$ws/older" ]
result $? 'and it stays where it is'
inside cat .env
has err "denied by a rule" 'a denied name is refused, in words'
inside bash -c 'cat sub/../.env; ln .env e; cat e; cp .env f; mv .env g; tar cf - .env; python3 -c "print(open(\".env\").read())"; node -p "fs.readFileSync(\".env\", \"utf8\")"'
hasnt out SECRET 'whoever tries'
inside bash -c 'echo "[paths]" >>policy.ini; rm policy.ini; mv script policy.ini; sed -i s/deny/read/ policy.ini'
grep -q '^deny = \*\*/.env' "$ws/policy.ini"
result $? 'the policy stays as it is'
inside npm config set --location=project x=y
[ "$(cat "$ws/.npmrc")" = a=1 ]
result $? 'npm does not change .npmrc'
inside git clone -q other new
exits 0 'git clone works'
inside git -C new config user.name mine
has err "default protection of '.git/config'" 'a repository of another run is an old one'

finish
