#!/usr/bin/env python3
"""Make the faces that are embedded in PDF files out of the window's fonts.

PDF writers embed TrueType outlines; Vault Sans has cubic ones. The outlines are written as quadratic curves within half a
unit of 2048, and only the letters of Latin, Greek and Cyrillic, punctuation, arrows and a few shapes are kept: what has no
letter here is written as its code in the file. No layout tables, so nothing is joined or moved. Licence: SIL OFL 1.1.

Needs python3-fonttools.   usage: make.py FONTS_DIR OUT_DIR
"""
import sys
from fontTools import subset
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont, newTable

KEEP = (list(range(0x20, 0x7F)) + list(range(0xA0, 0x250)) + list(range(0x370, 0x400)) + list(range(0x400, 0x530)) + list(range(0x1E00, 0x1F00))
        + list(range(0x2010, 0x2028)) + list(range(0x2030, 0x205F)) + list(range(0x2070, 0x20D0)) + list(range(0x2100, 0x2150))
        + list(range(0x2190, 0x2200)) + list(range(0x2200, 0x2300)) + list(range(0x2500, 0x2600)))


def convert(src, dst):
    f = TTFont(src)
    o = subset.Options()
    o.layout_features, o.name_IDs, o.notdef_outline, o.hinting = [], ["*"], True, False
    o.drop_tables += ["GSUB", "GPOS", "GDEF"]
    s = subset.Subsetter(o)
    s.populate(unicodes=KEEP)
    s.subset(f)
    if "CFF " in f:
        glyphs, order = f.getGlyphSet(), f.getGlyphOrder()
        out = {}
        for name in order:
            pen = TTGlyphPen(glyphs)
            glyphs[name].draw(Cu2QuPen(pen, 0.5, reverse_direction=True))
            out[name] = pen.glyph()
        f["loca"], f["glyf"] = newTable("loca"), newTable("glyf")
        f["glyf"].glyphOrder, f["glyf"].glyphs = order, out
        for name, g in out.items():
            g.recalcBounds(f["glyf"])
        f["hmtx"].metrics.update({n: (f["hmtx"][n][0], getattr(out[n], "xMin", 0)) for n in order})
        del f["CFF "]
        if "VORG" in f:
            del f["VORG"]
        m = f["maxp"]
        m.tableVersion = 0x00010000
        for k in ("maxZones", "maxTwilightPoints", "maxStorage", "maxFunctionDefs", "maxInstructionDefs", "maxStackElements", "maxSizeOfInstructions", "maxComponentElements"):
            setattr(m, k, 1 if k == "maxZones" else 0)
        f["post"].formatType, f["post"].extraNames, f["post"].mapping, f["post"].glyphOrder = 2.0, [], {}, order
        f.sfntVersion = "\000\001\000\000"
    f.recalcTimestamp = False
    f.save(dst)


if __name__ == "__main__":
    src, dst = sys.argv[1:3]
    for name in ("VaultSans-Regular.otf", "VaultSans-SemiBold.otf", "VaultMono-Regular.ttf"):
        convert(f"{src}/{name}", f"{dst}/{name[:-4]}.ttf")
