# SPDX-License-Identifier: MIT
"""rounds.py [--reported] ROUNDS PLAN: measures commands in turns, and prints a sample a line.

A line of PLAN is GROUP, CASE, FOLDER and COMMAND, divided by tabs. The cases of a group are compared
with each other: in each round all of them run, one after the other, in an order that changes from
round to round, so that what slows the machine for a while does not fall on one of them. A sample is
GROUP, CASE, round and seconds; with --reported GROUP and value are what the command prints itself.
All cases of a group must succeed, and print the same. A last line has '#', and how many measurements
were disturbed all the same.

A round of a group is measured again when other programs used much of the machine meanwhile, whatever
it showed; SBX_BENCH_PATIENCE is how many seconds may be spent on that, 60 unless it is set.
"""
import os
import shlex
import subprocess
import sys
import time

FOREIGN = 0.08  # of all processors: more than that is a disturbance
LOOK = 2  # seconds of quiet before the next try


def read_plan(name):
    groups = {}
    for line in open(name, encoding="utf-8"):
        group, case, folder, command = line.rstrip("\n").split("\t")
        groups.setdefault(group, []).append((case, folder, shlex.split(command)))
    return groups


def output(case, folder, argv):
    """What it prints; nothing that fails is ever measured."""
    done = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        sys.exit(f"{case}: exit status {done.returncode}: {done.stderr.decode()}")
    return done.stdout, done.stderr


def check(group, cases):
    first = None
    for case in cases:
        said = output(*case)
        if first is not None and said != first:
            print(f"{group}: {case[0]} says something else than {cases[0][0]}:", file=sys.stderr)
            print((said[1] or said[0]).decode()[:500], file=sys.stderr)
        first = first or said


def seconds(argv):
    """From start to end, by the clock on the wall."""
    start = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=NO_STREAMS)
    status = os.waitpid(pid, 0)[1]
    took = time.perf_counter() - start
    if status:
        sys.exit(f"{shlex.join(argv)}: wait status {status}")
    return took


def turn(cases, number):
    """Another order each round: other neighbours, too."""
    at = number // 2 % len(cases)
    order = cases[at:] + cases[:at]
    return order[::-1] if number % 2 else order


def sample(group, number, case, reported):
    """Lines of what was measured."""
    if not reported:
        os.chdir(case[1])
        return ["\t".join((group, case[0], str(number), f"{seconds(case[2]):.6f}"))]
    lines = output(*case)[0].decode().splitlines()
    return ["\t".join((what, case[0], str(number), value)) for what, value in (line.split("\t") for line in lines)]


def others():
    """Seconds that processors were busy, but for us and those we waited for."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system = map(int, file.readline().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def is_disturbed(start, busy):
    took = time.monotonic() - start
    return others() - busy > max(0.03, FOREIGN * took * os.cpu_count())


class Rounds:
    def __init__(self, patience):
        self.patience = patience
        self.again = self.disturbed = 0

    def wait(self):
        """Until nobody else is busy, or patience is at its end."""
        disturbed = True
        while disturbed and self.patience > 0:
            start, busy = time.monotonic(), others()
            time.sleep(LOOK)
            self.patience -= LOOK
            disturbed = is_disturbed(start, busy)

    def take(self, group, number, cases, reported):
        while True:
            start, busy = time.monotonic(), others()
            lines = [line for case in turn(cases, number) for line in sample(group, number, case, reported)]
            if not is_disturbed(start, busy):
                return lines
            if self.patience <= 0:
                self.disturbed += 1
                return lines
            self.again += 1
            self.patience -= time.monotonic() - start
            self.wait()


NO_STREAMS = [
    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
]


def main():
    *options, rounds, plan = sys.argv[1:]
    reported = options == ["--reported"]
    groups = read_plan(plan)
    for group, cases in groups.items() if not reported else ():
        check(group, cases)
    measured = Rounds(float(os.environ.get("SBX_BENCH_PATIENCE", "60")))
    for number in range(int(rounds)):
        for group, cases in groups.items():
            print("\n".join(measured.take(group, number, cases, reported)))
    print("#", measured.disturbed, sep="\t")
    if measured.again or measured.disturbed:
        print(f"others were busy: {measured.again} measurements made again, {measured.disturbed} kept",
              file=sys.stderr)


main()
