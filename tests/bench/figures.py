# SPDX-License-Identifier: MIT
"""figures.py calls|workloads|broker|network SAMPLES FOLDER: what rounds.py measured, and the bars it is held to.

Prints tables, and writes them to FOLDER/NAME.md and a chart to FOLDER/NAME.svg. Single calls are
compared by their fastest rounds, because disturbances only ever add; workloads by the median over
pairs of the same round, because what they do differs from run to run. Beside it stands the interval
that holds the true median in 95 of 100 cases, by resampling. A bar that is missed is said, and is no
error.
"""
import os
import platform
import random
import sys
from statistics import median

from chart import Chart

PANELS = ("open+close", "open+close, relative", "open, missing", "open+close, writing", "stat", "read", "write")
BROKERED = "open+close, writing"  # default protections have the supervisor open it
LABELS = {
    "bare": "bare",
    "filter": "filter that allows all",
    "Landlock": "Landlock alone",
    "bwrap": "bwrap",
    "strace": "strace -e trace=none",
    "sbx": "sbx, vouched",
    "sbx, asking": "sbx, static program",
}
NETWORK_BARS = {"a megabyte sent": 1.05, "a megabyte by iperf3": 1.05}
BROKER_BARS = {"unpacking 2,000 files": 2.0}
WORKLOAD_BARS = (("bare", 1.10), ("bwrap", 1.05))


def read_samples(name):
    """By what was measured, then by case: the samples, round by round; and how many were disturbed."""
    samples = {}
    disturbed = 0
    for line in open(name, encoding="utf-8"):
        what, *rest = line.rstrip("\n").split("\t")
        if what == "#":
            disturbed = int(rest[0])
        else:
            samples.setdefault(what, {}).setdefault(rest[0], []).append(float(rest[2]))
    return samples, disturbed


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def interval(values):
    """Of the median, by the bootstrap; always the same for the same samples."""
    dice = random.Random(1)
    medians = [median(dice.choices(values, k=len(values))) for _ in range(2000)]
    return quantile(medians, 0.025), quantile(medians, 0.975)


def verdict(value, others, most):
    """Not sure: another way to see it says otherwise."""
    sure = all((other <= most) == (value <= most) for other in others)
    return ("met" if value <= most else "missed") + ("" if sure else ", not sure")


def number(value):
    return f"{value:,.1f}" if abs(value) < 200 else f"{value:,.0f}"


def print_table(head, rows):
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        cells = [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
    print()


def markdown(head, rows):
    rule = ["---"] + ["---:"] * (len(head) - 1)
    lines = ["| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in [head, rule, *rows]]
    return "\n".join(lines) + "\n"


def machine(rounds, disturbed):
    model = "processors"
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            model = line.split(":")[1].strip()
            break
    release = ".".join(platform.release().split("-")[0].split(".")[:2])
    others = f", {disturbed} measurements disturbed by others" if disturbed else ""
    return f"Linux {release}, {os.cpu_count()} × {model}, {rounds} rounds{others}"


def call_bars(samples):
    """What, how it is written, pairs, the same of the minima, at most."""
    for what in PANELS:
        of = samples[what]
        if "sbx" not in of or "bare" not in of:
            continue
        if what.startswith("open"):
            wanted = [("sbx", "bare", 1.5), ("sbx, asking", "bare", 9)]
            if what == BROKERED:
                wanted = [("sbx", "bare", 15), ("sbx, asking", "bare", 15)]
        else:
            gaps = [a - b for a, b in zip(of["sbx"], of["bare"])]
            alone = f" (the filter: {min(of['filter']) - min(of['bare']):.1f})" if "filter" in of else ""
            yield f"{what}: ns over bare{alone}", 1, gaps, min(of["sbx"]) - min(of["bare"]), 25
            wanted = [("sbx", "filter", 1.03)]
        for case, base, most in wanted:
            if case in of and base in of:
                ratios = [a / b for a, b in zip(of[case], of[base])]
                name = f"{what}: {LABELS[case] + ', ' if base == 'bare' else ''}times {LABELS[base]}"
                yield name, 3, ratios, min(of[case]) / min(of[base]), most


def call_rows(samples):
    cases = [case for case in LABELS if case in samples[PANELS[0]]]
    for case in cases:
        cells = []
        for what in PANELS:
            values = samples[what][case]
            low, middle, high = (number(quantile(values, q)) for q in (0.25, 0.5, 0.75))
            cells.append(f"{number(min(values))} / {middle} ({low}–{high})")
        yield [LABELS[case], *cells]


def bar_rows(bars):
    for name, digits, pairs, minima, most in bars:
        middle, (low, high) = median(pairs), interval(pairs)
        yield [name, f"{minima:.{digits}f}", f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})",
               f"{most:g}", verdict(minima, [middle], most)]


def call_chart(samples, note, name):
    cases = [case for case in LABELS if case in samples[PANELS[0]]]
    note += "; the fastest, whiskers to the quartiles, what is aimed at in red"
    chart = Chart("Nanoseconds per call", note, 2)
    for what in PANELS:
        of = samples[what]
        bare = min(of["bare"])
        aims = {"sbx": bare + 25}
        if what.startswith("open"):
            aims = {"sbx": 1.5 * bare, "sbx, asking": 9 * bare}
            if what == BROKERED:
                aims = {"sbx": 15 * bare, "sbx, asking": 15 * bare}
        most = max([quantile(of[c], 0.75) for c in cases if c != "strace"] + list(aims.values())) * 1.25
        panel = chart.panel(what, most)
        for case in cases:
            values = of[case]
            whiskers = quantile(values, 0.25), quantile(values, 0.75)
            panel.bar(LABELS[case], min(values), whiskers, number(min(values)),
                      "own" if case.startswith("sbx") else "other", aims.get(case))
    chart.write(name)


def calls(samples, disturbed, folder):
    note = machine(len(samples[PANELS[0]]["bare"]), disturbed)
    head = ["ns: least / median (quartiles)", *PANELS]
    rows = list(call_rows(samples))
    bar_head = ["bar", "fastest", "median of pairs (95 %)", "at most", ""]
    bars = list(bar_rows(call_bars(samples)))
    print_table(head, rows)
    print_table(bar_head, bars)
    with open(f"{folder}/calls.md", "w", encoding="utf-8") as file:
        file.write("\n".join([markdown(head, rows), markdown(bar_head, bars), note + ".\n"]))
    call_chart(samples, note, f"{folder}/calls.svg")


def compare(of, base, most):
    if base not in of or "sbx" not in of:
        return ""
    ratios = [a / b for a, b in zip(of["sbx"], of[base])]
    value, (low, high) = median(ratios), interval(ratios)
    return f"{value:.3f} ({low:.3f}–{high:.3f}) {verdict(value, (low, high), most)}"


def compare_inside(of, base, launch):
    """As if it had been started before: how much of a difference is the launch."""
    if base not in of or "sbx" not in of or base not in launch or "sbx" not in launch:
        return ""
    ours, theirs = median(launch["sbx"]), median(launch[base])
    return f"{median((a - ours) / (b - theirs) for a, b in zip(of['sbx'], of[base])):.3f}"


def workload_chart(samples, note, name):
    bars = []
    for what, of in samples.items():
        for case in ("bwrap", "sbx"):
            if case in of:
                over = [(a / b - 1) * 100 for a, b in zip(of[case], of["bare"])]
                bars.append((what, case, median(over), interval(over)))
    most = min(60, max([12] + [high * 1.1 for _, _, _, (_, high) in bars]))
    note += "; medians and 95 % intervals, what is aimed at in red"
    chart = Chart("Start to end, percent over bare", note)
    panel = chart.panel("", most, " %")
    for what, case, value, whiskers in bars:
        own = case == "sbx"
        panel.bar(f"{what}: {case}", value, whiskers, f"{value:+.1f} %",
                  "own" if own else "other", 10 if own else None)
    chart.write(name)


def milliseconds(of):
    return [f"{median(of[case]) * 1000:.1f}" if case in of else "" for case in ("bare", "bwrap", "sbx")]


def workloads(samples, disturbed, folder):
    note = machine(len(next(iter(samples.values()))["bare"]), disturbed)
    head = ["ms, median", "bare", "bwrap", "sbx"]
    head += [f"times {base} (95 %), at most {most:.2f}" for base, most in WORKLOAD_BARS]
    head += [f"less launch, times {base}" for base, _ in WORKLOAD_BARS]
    launch = samples.pop("launch", {})
    rows = []
    for what, of in samples.items():
        rows.append([what, *milliseconds(of)]
                    + [compare(of, base, most) for base, most in WORKLOAD_BARS]
                    + [compare_inside(of, base, launch) for base, _ in WORKLOAD_BARS])
    rows.append(["launch of true", *milliseconds(launch)] + [""] * (len(head) - 4))
    print_table(head, rows)
    with open(f"{folder}/workloads.md", "w", encoding="utf-8") as file:
        file.write(markdown(head, rows) + "\n" + note + ".\n")
    workload_chart(samples, note, f"{folder}/workloads.svg")


def times(values, base, most):
    """The median over pairs, held to a bar if there is one."""
    ratios = [a / b for a, b in zip(values, base)]
    if not ratios:
        return ""
    value, (low, high) = median(ratios), interval(ratios)
    if most is None:
        return f"{value:.2f} ({low:.2f}–{high:.2f})"
    return f"{value:.3f} ({low:.3f}–{high:.3f}), {most:.2f}: {verdict(value, (low, high), most)}"


def network(samples, disturbed, folder):
    note = machine(len(samples["connect+close"]["bare"]), disturbed)
    cases = [case for case in ("bare", "by address", "by name", "by proxy") if case in samples["connect+close"]]
    head = ["µs, median", *cases] + [f"{case}, times bare (95 %), at most" for case in cases[1:]]
    rows = []
    for what, of in samples.items():
        row = [what] + [f"{median(of[case]) / 1000:.1f}" if case in of else "" for case in cases]
        for case in cases[1:]:
            most = None if case == "by proxy" else NETWORK_BARS.get(what)
            row.append(times(of.get(case, []), of["bare"], most))
        rows.append(row)
    print_table(head, rows)
    with open(f"{folder}/network.md", "w", encoding="utf-8") as file:
        file.write(markdown(head, rows) + "\n" + note + ".\n")


def broker(samples, disturbed, folder):
    note = machine(len(next(iter(samples.values()))["bare"]), disturbed)
    cases = ("protected", "denied")
    head = ["ms, median", "bare"]
    for case in cases:
        head += [case, "times bare (95 %), at most"]
    rows = []
    for what, of in samples.items():
        row = [what, f"{median(of['bare']) * 1000:.1f}"]
        for case in cases:
            if case not in of:
                row += ["", ""]
                continue
            row += [f"{median(of[case]) * 1000:.1f}", times(of[case], of["bare"], BROKER_BARS.get(what, 1.25))]
        rows.append(row)
    print_table(head, rows)
    with open(f"{folder}/broker.md", "w", encoding="utf-8") as file:
        file.write(markdown(head, rows) + "\n" + note + ".\n")


def main():
    name, samples, folder = sys.argv[1:]
    {"calls": calls, "workloads": workloads, "broker": broker, "network": network}[name](*read_samples(samples), folder)


main()
