#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page.py PAGE HEAD SERVED TAIL PART...: the page with its styles (.css) and modules (.mjs) in place,
as three files: up to the data, the same for a page that asks its server, and after the data. The
modules become one script, in the order given: their imports and the word export are left out. So a
name has one meaning in all of them, and what is imported must be there, and be used."""
import re
import sys

def text_of(name):
    return open(name, encoding="utf-8").read()


page, parts = text_of(sys.argv[1]), sys.argv[5:]
style = "".join(text_of(name) for name in parts if name.endswith(".css"))
SERVED = '<meta name="seam-served" content="1">\n'
IMPORT = r'^import \{\s(.*?),?\s\} from "\./(.*?)";\n'
DEFINED = r"(?:async )?(?:function|const|let|class) ([\w$]+)"
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
    for word in re.findall("^(?:export )?" + DEFINED, text, re.M):
        if word in homes:
            sys.exit("%s: %s is in %s as well" % (path, word, homes[word]))
        homes[word] = name
    exports[name] = set(re.findall("^export " + DEFINED, text, re.M))
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
