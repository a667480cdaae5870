# SPDX-License-Identifier: MIT
"""exports.py REPORT NAME: labels in NAME.json, .folded and .firefox against each other, and against
the rows of `seam report --json -s trace,span,label`. Prints how many figures are wrong."""
import collections
import json
import sys

wrong = []


def check(what, good, seen=""):
    if not good:
        wrong.append("%s: %s" % (what, seen))


def text(labels):
    return " ".join("%s=%s" % tuple(pair) for pair in labels)


report, name = json.load(open(sys.argv[1])), sys.argv[2]
ours = json.load(open(name + ".json"))
by_text, by_trace = collections.Counter(), collections.Counter()
for row in ours["rows"]:
    by_text[text(row["labels"])] += row["weight"]
    by_trace[dict(row["labels"]).get("trace", "")] += row["weight"]
told = collections.Counter()
for row in report["rows"]:
    told[row["trace"] or ""] += row["self"]
check("weights by trace", told == by_trace, (told - by_trace, by_trace - told))
check("there are many", len(by_text) > 10, len(by_text))

folded = collections.Counter()
for line in open(name + ".folded"):
    stack, weight = line.rsplit(" ", 1)
    second = (stack.split(";") + [""])[1]
    folded[second if second in by_text else ""] += int(weight)
check("folded", folded == by_text, (folded - by_text, by_text - folded))

firefox, spans, samples = json.load(open(name + ".firefox")), collections.Counter(), 0
for thread in firefox["threads"]:
    m = thread["markers"]
    check("columns", all(len(m[c]) == m["length"] for c in ("category", "data", "endTime", "name", "phase", "startTime")))
    for begin, end, data in zip(m["startTime"], m["endTime"], m["data"]):
        check("a marker's end", end > begin, (begin, end))
        check("a marker's labels", data["labels"] in by_text, data["labels"])
        spans[data["labels"]] += 1
        samples += sum(begin <= t < end for t in thread["samples"]["time"])
check("all labels are markers", set(spans) == set(by_text) - {""}, set(by_text) ^ set(spans))
check("they hold the samples", samples >= sum(r["samples"] for r in ours["rows"] if r["labels"]), samples)
print("%d wrong %s" % (len(wrong), wrong[:3]))
