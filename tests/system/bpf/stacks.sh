# SPDX-License-Identifier: MIT
# stacks.sh: what tests of stacks by BPF share. Read with ". bpf/stacks.sh", HERE being tests/system: skips where BPF cannot be used;
# gives ./work, stacks, ended, figure, whole, all.
. "$HERE/lib.sh"

can_record
needs_bpf
# A compiler of one's own: frames must come from unwind tables.
${CC:-cc} -O2 -fomit-frame-pointer -D_GNU_SOURCE -o work "$HERE/bpf/work.c" -pthread || skip "no compiler"

# stacks MODE OPTIONS -- COMMAND...: records, and $T/states and $T/stacks are filled
stacks() {
	mode=$1
	shift
	timeout 600 "$SEAM" record -v -e cpu-clock --call-graph "dwarf,defer$mode" -o f.data "$@" 2>err
	"$SEAM" report --json f.data >f.json || fail "report"
	"$SEAM" script f.data >f.txt || fail "script"
	for key in samples immediate stitched record_lost still_in_kernel; do
		eval "n_$key=\$(python3 -c 'import json,sys; j=json.load(open(\"f.json\")); print(
			j[\"samples\"] if sys.argv[1]==\"samples\" else j[\"states\"].get(sys.argv[1],0))' $key)"
	done
}
# ended WHY: how many user stacks did
ended() { sed -n "s/.*user stacks ended:.* $1 \([0-9]*\).*/\1/p" err | grep . || echo 0; }
# in_file WHY: the same, as report reads it from the file
in_file() { python3 -c 'import json,sys; print(json.load(open("f.json"))["ends"][sys.argv[1]])' "$1"; }
# figure WORD: a count of the closing lines
figure() { sed -n "s/.* \([0-9]*\) $1.*/\1/p" err | head -n 1; }
# frames FUNCTION: the least and the most frames of a stack with FUNCTION; occurs FUNCTION OTHER: how often OTHER is in it
frames() {
	awk -v RS= -v f="$1" '$0 ~ "[ \t]" f "[+ ]" { n = split($0, l, "\n") - 1; for (i = 2; i <= n + 1; i++)
		if (l[i] ~ /\[kernel|^[ \t]*ffff/) k++; n -= k; k = 0
		if (!m || n < m) m = n; if (n > x) x = n } END { print m + 0, x + 0 }' f.txt
}
occurs() {
	awk -v RS= -v f="$1" -v o="$2" '$0 ~ "[ \t]" f "[+ ]" { n = gsub("[ \t]" o "[+ ]", "&"); if (!c++ || n < m) m = n; if (n > x) x = n }
		END { print m + 0, x + 0 }' f.txt
}
# whole FUNCTION ROOT: how many stacks with FUNCTION there are, and how many of them reach ROOT
whole() {
	awk -v RS= -v f="$1" -v r="$2" '$0 ~ "[ \t]" f "[+ ]" { n++; if ($0 ~ "[ \t]" r "[+ ]") w++ }
		END { print n + 0, w + 0 }' f.txt
}
# all WHAT FUNCTION ROOT LEAST: but for samples of the first moments, whose copy of the stack may be short
all() {
	counts=$(whole "$2" "$3")
	atleast "$1: stacks in $2" "$4" "${counts% *}"
	atleast "$1: of them whole" "$(((${counts% *} - $(figure 'walked by the recorder')) * 99 / 100))" "${counts#* }"
}

