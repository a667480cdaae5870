#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page.py PAGE HEAD SERVED TAIL PART...: the page with its styles (.css) and modules (.mjs) in place,
as three files: up to the data, the same for a page that asks its server, and after the data. The
modules become one script, in the order given: their imports and the word export are left out. So a
name has one meaning in all of them, and what is imported must be there, and be used."""
import re
import sys

DEFINED = r"^(export )?(?:async )?(?:(?:function\*?|class) ([\w$]+)|(?:const|let|var)\b)"
# What ends no statement, whatever is in it: comments, texts, patterns (which stand behind no value).
PASSED = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`"""
                    r"|(?<=[=(,:?!&|\[;{}>])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/|.", re.S)


def text_of(name):
    return open(name, encoding="utf-8").read()


def declared(text, path):
    """The names that a list behind const, let or var declares: text begins with the list. Commas and names within brackets are
    values' own; a name in brackets before an = is taken from a value, and is none that this page may use."""
    names, depth, awaited = [], 0, True
    for token in PASSED.finditer(text):
        word = token[0]
        if word in ("(", "[", "{"):
            if awaited:
                sys.exit("%s: name one by one what begins with: %s" % (path, text[:40].strip()))
            depth += 1
        elif word in (")", "]", "}"):
            depth -= 1
        elif depth == 0 and word == ";":
            return names
        elif depth == 0 and word == ",":
            awaited = True
        elif awaited and re.match(r"[\w$]", word):
            names.append(re.match(r"[\w$]+", text[token.start():])[0])
            awaited = False
    sys.exit("%s: no end of: %s" % (path, text[:40].strip()))


def defined(text, path):
    """Each name that a module defines, and whether it is exported."""
    for found in re.finditer(DEFINED, text, re.M):
        for word in [found[2]] if found[2] else declared(text[found.end():], path):
            yield word, bool(found[1])


page, parts = text_of(sys.argv[1]), sys.argv[5:]
style = "".join(text_of(name) for name in parts if name.endswith(".css"))
SERVED = '<meta name="seam-served" content="1">\n'
IMPORT = r'^import \{\s(.*?),?\s\} from "\./(.*?)";\n'
exports, wanted, homes, script = {}, [], {}, []
for path in [name for name in parts if name.endswith(".mjs")]:
    name = path.rsplit("/", 1)[-1]
    text = text_of(path)
    for names, source in re.findall(IMPORT, text, re.M | re.S):
        for word in re.split(r",\s*", names.strip()):
            wanted.append((name, source, word))
            if len(re.findall(r"(?<![\w$])%s(?![\w$])" % re.escape(word), text)) < 2:
                sys.exit("%s: imports %s, and does not use it" % (path, word))
    text = re.sub(IMPORT, "", text, flags=re.M | re.S)
    exports[name] = set()
    for word, exported in defined(text, path):
        if word in homes:
            sys.exit("%s: %s is in %s as well" % (path, word, homes[word]))
        homes[word] = name
        if exported:
            exports[name].add(word)
    script.append(re.sub(r"^export ", "", text, flags=re.M))
for name, source, word in wanted:
    if word not in exports.get(source, ()):
        sys.exit("%s: imports %s from %s, which does not export it" % (name, word, source))

text = page.replace("@STYLE@", style).replace("@SCRIPT@", '"use strict";\n' + "".join(script))
head, tail = text.split("@DATA@")
# A page in a file may connect to nothing; a served one to where it came from.
own, served = (head.replace("@CONNECT@", policy).replace("@SERVED@", mark)
               for policy, mark in (("", ""), ("; connect-src 'self'", SERVED)))
for name, part in zip(sys.argv[2:5], (own, served, tail), strict=True):
    with open(name, "w", encoding="utf-8") as out:
        out.write(part)
