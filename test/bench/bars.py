"""Pictures of horizontal bars, how many times as fast or as small something is: a panel, and an axis, a unit.  By
gnuplot: plot/bars.gp."""

import os
import subprocess

BARS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plot/bars.gp")
WIDTH = 900
TITLE = 26
HEAD = 66  # pixels above the bars of a panel: its heading, and the numbers of the axis of the one above
ROW = 28


def label(times):
    return f"{times:.0f}" if times >= 10 else f"{times:.1f}"


def draw(path, title, panels):
    """A panel is (heading, legend, rows).  The legend has a colour a name, and none if there is but one; a row is
    (name, times, colour, label)."""
    left = 16 + 7 * max(len(row[0]) for _, _, rows in panels for row in rows)  # a letter is about 7 pixels wide
    height = TITLE + sum(HEAD + ROW * len(rows) for _, _, rows in panels) + 6
    script = [
        f'set terminal svg size {WIDTH},{height} font "sans,13" background "white" dynamic',
        f"set output '{path}'",
        f"set multiplot title '{title}' font ',15' noenhanced",
        f"left_share = {left / WIDTH}",
    ]
    top = TITLE - 22
    for heading, legend, rows in panels:
        script += ["$data << END"]
        script += [f'{len(rows) - i} {times:.3f} {colour} "{name}" "{text}"' for i, (name, times, colour, text) in enumerate(rows)]
        titles = [f', NaN with boxes linecolor rgb {colour} title "{name}"' for name, colour in legend.items()]
        bottom = top + HEAD + ROW * len(rows)
        script += ["END", f"heading = '{heading}'", f"legend = '{''.join(titles)}'", f"top = {1 - (top + HEAD) / height}", f"bottom = {1 - bottom / height}", f"load '{BARS}'"]
        top = bottom
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)
