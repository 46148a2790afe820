# SPDX-License-Identifier: MIT
"""Horizontal bars with whiskers, as an SVG that is readable on light and on dark ground."""
from html import escape

LABELS = 190  # pixels for the names of bars
WIDTH = 730  # of all panels in a row
GAP = 70  # behind each, for the number of its longest bar
ROW = 20
NUMBER = 45  # a mark this close behind a bar would stand in its number
TITLE = 34  # above the rows of a panel

STYLE = """
svg { font: 12px system-ui, "DejaVu Sans", sans-serif }
.ground { fill: #ffffff } text { fill: #1f2328 } .small { fill: #59636e; font-size: 11px }
.head { font-size: 15px; font-weight: 600 } .title { font-weight: 600 }
.axis { stroke: #d1d9e0 } .whisker { stroke: #1f2328; stroke-width: 1.2 }
.aim { stroke: #d1242f; stroke-width: 2 } .other { fill: #9aa4af } .own { fill: #2f81f7 }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117 } text { fill: #f0f6fc } .small { fill: #9198a1 }
.axis { stroke: #3d444d } .whisker { stroke: #f0f6fc }
.aim { stroke: #ff7b72 } .other { fill: #656c76 } .own { fill: #4493f8 }
}
"""


class Panel:
    def __init__(self, title, most, unit):
        self.title, self.most, self.unit = title, most, unit
        self.bars = []

    def bar(self, label, value, whiskers, text, kind, aim=None):
        """'aim' is a value to be marked, which the bar should not pass."""
        self.bars.append((label, value, whiskers, text, kind, aim))

    def least(self):
        return min([0] + [whiskers[0] for _, _, whiskers, _, _, _ in self.bars])

    def height(self):
        return TITLE + ROW * len(self.bars) + 24


class Chart:
    """Panels of a row have the same bars, named once, at the left."""

    def __init__(self, title, note, in_row=1):
        self.title, self.note, self.in_row = title, note, in_row
        self.width = WIDTH / in_row - GAP
        self.panels = []
        self.parts = []

    def panel(self, title, most, unit=""):
        self.panels.append(Panel(title, most, unit))
        return self.panels[-1]

    def text(self, x, y, text, kind="", anchor="start"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
                          f"{escape(text)}</text>")

    def line(self, x1, y1, x2, y2, kind):
        self.parts.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" class="{kind}"/>')

    def draw_axis(self, panel, place, top):
        bottom = top + TITLE + ROW * len(panel.bars)
        steps = (digit * 10**power for power in range(7) for digit in (1, 2, 5))
        step = next(step for step in steps if (panel.most - panel.least()) / step <= 6)
        for mark in range(int(panel.least() / step), int(panel.most / step) + 1):
            x = place(mark * step)
            self.line(x, top + TITLE - 4, x, bottom, "axis")
            self.text(x, bottom + 14, f"{mark * step:,.0f}{panel.unit}", "small", "middle")

    def draw_bar(self, place, y, bar):
        _, value, (low, high), text, kind, aim = bar
        start, end = sorted((place(0), place(value)))
        middle = y + ROW / 2
        self.parts.append(f'<rect x="{start:.1f}" y="{y + 3}" width="{end - start:.1f}" '
                          f'height="{ROW - 6}" class="{kind}"/>')
        if place(value) == place(value, False):
            self.line(place(low), middle, place(high), middle, "whisker")
            for x in (place(low), place(high)):
                self.line(x, middle - 4, x, middle + 4, "whisker")
        if aim is not None:
            self.line(place(aim), y + 1, place(aim), y + ROW - 1, "aim")
        edge = max(place(0), place(value), place(high))
        if aim is not None and -10 < place(aim) - edge < NUMBER:
            edge = max(edge, place(aim))
        cut = "" if place(value) == place(value, False) else "» "
        self.text(edge + 6, middle + 4, cut + text)

    def draw_panel(self, panel, left, top, named):
        least = panel.least()

        def place(value, cut=True):
            """A bar that is too long is cut off, and says so."""
            value = min(value, panel.most) if cut else value
            return left + (value - least) / (panel.most - least) * self.width

        self.text(place(0), top + 20, panel.title, "title")
        self.draw_axis(panel, place, top)
        for number, bar in enumerate(panel.bars):
            y = top + TITLE + ROW * number
            self.draw_bar(place, y, bar)
            if named:
                self.text(LABELS - 10, y + ROW / 2 + 4, bar[0], "", "end")

    def write(self, name):
        top = 34
        for first in range(0, len(self.panels), self.in_row):
            for at, panel in enumerate(self.panels[first:first + self.in_row]):
                self.draw_panel(panel, LABELS + at * WIDTH / self.in_row, top, at == 0)
            top += self.panels[first].height()
        width = LABELS + WIDTH
        self.text(12, 22, self.title, "head")
        self.text(12, top + 12, self.note, "small")
        height = top + 26
        with open(name, "w", encoding="utf-8") as file:
            file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                       f'width="{width}" height="{height}" role="img">\n'
                       f"<title>{escape(self.title)}</title>\n<style>{STYLE}</style>\n"
                       f'<rect class="ground" width="{width}" height="{height}"/>\n')
            file.write("\n".join(self.parts) + "\n</svg>\n")
