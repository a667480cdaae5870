# SPDX-License-Identifier: MIT
"""What the checks of windows share: a line for each thing that holds or does not, and numbers against a recording's truth."""
import re
import unicodedata

failures = 0


def check(what, good, seen=""):
    global failures
    print(("%s: %s%s" % ("ok" if good else "FAILED", what, " (%s)" % (seen,) if seen not in ("", []) else "")).encode("unicode_escape").decode(), flush=True)
    failures += not good
    return good


def number(text):
    """A window's number: groups of digits apart; 1.516E+09 too."""
    text = re.sub(r"[\s\u00a0\u202f,]", "", text)
    return int(text) if re.fullmatch(r"\d+", text) else float(text or 0)


def shown(name):
    """A name as a pattern of how seam writes it in formats of lines (base/shown.h): what would move a terminal's cursor is escaped. JSON
    has U+FFFD for a byte that is no text; there it is any escape."""
    out = []
    for c in name:
        if c in "\n\r\t\\":
            c = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}[c]
        elif c == "\ufffd":
            out.append(r"\\x[0-9a-f]{2}")
            continue
        elif ord(c) < 32 or ord(c) == 127:
            c = "\\x%02x" % ord(c)
        elif unicodedata.category(c) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp"):
            c = ("\\U%08x" if ord(c) > 0xffff else "\\u%04x") % ord(c)
        out.append(re.escape(c))
    return "".join(out)


def spelling(name, seen):
    """As which of the names that a window shows this one stands there; None: as none."""
    if name in seen and name.isprintable() and "\ufffd" not in name and "\\" not in name:
        return name
    pattern = re.compile(shown(name))
    return next((n for n in seen if pattern.fullmatch(n)), None)


def by_shown(truth, seen):
    """Of what a window shows, by its names, the part that is in truth, by truth's names; the second: what is not."""
    plain, rest = {}, dict(seen)
    for name in truth:
        said = spelling(name, rest)
        if said is not None:
            plain[name] = seen[said]
            rest.pop(said, None)
    return plain, rest


def alike(percent, part, whole):
    """Whether a percentage of three digits is this part."""
    said = float(percent.rstrip("%") or 0)
    true = 100.0 * part / whole if whole else 0
    return abs(said - true) <= 0.0051 * max(said, true, 1e-9) or abs(said - true) < 1e-6
