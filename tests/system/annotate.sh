# SPDX-License-Identifier: MIT
# annotate.sh: a program built here with one hot line: annotate finds it, and every sample is somewhere;
# report groups two events of it; diff holds it against itself and against a slower self.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
can_record || skip "no samples can be recorded here"
command -v cc >/dev/null || skip "there is no C compiler"
command -v python3 >/dev/null || skip "there is no python3"

cat >hot.c <<'C'
#include "work.h"
static volatile unsigned sink;
__attribute__((noinline)) unsigned busy(unsigned n)
{
	unsigned x = 1;

	for (unsigned i = 0; i < n; i++) {
		x = x % 1000003u * 48271u % 65521u; x = x % 1009u * 3u % 65537u; /* HOT */
		if (i % 4096 == 0)
			sink = x; /* cold */
	}
	return x;
}
__attribute__((noinline)) unsigned other(unsigned n)
{
	unsigned x = 1;

	for (unsigned i = 0; i < n; i++)
		sink = x = x * 3u % 65521u;
	return x;
}
int main(int argc, char **argv)
{
	for (uint64_t end = work_until(atoi(argv[1])); work_goes_on(end);)
		sink += busy(work_loops(100000));
	for (uint64_t end = work_until(atoi(argv[2])); work_goes_on(end);)
		sink += other(work_loops(100000));
	return 0;
}
C
cc -g -O1 -o hot hot.c || skip "the C compiler makes no program"
record -q -e cpu-clock -F 999 -o hot.data ./hot 600 300
same "record" 0 "$status"

NO_COLOR=1 "$SEAM" annotate -i hot.data busy >text 2>err
same "annotate" 0 $?
says text 'HOT'
says text "hot.c"
"$SEAM" annotate -i hot.data --json busy >json
python3 - "$T/hot.c" <<'P' || fail "the hot line does not have most samples"
import json, sys
hot = [i for i, line in enumerate(open(sys.argv[1]), 1) if "HOT" in line][0]
f = json.load(open("json"))["functions"][0]
assert f["samples"] > 50, f["samples"]
assert f["outside_samples"] == 0
if not f["instructions"]:
    print("no disassembler:", f["reason"]); sys.exit(0)
assert sum(i["samples"] for i in f["instructions"]) == f["samples"]
assert all(b["address"] for b in f["instructions"])
top = f["lines"][0]
print("line %d of %s: %d of %d samples" % (top["line"], top["file"], top["samples"], f["samples"]))
assert top["line"] == hot and top["samples"] * 2 > f["samples"]
assert "HOT" in top["text"]
P
# callgrind has the same costs at the same lines.
"$SEAM" export -f callgrind hot.data -o hot.cg 2>err || fail "callgrind: $(cat err)"
python3 - <<'P' || fail "lines in callgrind"
import json, re
own, number, here, call = {}, None, None, False
for line in open("hot.cg"):
    named = re.match(r"c?fn=(\(\d+\)) busy$", line)
    number = named[1] if named else number
    if line.startswith("fn="):
        here, call = line[3:].split()[0], False
    elif line.startswith("calls="):
        call = True
    elif re.match(r"[1-9]\d* \d+$", line) and not call and here and here == number:
        own[int(line.split()[0])] = int(line.split()[1])
    elif re.match(r"\d+ \d+$", line):
        call = False
f = json.load(open("json"))["functions"][0]
seen = {l["line"]: l["weight"] for l in f["lines"]}
print("ok: callgrind has", own)
assert own and own == seen, (own, seen)
P
"$SEAM" annotate -i hot.data >text 2>err
says text '^busy in .*/hot: '
"$SEAM" annotate -i hot.data no_such_function >text 2>err
same "a function that was not hit" 1 $?
says err "no sample hit 'no_such_function'"

# Another program under the same name is not shown.
sed 's/48271u/48273u/' hot.c >hot2.c
mv hot hot.first && cc -g -O1 -o hot hot2.c
"$SEAM" annotate -i hot.data --no-demangle busy >text 2>err
grep -q 'testl\|Source and disassembly' text && fail "the code of another build-id is shown"
mv hot.first hot

# A line table names any file. What is no source of the program is shown nowhere; --source-dir allows what is one elsewhere.
mkdir -p app/bin app/src away
lines='SECRET\nSECRET\nSECRET\nSECRET\nSECRET\nSECRET\nSECRET\nSECRET\n'
printf "$lines" >away/secret.txt && printf "$lines" >away/key.c && printf "$lines" >app/src/shadow
ln -s "$T/away/key.c" app/src/link.c && ln -s "$T/away/secret.txt" app/src/text.c
(echo '#include "work.h"'
for name in "$T/away/key.c" "$T/away/secret.txt" "$T/app/src/link.c" "$T/app/src/text.c" "$T/app/src/shadow" "$T/app/bin/../../away/key.c" "$T/app/src/own.c"; do
	n=$((${n:-0} + 1))
	printf 'static volatile unsigned sink%d;\n#line 1 "%s"\n' $n "$name"
	printf '__attribute__((noinline)) void leak%d(unsigned n)\n{\nfor (unsigned i = 0; i < n; i++)\nsink%d += i * 7u;\n}\n' $n $n
done
echo 'int main(void) { for (uint64_t end = work_until(400); work_goes_on(end);) {'
for n in 1 2 3 4 5 6 7; do echo "leak$n(work_loops(20000));"; done
echo '} return 0; }') >leak.c
printf "$lines" | sed s/SECRET/SHOWN/ >app/src/own.c
cc -g -O1 -I"$here" -o app/bin/leak leak.c || skip "the C compiler makes no program"
record -q -e cpu-clock -F 999 -o leak.data app/bin/leak
mkdir elsewhere && cd elsewhere || exit 1
export HOME="$T" # so that its directories have nothing to do with each other
for n in 1 2 3 4 5 6; do
	NO_COLOR=1 "$SEAM" annotate -i ../leak.data leak$n >text 2>err
	says text 'leak'
	says text 'not shown: .*: it'
	"$SEAM" annotate -i ../leak.data --json leak$n >json 2>err
	python3 -c 'import json; assert json.load(open("json"))["refused"][0]["reason"]' || fail "refused in JSON"
	cp text text.$n
	cp json json.$n
done
python3 "$here/../golden/json_keys/run.py" "$SEAM" "seam annotate --json=json" >keys || fail "$(cat keys)"
"$SEAM" flame -i ../leak.data --source -o page.html 2>err
sed -n 's/.*class="data"[^>]*>\([^<]*\)<.*/\1/p' page.html | base64 -d | gzip -dc >block
says err 'source files .*not shown'
"$SEAM" archive --sources -i ../leak.data -o a.tar.zst 2>err
says err 'left out: .*secret.txt: its name does not end as sources do'
tar --zstd -xf a.tar.zst sources 2>/dev/null
same "private files that are shown" 0 "$(grep -rl SECRET . | wc -l)"
atleast "its own source in the page" 1 "$(grep -c SHOWN block)"
NO_COLOR=1 "$SEAM" annotate -i ../leak.data --source-dir "$T/away" leak1 >text 2>err
says text SECRET
NO_COLOR=1 "$SEAM" annotate -i ../leak.data --source-dir "$T/away" leak2 >text 2>err
same "what is no source, though its directory is allowed" 0 "$(grep -c SECRET text)"
NO_COLOR=1 "$SEAM" annotate -i ../leak.data --source-dir "$T/away/secret.txt" leak2 >text 2>err
says text SECRET
printf '[source]\ndirs = %s\n' "$T/away" >config
SEAM_CONFIG=$PWD/config NO_COLOR=1 "$SEAM" annotate -i ../leak.data leak1 >text 2>err
says text SECRET
cd "$T" || exit 1

# srcline is a sort key: the same hot line.
"$SEAM" report -i hot.data --no-children -g none --csv -s srcline >csv
says csv 'hot.c:8,'

# Two events, side by side: equal work is equal shares.
record -q -e cpu-clock,task-clock -F 500 -o two.data ./hot 400 200
NO_COLOR=1 "$SEAM" report -i two.data --group --no-children -s sym --percent-limit 5 >text
says text '^1: '
says text '^2: '
says text ' busy$'

# The same against itself is noise; three times the work in one function is not.
# Of each several: two a side leave it open how much runs differ.
for run in 1 2 3 4; do
	record -q -e cpu-clock -F 999 -o a$run.data ./hot 200 200
	record -q -e cpu-clock -F 999 -o c$run.data ./hot 600 200
done
before=a1.data,a2.data,a3.data,a4.data after=c1.data,c2.data,c3.data,c4.data
"$SEAM" diff --fail-if-slower 10 --symbol busy a1.data a1.data >text 2>err
same "diff of a recording with itself" 0 $?
"$SEAM" diff --absolute --fail-if-slower 50 --symbol busy $before $after >text 2>err
same "diff against three times the work" 4 $?
says text 'FAIL.*busy'
"$SEAM" diff --absolute --fail-if-slower 50 --symbol other $before $after >text 2>err
same "diff of what did not change" 0 $?
done_testing
