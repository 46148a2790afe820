#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A second procfs in a tree that may be read and written, as folders for chroot have one, and parts of
# /proc at other places. The supervisor may read and write itself, and others that the program may not;
# so it opens nothing there, in whatever way it is asked. What the program itself may have, it has.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

if is_root; then
	within=(unshare --mount)
else
	within=(unshare --user --map-current-user --keep-caps --mount)
fi
mkdir -p ws/proc ws/secret
file ws/file 'mine\n'
file ws/environ 'nothing\n'
if ! "${within[@]}" mount -t proc proc ws/proc 2>/dev/null; then
	# In a user namespace a procfs needs a PID namespace of its own: parts of this one do as well.
	"${within[@]}" mount --bind /proc ws/proc 2>/dev/null || "${within[@]}" mount --rbind /proc ws/proc 2>/dev/null || {
		echo '1..0 # SKIP nothing can be mounted'
		exit
	}
	mounts='mount --rbind /proc ws/proc'
else
	mounts='mount -t proc proc ws/proc'
fi
cat >reads.py <<'END_OF_PYTHON'
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def openat2(path, flags, how=0, dir=-100):
    data = (ctypes.c_uint64 * 3)(flags, 0, how)
    return libc.syscall(437, dir, path.encode(), data, 24)
def plain(path, flags, how=0, dir=-100):
    return libc.syscall(257, dir, path.encode(), flags, 0)
def asks(path, flags, how=0, dir=-100):
    try: return os.open(path, flags, dir_fd=dir if dir != -100 else None)
    except OSError as e: ctypes.set_errno(e.errno); return -1
def named(path, flags, how=0, dir=-100):
    fd = os.open(path, os.O_PATH) if dir == -100 else dir
    if dir != -100: return openat2(path, flags, how, dir)
    return openat2("/proc/self/fd/%d" % fd, flags)
got = []
def look(who, file, flags, call):
    for path in ("proc/%s/%s" % (who, file), os.path.abspath("proc/%s/%s" % (who, file)),
                 "link/%s/%s" % (who, file), "/proc/%s/%s" % (who, file)):
        try: fd = call(path, flags)
        except OSError: continue
        if fd >= 0:
            try: data = os.read(fd, 4096) if file != "mem" else b"opened"
            except OSError: data = b"opened"
            if data: got.append("%s by %s: %r" % (path, call.__name__, data[:40]))
            os.close(fd)
    try: folder = os.open("proc/%s" % who, os.O_PATH)
    except OSError: return
    for how in 0, 8, 16:
        fd = call(file, flags, how, folder)
        if fd >= 0: got.append("%s in a folder by %s" % (file, call.__name__))
for who in [str(os.getppid()), sys.argv[1], "self/task/../../%d" % os.getppid()]:
    for call in openat2, plain, asks, named:
        for file in "environ", "maps", "auxv":
            look(who, file, os.O_RDONLY, call)
        for flags in os.O_RDONLY, os.O_RDWR, os.O_WRONLY:
            look(who, "mem", flags, call)
    # Where something is hidden, a mere name becomes something to read with.
    for path in "proc/%s/environ" % who, "/proc/%s/environ" % who, "proc/%s/maps" % who, "/proc/%s/maps" % who:
        try: got.append("%s by its name: %r" % (path, os.read(os.open(path, os.O_PATH), 40)))
        except OSError: pass
for path in "environ", "proc/self/environ", "proc/self/mem":
    fd = openat2(path, os.O_RDONLY)
    text = b"" if fd < 0 or path.endswith("mem") else os.read(fd, 100000)
    if b"SUPERVISORS" in text or (fd >= 0 and path.endswith("mem")): got.append(path)
# Without Landlock the kernel itself tells that.
for link in "exe", "cwd", "fd/0", "root":
    try: os.readlink("/proc/%d/%s" % (os.getppid(), link)); continue
    except OSError as e: pass
    try: got.append("link " + os.readlink("proc/%d/%s" % (os.getppid(), link)))
    except OSError as e: pass
try: got.append("maps %s" % os.listdir("proc/%d/map_files" % os.getppid())[:2])
except OSError: pass
for change in (lambda p: os.truncate(p, 0), lambda p: os.chmod(p, 0o777), lambda p: os.utime(p),
               lambda p: os.chown(p, -1, -1), lambda p: open(p, "wb", 0).write(b"1000")):
    try: change("proc/%d/oom_score_adj" % os.getppid()); got.append("changed")
    except OSError: pass
for line in got: print(line)
fd = openat2("file", os.O_RDWR)
print(os.read(fd, 100).decode().strip() if fd >= 0 else "nothing", end=" ")
fd = openat2("/proc/self/status", os.O_RDONLY)
print(os.read(fd, 5).decode() if fd >= 0 else errno.errorcode[ctypes.get_errno()])
END_OF_PYTHON
ln -s proc ws/link

file policy.ini '[sandbox]
include = python, bash
workspace = ./ws
'
cp policy.ini hides.ini
printf '[paths]\nhide = ./ws/secret\n' >>hides.ini
cp policy.ini denies.ini
printf '[paths]\ndeny = ./ws/secret\n' >>denies.ini
sleep 300 &
other=$!
# What is tried in the sandbox, where the tree has another /proc in it.
beneath() # OPTION... -- COMMAND...
{
	run env SECRET=SUPERVISORS "${within[@]}" bash -c "$1"' || exit 99; shift; "$@"' - - "$LAUNCH" -q --trust "${@:2}"
}
for policy in policy hides denies; do
	for options in '' --isolate=none --enforce=seccomp --no-shim '--enforce=seccomp --no-shim'; do
		# shellcheck disable=SC2086 # options
		beneath "$mounts" -p $policy.ini --workdir=ws $options -- "$PYTHON" -c "$(cat reads.py)" "$other"
		says out 'mine Name:' "$policy.ini ${options:-with the shim}: another procfs is no way to other processes"
	done
	beneath "mount --bind /proc/self/environ ws/environ && $mounts" -p $policy.ini --workdir=ws -- "$PYTHON" -c "$(cat reads.py)" "$other"
	says out 'mine Name:' "$policy.ini: nor is a part of /proc at another place"
done

# What needs nobody else's rights is there.
beneath "$mounts" -p policy.ini --workdir=ws -- cat proc/version
has out Linux 'the program itself reads there what it may'
beneath "$mounts" -p policy.ini --enforce=seccomp --workdir=ws -- bash -c 'cat /proc/version file; echo $$ >/dev/null; read pid rest </proc/self/stat && echo here'
has out Linux 'without Landlock, what is in /proc itself is read'
has out here 'and what the program reads of itself'
kill "$other"
finish
