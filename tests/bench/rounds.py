# SPDX-License-Identifier: MIT
"""rounds.py [--reported] ROUNDS PLAN: measures commands in turns, and prints a sample a line.

A line of PLAN is GROUP, CASE, FOLDER and COMMAND, divided by tabs. The cases of a group are compared
with each other: in each round all of them run, one after the other, in an order that changes from
round to round, so that what slows the machine for a while does not fall on one of them. A sample is
GROUP, CASE, round and seconds; with --reported GROUP and value are what the command prints itself.
All cases of a group must succeed, and print the same.
"""
import os
import shlex
import subprocess
import sys
import time


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
    if reported:
        for line in output(*case)[0].decode().splitlines():
            what, value = line.split("\t")
            print(what, case[0], number, value, sep="\t")
    else:
        os.chdir(case[1])
        print(group, case[0], number, f"{seconds(case[2]):.6f}", sep="\t")


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
    for number in range(int(rounds)):
        for group, cases in groups.items():
            for case in turn(cases, number):
                sample(group, number, case, reported)


main()
