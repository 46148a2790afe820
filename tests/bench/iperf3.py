# SPDX-License-Identifier: MIT
"""iperf3.py ADDRESS COMMAND...: what a megabyte costs iperf3, in nanoseconds.

COMMAND is an iperf3 client with --json, in whatever sandbox. Its server is started here for each, and
waited for: it counts as ours, then, and not as others who disturb.
"""
import json
import subprocess
import sys

address, *command = sys.argv[1:]
server = subprocess.Popen(["iperf3", "-s", "-1", "-B", address, "--forceflush"], stdout=subprocess.PIPE)
try:
    while b"listening" not in server.stdout.readline():
        if server.poll() is not None:
            sys.exit("iperf3: no server")
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        sys.exit((done.stderr + done.stdout).decode())
    speed = json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"]
    print("a megabyte by iperf3", f"{8e9 * (1 << 20) / speed:.2f}", sep="\t")
    server.communicate()
finally:
    server.kill()
    server.wait()
