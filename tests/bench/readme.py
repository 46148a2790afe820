# SPDX-License-Identifier: MIT
"""Shows in the README what 'make bench' measured last; run where the README is.

Charts are copied beside this file. A table takes the place of what stands between the lines
'<!-- bench: NAME -->' and '<!-- bench end -->'.
"""
import re
import shutil
import sys

MEASURED = "build/bench"
CHARTS = ("calls", "workloads")

with open("README.md", encoding="utf-8") as file:
    readme = file.read()
for name in ("calls", "workloads", "broker", "network"):
    try:
        if name in CHARTS:
            shutil.copy(f"{MEASURED}/{name}.svg", f"tests/bench/{name}.svg")
        with open(f"{MEASURED}/{name}.md", encoding="utf-8") as file:
            table = file.read()
    except FileNotFoundError:
        sys.exit(f"nothing was measured: run 'make bench BENCH={name}' first")
    place = re.compile(f"(<!-- bench: {name} -->\n).*?(<!-- bench end -->)", re.DOTALL)
    readme = place.sub(lambda found: f"{found[1]}\n{table}\n{found[2]}", readme)
with open("README.md", "w", encoding="utf-8") as file:
    file.write(readme)
