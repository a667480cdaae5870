#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/json.md against the JSON that is printed.

    run.py SEAM [SECTION=FILE ...]

FILE holds what a command of that section printed elsewhere. Each section's table has a key, its type, and words. Held are: whatever a command prints of the recordings
below is in its table, with that type; whatever is in a table is printed there, or is a name in the sources
that write it (not every recording holds everything); and every name in those sources is in the table.
dump's records are held against src/abi/records.def as well.
"""
import json
import os
import re
import subprocess
import sys

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
DATA = os.path.join(TOP, "tests", "data")
FILES = [os.path.join(DATA, d, "perf.data") for d in
         ("gcc_d", "multi_group", "regs", "attach_p", "pipe_z", "kill9_z", "uonly")]
KEYS, DIFF_KEYS = "report", "diff"  # stands for all sort keys that the command's help lists
NOWHERE = ["--symfs", "/nonexistent"]
# Section: (sources that write it, command lines)
SECTIONS = {
    "seam report --json": (["report/report_json.c"],
                           [["report", "--json", "-s", KEYS, *NOWHERE, f] for f in FILES]),
    "seam explain --json": (["explain/explain_text.c"],
                            [["explain", "--json", *NOWHERE, f] for f in FILES]),
    "seam diff --json": (["report/diff_show.c"],
                         [["diff", "--json", "-s", DIFF_KEYS, *NOWHERE, FILES[0], FILES[3]]]),
    "seam annotate --json": (["annotate/annotate_show.c"], []),
    "seam check --json": (["cli/check.c"], [["check", "--json"]]),
    "seam export --format json": (["export/profile_json.c"],
                                  [["export", "-f", "json", *NOWHERE, f] for f in FILES]),
    "seam dump --json": (["abi/print_json.c"], [["dump", "--json", f] for f in FILES]),
}
KINDS = {str: "string", int: "number", float: "number", bool: "bool", type(None): "null"}
faults = 0


def fault(text):
    global faults
    faults += 1
    if faults <= 40:
        print("FAILED: " + text)


def tables():
    """section: {key: type}, and what stands behind the table of dump: {record: [field]}."""
    keys, records, section = {}, {}, None
    with open(os.path.join(TOP, "docs", "json.md")) as f:
        for line in f:
            if line.startswith("## "):
                section = keys.setdefault(line[3:].strip(), {})
            key = re.match(r"\| `([^`]+)` \| (\w+|\w+ or null) \| .+ \|$", line)
            record = re.match(r"\| ([A-Z_0-9]+) \| (`.*`) \|$", line)
            if key:
                if key[1] in section:
                    fault("%s stands twice" % key[1])
                section[key[1]] = key[2]
            elif record:
                records[record[1]] = re.findall(r"`([^`]+)`", record[2])
            elif line.startswith("| `"):
                fault("not understood: " + line.strip())
    return keys, records


def leaves(value, path):
    if isinstance(value, dict):
        for k, v in value.items():
            yield from leaves(v, path + "." + k if path else k)
    elif isinstance(value, list):
        for v in value:
            yield from leaves(v, path + "[]")
    else:
        yield path, KINDS[type(value)]


def sort_keys(seam, command):
    text = subprocess.run([seam, command, "--help"], stdout=subprocess.PIPE, text=True).stdout
    words = re.search(r"^Sort keys.*\n((?:  .*\n)+)", text, re.M)[1]
    return ",".join(re.findall(r"^  (\w+)", words, re.M))


def printed(seam, command):
    """(path, type) of all that it prints; of dump with the record's type: one object a line."""
    command = [sort_keys(seam, word) if before == "-s" else word
               for before, word in zip([None] + command, command)]
    out = subprocess.run([seam, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    for line in out.decode("utf-8").splitlines():
        value = json.loads(line)
        yield value.get("type") if command[0] == "dump" else None, set(leaves(value, ""))


def find(table, path):
    """The key of the table that the path is one of: itself, or with a part that stands for any name."""
    if path in table:
        return path
    parts = path.split(".")
    for i in range(len(parts)):
        any_name = ".".join(parts[:i] + ["*"] + parts[i + 1:])
        if any_name in table:
            return any_name
    return None


def names_in(sources):
    text = ""
    for s in sources:
        with open(os.path.join(TOP, "src", s)) as f:
            text += f.read()
    return set(re.findall(r'json_(?:key|number|text|double|u64_if|hex_if|pid|regs)\([^;"]*?"(\w+)"', text)) | \
        set(re.findall(r'\{ "(\w+)", c->', text)) | set(re.findall(r'\? "(\w+)" : "\w+"\)', text)) | \
        set(re.findall(r'\? "\w+" : "(\w+)"\)', text))


def files_of(name):
    """What was printed elsewhere: all of the section's keys are in one of these files, then."""
    for argument in sys.argv[2:]:
        section, _, path = argument.partition("=")
        if section == name:
            with open(path) as f:
                yield None, set(leaves(json.load(f), ""))


def check_section(seam, name, table, records):
    sources, commands = SECTIONS[name]
    seen, in_sources = set(), names_in(sources)
    elsewhere = list(files_of(name))
    if elsewhere:
        in_sources = set()
    for run in [elsewhere] + [printed(seam, command) for command in commands]:
        for record, found in run:
            fields = records.get(record, []) if record != "SAMPLE" else []
            for path, kind in found:
                if path in fields:
                    continue
                key = find(table, path)
                if not key:
                    fault("%s: %s%s is not in docs/json.md" % (name, record + ": " if record else "", path))
                    continue
                seen.add(key)
                if kind not in table[key].split(" or "):
                    fault("%s: %s is a %s, not a %s" % (name, path, kind, table[key]))
    for key in table:
        last = re.sub(r"(\[\]|\.\*)*$", "", key).split(".")[-1]
        if key not in seen and last not in in_sources:
            fault("%s: %s is printed nowhere" % (name, key))
    words = {w for key in table for w in re.split(r"[.\[\]]+", key)}
    for missing in sorted(in_sources - words - {f for fields in records.values() for f in fields}):
        fault("%s: '%s' of %s is not in docs/json.md" % (name, missing, ", ".join(sources)))
    print("%s: %d keys, %d of them printed here" % (name, len(table), len(seen)))


def field_names(text):
    names = []
    while text.strip():
        m = re.match(r"\s*(\w+):(\*?)([uxishna]\d*)", text)
        text, name = text[m.end():], m[1]
        if m[3][0] == "n":
            inside = field_names(text[1:text.index("}")])
            text = text[text.index("}") + 1:]
            names += [name + "[]"] if len(inside) == 1 else [name + "[]." + n for n in inside]
        else:
            names.append(name + ("[]" if m[2] else ""))
    return names


def check_records(records):
    with open(os.path.join(TOP, "src", "abi", "records.def")) as f:
        text = f.read()
    known = {}
    for m in re.finditer(r'^RECORD\(\d+, \w+, "(\w+)", \d+, \w+, \w+,\s*((?:"[^"]*"\s*)+)\)', text, re.M):
        fields = field_names("".join(re.findall(r'"([^"]*)"', m[2])))
        if fields:
            known[m[1]] = set(fields) | ({"build_id"} if m[1] == "MMAP2" else set())
    for name in sorted(set(known) | set(records)):
        if known.get(name) != set(records.get(name, [])):
            fault("record %s: %s in records.def, %s in docs/json.md" % (
                name, sorted(known.get(name, [])), records.get(name)))
    print("%d records with fields" % len(known))


def main():
    keys, records = tables()
    if set(keys) != set(SECTIONS):
        fault("sections: %s, not %s" % (sorted(keys), sorted(SECTIONS)))
    for name in SECTIONS:
        check_section(sys.argv[1], name, keys.get(name, {}), records if "dump" in name else {})
    check_records(records)
    print("%d faults" % faults)
    return 1 if faults else 0


sys.exit(main())
