#!/usr/bin/env python3
"""Draw the icon set: one SVG per icon.   usage: make.py OUT_DIR

Fyne recolours only `fill`, drops <line>, <polyline> and fill-rule, and ignores stroke colour. So every icon is filled
paths with non-zero winding: a "stroke" here is a capsule, a ring is two circles of opposite direction. Solids all run
the same way round, so overlaps stay filled. Grid 16, line 1.5, ends round, corners round, 1 px of air at each side.
"""
import math
import sys

W = 1.5


def n(v):
    return ("%.2f" % v).rstrip("0").rstrip(".").replace("-0.00", "0") or "0"


def seg(x1, y1, x2, y2, w=W):
    r, d = w / 2, math.hypot(x2 - x1, y2 - y1)
    if d == 0:
        return disc(x1, y1, r)
    ux, uy = (x2 - x1) / d, (y2 - y1) / d
    px, py = -uy * r, ux * r
    a, b, c, e = (x1 + px, y1 + py), (x1 - px, y1 - py), (x2 - px, y2 - py), (x2 + px, y2 + py)
    return f"M{n(a[0])} {n(a[1])}A{n(r)} {n(r)} 0 0 1 {n(b[0])} {n(b[1])}L{n(c[0])} {n(c[1])}A{n(r)} {n(r)} 0 0 1 {n(e[0])} {n(e[1])}Z"


def line(*pts, w=W):
    return "".join(seg(*pts[i], *pts[i + 1], w=w) for i in range(len(pts) - 1))


def loop(*pts, w=W):
    return line(*pts, pts[0], w=w)


def disc(cx, cy, r):
    return f"M{n(cx - r)} {n(cy)}A{n(r)} {n(r)} 0 0 1 {n(cx + r)} {n(cy)}A{n(r)} {n(r)} 0 0 1 {n(cx - r)} {n(cy)}Z"


def hole(cx, cy, r):
    return f"M{n(cx - r)} {n(cy)}A{n(r)} {n(r)} 0 0 0 {n(cx + r)} {n(cy)}A{n(r)} {n(r)} 0 0 0 {n(cx - r)} {n(cy)}Z"


def ring(cx, cy, r, w=W):
    return disc(cx, cy, r + w / 2) + hole(cx, cy, r - w / 2)


def arc(cx, cy, r, a0, a1, w=W):
    """degrees, clockwise on screen from a0 to a1"""
    def p(rr, a):
        return cx + rr * math.cos(math.radians(a)), cy + rr * math.sin(math.radians(a))
    ro, ri, big = r + w / 2, r - w / 2, 1 if (a1 - a0) > 180 else 0
    a, b, c, d = p(ro, a0), p(ro, a1), p(ri, a1), p(ri, a0)
    return (f"M{n(a[0])} {n(a[1])}A{n(ro)} {n(ro)} 0 {big} 1 {n(b[0])} {n(b[1])}A{n(w/2)} {n(w/2)} 0 0 1 {n(c[0])} {n(c[1])}"
            f"A{n(ri)} {n(ri)} 0 {big} 0 {n(d[0])} {n(d[1])}A{n(w/2)} {n(w/2)} 0 0 1 {n(a[0])} {n(a[1])}Z")


def box(x, y, w, h, r=0, cw=1):
    r = max(0, min(r, w / 2, h / 2))
    if cw:
        c = f"A{n(r)} {n(r)} 0 0 1 " if r else "L"
        return (f"M{n(x + r)} {n(y)}L{n(x + w - r)} {n(y)}{c}{n(x + w)} {n(y + r)}L{n(x + w)} {n(y + h - r)}{c}{n(x + w - r)} {n(y + h)}"
                f"L{n(x + r)} {n(y + h)}{c}{n(x)} {n(y + h - r)}L{n(x)} {n(y + r)}{c}{n(x + r)} {n(y)}Z")
    c = f"A{n(r)} {n(r)} 0 0 0 " if r else "L"
    return (f"M{n(x + r)} {n(y)}{c}{n(x)} {n(y + r)}L{n(x)} {n(y + h - r)}{c}{n(x + r)} {n(y + h)}L{n(x + w - r)} {n(y + h)}"
            f"{c}{n(x + w)} {n(y + h - r)}L{n(x + w)} {n(y + r)}{c}{n(x + w - r)} {n(y)}Z")


def frame(x, y, w, h, r=2.0, t=W):
    """outline whose centre line is the given box"""
    k = t / 2
    return box(x - k, y - k, w + t, h + t, r + k) + box(x + k, y + k, w - t, h - t, max(r - k, 0), cw=0)


def poly(*pts):
    return "M" + "L".join(f"{n(x)} {n(y)}" for x, y in pts) + "Z"


def hollow(*pts):
    return poly(*reversed(pts))


def question(cx, cy, s=1.0):
    return (arc(cx, cy - 1.35 * s, 1.75 * s, 180, 395, w=1.4) + line((cx + 1.4 * s, cy - 0.35 * s), (cx, cy + 0.75 * s), (cx, cy + 1.05 * s), w=1.4)
            + disc(cx, cy + 3.0 * s, 0.95))


def bang(cx, y0, y1):
    return seg(cx, y0, cx, y1) + disc(cx, y1 + 2.3, 0.95)


TRI = [(8, 1.9), (14.7, 13.9), (1.3, 13.9)]


def vmark(x=0.0, y=0.0, k=1.0, w=2.2, dot=2.0, dotted=True, ringed=False):
    """the mark: a V that holds a disc"""
    def t(px, py):
        return x + px * k, y + py * k
    out = line(t(2.3, 3.2), t(8, 13.2), t(13.7, 3.2), w=w * k)
    if dotted:
        cx, cy = t(8, 5.1)
        out += ring(cx, cy, (dot - 0.6) * k, 1.2 * k) if ringed else disc(cx, cy, dot * k)
    return out


I = {}
I["mark"] = vmark()
I["mark-empty"] = vmark(dotted=False)
# places
I["inbox"] = frame(2, 2.5, 12, 11, 2) + line((2, 9), (5.2, 9), (6.4, 10.9), (9.6, 10.9), (10.8, 9), (14, 9))
I["agent"] = frame(1.75, 2.75, 12.5, 10.5, 2) + line((4.6, 5.9), (6.9, 8), (4.6, 10.1)) + seg(8.4, 10.3, 11.2, 10.3)
I["engagement"] = line((9.6, 1.9), (3.3, 1.9), (3.3, 14.1), (12.7, 14.1), (12.7, 5), (9.6, 1.9)) + line((9.5, 2.1), (9.5, 5.1), (12.5, 5.1)) + line((5.6, 11), (6.8, 9.2), (7.8, 11), (8.8, 9.7), (10.4, 10.9), w=1.3)
I["domain"] = frame(5.75, 1.75, 4.5, 3.5, 1) + frame(1.75, 10.75, 3.5, 3.5, 1) + frame(10.75, 10.75, 3.5, 3.5, 1) + seg(8, 5.6, 8, 8) + line((3.5, 10.4), (3.5, 8), (12.5, 8), (12.5, 10.4))
I["delegate"] = line((3, 3.75), (13, 3.75)) + line((3, 12.25), (13, 12.25)) + arc(1.9, 8, 1.6, -90, 90) + arc(14.1, 8, 1.6, 90, 270) + seg(1.9, 4.6, 1.9, 6.2) + seg(1.9, 9.8, 1.9, 11.4) + seg(14.1, 4.6, 14.1, 6.2) + seg(14.1, 9.8, 14.1, 11.4) + arc(3, 4.85, 1.1, 180, 270) + arc(13, 4.85, 1.1, 270, 360) + arc(3, 11.15, 1.1, 90, 180) + arc(13, 11.15, 1.1, 0, 90) + seg(6.2, 8, 9.8, 8)
I["activity"] = disc(3, 3.5, 1.6) + disc(3, 8, 1.6) + disc(3, 12.5, 1.6) + seg(3, 3.5, 3, 12.5, 1.2) + seg(7, 3.5, 14, 3.5) + seg(7, 8, 14, 8) + seg(7, 12.5, 14, 12.5)
I["settings"] = seg(2, 4.5, 14, 4.5) + seg(2, 11.5, 14, 11.5) + disc(10.5, 4.5, 2.4) + disc(5.5, 11.5, 2.4)
# state
I["lock"] = box(2.5, 7, 11, 7.5, 1.5) + arc(8, 5.2, 2.9, 180, 360) + seg(5.1, 5.2, 5.1, 7.4) + seg(10.9, 5.2, 10.9, 7.4)
I["unlock"] = frame(3.25, 7.75, 9.5, 6, 1.2) + arc(8, 4.9, 2.9, 180, 345) + seg(5.1, 4.9, 5.1, 7.4)
I["key"] = ring(5, 8, 3.1) + seg(8.1, 8, 14.2, 8) + seg(13.4, 8, 13.4, 10.8) + seg(10.6, 8, 10.6, 10.2)
I["person"] = ring(8, 5, 2.9) + arc(8, 15.2, 5.6, 195, 345)
I["clock"] = ring(8, 8, 6.1) + line((8, 4.4), (8, 8), (10.6, 9.6))
I["check"] = line((2.8, 8.4), (6.4, 12), (13.2, 4.4), w=1.8)
I["cross"] = seg(3.6, 3.6, 12.4, 12.4, 1.8) + seg(12.4, 3.6, 3.6, 12.4, 1.8)
I["plus"] = seg(8, 3, 8, 13, 1.8) + seg(3, 8, 13, 8, 1.8)
I["minus"] = seg(3, 8, 13, 8, 1.8)
I["changed"] = loop((8, 2.6), (13.8, 13), (2.2, 13), w=1.6)
I["warning"] = loop(*TRI) + bang(8, 6.1, 9.3)
I["error"] = loop((5.2, 1.6), (10.8, 1.6), (14.4, 5.2), (14.4, 10.8), (10.8, 14.4), (5.2, 14.4), (1.6, 10.8), (1.6, 5.2)) + bang(8, 4.6, 8.6)
I["info"] = ring(8, 8, 6.1) + seg(8, 7.6, 8, 11.2) + disc(8, 4.9, 0.95)
# sheet
I["flag"] = seg(3.2, 1.8, 3.2, 14.4) + poly((3.2, 2), (13.6, 2), (11, 5.4), (13.6, 8.8), (3.2, 8.8))
I["ask"] = frame(1.75, 1.95, 12.5, 9.9, 2.4) + poly((4.6, 11.4), (9.2, 11.4), (4.6, 15.2)) + arc(8, 5.7, 1.45, 185, 400, w=1.3) + line((9.0, 6.7), (8, 7.5), w=1.3) + disc(8, 9.5, 0.85)
I["pencil"] = loop((10.9, 2.2), (13.8, 5.1), (5.6, 13.3), (2.2, 13.8), (2.7, 10.4)) + seg(8.9, 4.2, 11.8, 7.1, 1.3)
I["sign"] = seg(1.8, 13.6, 14.2, 13.6) + line((2.6, 10.4), (5.4, 4.2), (6.4, 9.4), (8.6, 6.2), (9.8, 9.2), (11.2, 7.8), (13.4, 8.8), w=1.4)
I["reopen"] = arc(8.2, 9, 4.9, 200, 505) + line((2.3, 3.2), (3.4, 7.5), (7.7, 6.5))
I["decline"] = ring(8, 8, 6.1) + seg(3.8, 12.2, 12.2, 3.8)
I["block"] = ring(8, 8, 6.1) + box(4.4, 6.9, 7.2, 2.2, 0.6)
I["off"] = ring(8, 8, 6.1, 1.3) + seg(5, 8, 11, 8, 1.3)
I["more"] = line((3.4, 6), (8, 10.6), (12.6, 6))
I["chevron"] = line((6, 3.4), (10.6, 8), (6, 12.6))
I["arrow"] = seg(2.2, 8, 13.4, 8) + line((9, 3.6), (13.5, 8), (9, 12.4))
I["back"] = seg(2.6, 8, 13.8, 8) + line((7, 3.6), (2.5, 8), (7, 12.4))
I["browser"] = frame(1.75, 2.5, 12.5, 11, 2) + seg(1.75, 6, 14.25, 6) + disc(4.3, 4.3, 0.8) + disc(6.8, 4.3, 0.8)
I["copy"] = frame(5.5, 5.5, 8.6, 8.6, 1.8) + line((10.5, 2.4), (10.5, 2.1), w=W) + line((2.6, 10.4), (2, 9.8), (2, 2.9), (2.9, 2), (9.8, 2), (10.4, 2.6))
I["pause"] = box(3.4, 2.5, 3.2, 11, 0.9) + box(9.4, 2.5, 3.2, 11, 0.9)
I["resume"] = poly((4, 2.2), (13.2, 8), (4, 13.8))
I["search"] = ring(6.9, 6.9, 4.5) + seg(10.3, 10.3, 14, 14, 1.8)
I["export"] = line((2.4, 9.4), (2.4, 13.6), (13.6, 13.6), (13.6, 9.4)) + seg(8, 2.4, 8, 9.6) + line((4.6, 6.2), (8, 9.8), (11.4, 6.2))
I["hidden"] = arc(8, 11.6, 7.6, 222, 318) + arc(8, 4.4, 7.6, 42, 138) + disc(8, 8, 2.1) + seg(2.6, 13.6, 13.4, 2.4, 1.4)
# where a fact comes from
I["proven"] = box(1.5, 1.5, 13, 13, 2.2) + hollow(*[(x, y) for x, y in [(4.2, 8.35), (5.35, 7.2), (7.1, 8.95), (10.9, 4.75), (12.1, 5.85), (7.15, 11.3)]])
I["observed"] = arc(8, 11.6, 7.6, 222, 318) + arc(8, 4.4, 7.6, 42, 138) + ring(8, 8, 1.75)
I["claimed"] = disc(4.6, 9.6, 2.4) + arc(6.6, 9, 4.4, 180, 245, w=1.6) + disc(11.4, 9.6, 2.4) + arc(13.4, 9, 4.4, 180, 245, w=1.6)
# grades: silhouette + amount of ink
I["enforced"] = box(1.5, 1.5, 13, 13, 1.6)
I["evidence"] = loop((8, 1.75), (14.25, 8), (8, 14.25), (1.75, 8), w=1.6) + poly((1.75, 8), (14.25, 8), (8, 14.25))
I["recorded"] = ring(8, 8, 5.9, 1.5)
# access and files
I["grant"] = line((9, 2.2), (3, 2.2), (3, 13.8), (9, 13.8)) + seg(7, 8, 14, 8) + line((11, 4.9), (14.1, 8), (11, 11.1)) 
I["file"] = line((9.6, 1.9), (3.3, 1.9), (3.3, 14.1), (12.7, 14.1), (12.7, 5), (9.6, 1.9)) + line((9.5, 2.1), (9.5, 5.1), (12.5, 5.1))

if __name__ == "__main__":
    out = sys.argv[1]
    for name, d in I.items():
        with open(f"{out}/{name}.svg", "w") as f:
            f.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16"><path fill="#16201d" d="{d}"/></svg>\n')
