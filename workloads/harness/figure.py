# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison as one SVG file: the predicted curve with its interval, the measured points with their own."""

from html import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 560, 400, 60, 64, 20, 60


def draw(path, title, target, entry, measured):
    """measured: of each change its title, what it saves of the target, and what it brought."""
    points = [(0.0, 0.0, 0.0, 0.0)]
    for p in entry["points"] if entry else []:
        if p["speedup_pct"] > 0 and p["ci95"] and None not in p["ci95"]:
            points.append((p["speedup_pct"], p["program_speedup_pct"], p["ci95"][0], p["ci95"][1]))
    values = [v for p in points for v in p[1:]]
    for _, m in measured:
        values += [m["gain_pct"], max(m["ci95"][0], -100), min(m["ci95"][1], 100)]
    low, high = min(0, min(values)), max(10, max(values))
    step = next(s for s in (5, 10, 20, 50, 100, 1000) if (high - low) / s <= 8)
    low, high = step * (low // step), step * -(-high // step)

    def x(v):
        return LEFT + v / 100 * (WIDTH - LEFT - RIGHT)

    def y(v):
        return TOP + (high - min(max(v, low), high)) / (high - low) * (HEIGHT - TOP - BOTTOM)

    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
           'font-family="sans-serif" font-size="12">' % (WIDTH, HEIGHT, WIDTH, HEIGHT),
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="%d" y="22" font-size="14">%s</text>' % (LEFT, escape(title)),
           '<text x="%d" y="42" fill="#555">target %s</text>' % (LEFT, escape(target))]
    v = low
    while v <= high:
        out.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="%s"/>' % (
            LEFT, WIDTH - RIGHT, y(v), y(v), "#888" if v == 0 else "#e4e4e4"))
        out.append('<text x="%d" y="%.1f" text-anchor="end">%d</text>' % (LEFT - 6, y(v) + 4, v))
        v += step
    for v in range(0, 101, 25):
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%d</text>' % (x(v), HEIGHT - BOTTOM + 18, v))
    out.append('<text x="%d" y="%d" text-anchor="middle">less time in the target, %%</text>' % (
        (LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 36))
    out.append('<text transform="translate(16 %d) rotate(-90)" text-anchor="middle">less time for a unit of work, '
               '%%</text>' % ((TOP + HEIGHT - BOTTOM) / 2))
    if len(points) > 1:
        band = [(p[0], p[3]) for p in points] + [(p[0], p[2]) for p in reversed(points)]
        out.append('<polygon fill="#1f77b4" fill-opacity="0.2" points="%s"/>' % " ".join(
            "%.1f,%.1f" % (x(a), y(b)) for a, b in band))
        out.append('<polyline fill="none" stroke="#1f77b4" stroke-width="2" points="%s"/>' % " ".join(
            "%.1f,%.1f" % (x(p[0]), y(p[1])) for p in points))
    for label, m in measured:
        x0 = x(min(max(m["cheaper_pct"], 0), 100))
        out.append('<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#d62728" stroke-width="2"/>' % (
            x0, x0, y(m["ci95"][0]), y(m["ci95"][1])))
        out.append('<circle cx="%.1f" cy="%.1f" r="5" fill="#d62728"><title>%s</title></circle>' % (
            x0, y(m["gain_pct"]), escape(label)))
        if len(measured) > 1:
            out.append('<text x="%.1f" y="%.1f" text-anchor="end" fill="#d62728">%s</text>' % (
                x0 - 8, y(m["gain_pct"]) + 4, escape(label)))
    out.append('<text x="%d" y="%d"><tspan fill="#1f77b4">predicted</tspan>, <tspan fill="#d62728">really changed'
               '</tspan>; with 95 %% intervals</text>' % (LEFT, HEIGHT - 8))
    out.append("</svg>")
    with open(path, "w") as f:
        f.write("\n".join(out) + "\n")
