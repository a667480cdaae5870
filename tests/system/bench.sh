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
import os, re, sys
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
for section, names, works in (("recording", rows.RECORDERS, ("python3, 997 Hz", "gcc, 997 Hz")), ("start", rows.STARTERS, ("`record -- /bin/true`",))):
    for work in works:
        for name in names:
            line = re.search("^" + re.escape(f"| {work} | {name} |") + "(.*)", sections.get(section, ""), re.M)
            if not line or not re.match("( missing)" if not name.startswith("seam") else FIGURE, line[1]):
                print("FAILED: no row, or a wrong one:", section, work, name)
                wrong += 1
left = re.findall(r"^\| left out \| (.*) \|", text, re.M)
if root and sorted(left) != [name + ": could not be had" for name in ("perf", "perfparser", "samply")] or "| failed |" in text:
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
