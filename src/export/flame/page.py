#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page.py PAGE STYLE HEAD SERVED TAIL MODULE...: the page with its style and its modules in place,
as three files: up to the data, the same for a page that asks its server, and after the data. The
modules become one script, in the order given: their imports and the word export are left out. So a
name has one meaning in all of them, and what is imported must be there, and be used."""
import re
import sys

page, style = (open(name, encoding="utf-8").read() for name in sys.argv[1:3])
SERVED = '<meta name="seam-served" content="1">\n'
IMPORT = r'^import \{\s(.*?),?\s\} from "\./(.*?)";\n'
DEFINED = r"(?:async )?(?:function|const|let|class) ([\w$]+)"
exports, wanted, homes, script = {}, [], {}, []
for path in sys.argv[6:]:
    name = path.rsplit("/", 1)[-1]
    text = open(path, encoding="utf-8").read()
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
for name, part in zip(sys.argv[3:6], (own, served, tail), strict=True):
    with open(name, "w", encoding="utf-8") as out:
        out.write(part)
