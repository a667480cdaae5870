# SPDX-License-Identifier: MIT
# bench/table, on the least recordings and without a peer: every row is there with figures, a command that fails is said and not
# timed, and what is ended leaves nothing behind.
. "$(dirname "$0")/lib.sh"
TABLE=$TESTS/../../bench/table
can_record
SEAM_CACHE=$T/none
export SEAM_CACHE

python3 "$TABLE" --smoke --seam "$SEAM" --dir "$T/bench" -o table.md 2>err
same "exit status" 0 $?
[ -s table.md ] || fail "no table: $(cat err)"
cat >rows.py <<'END'
import os, re, shutil, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import rows
text = open("table.md").read()
sections = dict(re.findall(r"^## (\w+):(.*?)(?=^## |\Z)", text, re.M | re.S))
root = os.geteuid() == 0
FIGURE = r" [\d.,]+( \([\d.,]+ to [\d.,]+\))? \|"
wrong = 0
for name, those in rows.READ.items():
    if name not in sections and not root:
        continue
    for row in those:
        label = re.sub(r"^(\w+)(, the \w+)$", r"`\1`\2", row.label)
        label = label if label[0] == "`" else "`" + label + "`"
        line = re.search("^" + re.escape("| " + label + " |") + FIGURE * 4 + "(.*)", sections.get(name, ""), re.M)
        if not line or row.perf and "missing" not in line[0] or not row.perf and not line[0].split("|")[6].strip() == "-":
            print("FAILED: no row, or a wrong one:", name, row.label)
            wrong += 1
for section, those, figures in (("goals", [(g.section, g.row) for g in rows.GOALS], 3), ("threads", rows.THREADS if len(os.sched_getaffinity(0)) > 1 else [], 4)):
    for name, row in those:
        if name in sections and not re.search("^" + re.escape(f"| {name} | `{row.label}` |") + FIGURE * figures, sections.get(section, ""), re.M):
            print("FAILED: no row, or a wrong one:", section, name, row.label)
            wrong += 1
services = re.findall(r"^\| (\w+ [\w.]+, a service, 997 Hz) \| seam auto \|", sections.get("runtimes", ""), re.M)
if not services:
    print("FAILED: no service in an interpreter")
    wrong += 1
for section, names, works in (("recording", rows.RECORDERS, ("python3, 997 Hz", "gcc, 997 Hz")), ("runtimes", rows.RUNTIME_RECORDERS, services),
                              ("start", rows.STARTERS, ("`record -- /bin/true`", "`-p` of one of 20 processes", "`-p` of 20 processes of 20 mappings"))):
    for work in works:
        for name in names:
            line = re.search("^" + re.escape(f"| {work} | {name} |") + "(.*)", sections.get(section, ""), re.M)
            if not line or not re.match("( missing)" if not name.startswith("seam") else FIGURE, line[1]):
                print("FAILED: no row, or a wrong one:", section, work, name)
                wrong += 1
left = [why for why in re.findall(r"^\| left out \| (.*) \|", text, re.M) if not re.match("a service: .* is not installed", why)]
peers = ["perf", "perfparser"] + ["py-spy"] * (not shutil.which("py-spy")) + ["samply"]
if root and sorted(left) != [name + ": could not be had" for name in peers] or "| failed |" in text:
    print("FAILED: left out or failed:", left, re.findall(r"^\| failed.*", text, re.M))
    wrong += 1
print("ok: rows" if not wrong else f"{wrong} wrong")
sys.exit(wrong > 0)
END
python3 rows.py "$TESTS/../../bench" || { failures=$((failures + 1)); cat err table.md; }

# A command that ends with another status, or by a signal, has no figures.
mkdir broken
cat >broken/seam <<END
#!/bin/sh
[ "\$1" != report ] || kill -9 \$\$
"$SEAM" "\$@"
status=\$?
[ "\$1" != script ] || exit 3
exit \$status
END
chmod +x broken/seam
python3 "$TABLE" --smoke --seam broken/seam --dir "$T/bench" --only 'copies: (script|stat|report)$' -o broken.md 2>err
same "exit status with a command that fails" 1 $?
says broken.md '^| `script` | failed: exit 3: without a word |'
says broken.md '^| `report` | failed: signal 9: without a word |'
says broken.md '^| `stat` | [0-9.]* |'
says broken.md '^| failed | copies: script: exit 3: without a word |'

# A run that goes on where another was ended has its rows, and measures the others.
python3 "$TABLE" --smoke --seam "$SEAM" --dir "$T/bench" --only '^copies: (stat|script|dump)$|^recording: python3 seam fp' -o whole.md 2>err
same "exit status of a run to be resumed" 0 $?
python3 - "$T/bench" "$SEAM" "$TESTS/../../bench" <<'END'
import os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[3])
import kept
rows = kept.Kept(sys.argv[1] + "/smoke/rows.json", sys.argv[2], False)
at = os.stat(sys.argv[1] + "/smoke/copies.data").st_mtime_ns
rows.put(f"copies: stat, {at}", ["kept of before"] + ["-"] * 10)
rows.put("recording: python3, 997 Hz", ["| python3, 997 Hz | seam fp | kept as well |"])
END
python3 "$TABLE" --smoke --seam "$SEAM" --dir "$T/bench" --resume --only '^copies: (stat|script|dump)$|^recording: python3 seam fp' -o resumed.md 2>err
same "exit status of a run that is resumed" 0 $?
says resumed.md '^| `stat` | kept of before |'
says resumed.md '^| `dump` | [0-9.]* |'
says resumed.md 'seam fp | kept as well |'
says resumed.md '^| resumed | 2 rows'
[ ! -e "$T/bench/smoke/rows.json" ] || fail "rows were left of a run that came to its end"

# Told to end in the middle of a recording.
python3 "$TABLE" --smoke --seam "$SEAM" --dir "$T/bench" --fresh --only '^all: script' 2>err &
pid=$!
until_true 'a recording begins' grep -q 'recording all' err
kill "$pid"
wait "$pid"
same "exit status when it is ended" 130 $?
[ ! -e "$T/bench/scratch" ] || fail "scratch files were left"
if pgrep -f "$T/bench" >left; then fail "left behind: $(xargs -n1 ps -o args= -p <left)"; else echo "ok: nothing is left behind"; fi
done_testing
