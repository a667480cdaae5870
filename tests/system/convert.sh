# SPDX-License-Identifier: MIT
# convert.sh: a converted recording, read by the perf of this machine, which need not know deferral:
# the same stacks as seam shows of the original, word by word.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
data=$here/../data
command -v perf >/dev/null 2>&1 || skip "perf is not installed"
command -v python3 >/dev/null 2>&1 || skip "python3 is not installed"
perf --version >/dev/null 2>&1 || skip "perf does not run"

# convert NAME [OPTION...]: $T/NAME.classic from the recording tests/data/NAME
convert() {
	name=$1
	shift
	"$SEAM" convert "$data/$name/perf.data" -q -o "$name.classic" "$@" 2>err
	status=$?
}

# How many callchains of the recording NAME seam ends in front of a word of data; the converted file has them as they were recorded.
cut() {
	name=$1
	shift
	"$SEAM" report --json --symfs /nonexistent "$@" -i "$data/$name/perf.data" 2>/dev/null |
		sed -n 's/.*"ended_at_data": *\([0-9]*\).*/\1/p' | head -n 1
}

# stacks NAME FILE [FILTER...]: perf's raw chains in FILE against seam's of the recording NAME
stacks() {
	name=$1 file=$2
	shift 2
	"$SEAM" script --symfs /nonexistent --ns -F pid,tid,time,ip "$@" \
		-i "$data/$name/perf.data" >seam.txt 2>/dev/null
	perf script -D -i "$file" >perf.txt 2>perf.err </dev/null
	if python3 "$here/convert_stacks.py" --cut "$(cut $name "$@")" seam.txt perf.txt >said 2>&1; then
		echo "ok: $name: $(cat said)"
	else
		fail "$name: $(cat said)"
	fi
	if grep -iE 'error|fail|incompatible|unexpected|unknown|invalid' perf.err; then
		fail "perf complains about $name"
	fi
}

for name in attach_p exec_chain gcc_d hackbench_d kill9_z multi_group park_switch pipe_z regs \
	sysshort_d uonly z_single; do
	convert $name
	expected=0
	[ $name != kill9_z ] || expected=3
	same "exit status for $name" $expected $status
	stacks $name $name.classic
	same "no deferred records in $name" 0 "$(count $name.classic CALLCHAIN_DEFERRED)"
	same "no marker or cookie in $name" 0 \
		"$("$SEAM" dump $name.classic 2>/dev/null | grep -c fffffffffffffd80)"
	same "no bits of deferral in $name" 0 \
		"$("$SEAM" evlist -v $name.classic | grep -c defer)"
done

# What a person sees: perf script's own text.
for name in gcc_d exec_chain; do
	"$SEAM" script --symfs /nonexistent --ns -F pid,tid,time,ip -i "$data/$name/perf.data" >seam.txt
	perf script --ns -F pid,tid,time,ip --no-inline --max-stack 2000 -i $name.classic \
		>perf.txt 2>perf.err </dev/null
	if python3 "$here/convert_stacks.py" --text --cut "$(cut $name)" seam.txt perf.txt >said 2>&1; then
		echo "ok: perf script $name: $(cat said)"
	else
		fail "perf script $name: $(cat said)"
	fi
done

# The other forms of input and output.
convert gcc_d -z
same "exit status with -z" 0 $status
same "compressed as perf 5.2 reads it" 0 "$("$SEAM" stat gcc_d.classic | grep -c COMPRESSED2)"
if perf version --build-options 2>/dev/null | grep -q 'zstd: \[ on'; then
	stacks gcc_d gcc_d.classic
else
	echo "no judge for -z: this perf has no zstd"
fi
"$SEAM" convert -q -i - -o - <"$data/gcc_d/perf.data" >piped.classic 2>err
same "exit status through pipes" 0 $?
stacks gcc_d piped.classic
perf script -D -i - <piped.classic >perf.txt 2>perf.err
"$SEAM" script --symfs /nonexistent --ns -F pid,tid,time,ip -i "$data/gcc_d/perf.data" >seam.txt
python3 "$here/convert_stacks.py" --cut "$(cut gcc_d)" seam.txt perf.txt || fail "perf reading the stream from a pipe"

# Filters: the same samples as script's.
convert gcc_d --comm cc1
stacks gcc_d gcc_d.classic --comms cc1
times=$("$SEAM" script --ns -F time,ip "$data/gcc_d/perf.data" --symfs /nonexistent |
	awk '/^ *[0-9]+\.[0-9]+:/ { gsub(/[ :]/, ""); t[n++] = $0 }
	END { print t[int(n / 4)] "," t[int(n / 2)] }')
convert gcc_d --time "$times"
atleast "samples in $times" 1 "$(samples gcc_d.classic)"
same "samples in $times" "$("$SEAM" script --ns -F time,ip "$data/gcc_d/perf.data" --symfs /nonexistent |
	awk -v from="${times%,*}" -v to="${times#*,}" '/^ *[0-9]+\.[0-9]+:/ {
		gsub(/[ :]/, ""); if ($0 "" >= from "" && $0 "" <= to "") n++ } END { print n + 0 }')" \
	"$(samples gcc_d.classic)"

# Stack copies become chains: every frame that is sure, and no copy.
# perf 6.1 sometimes dies of a file that it recorded itself (an assertion in build-id.c): another one, then.
copies=
for try in 1 2 3 4 5; do
	perf record -B -N -q -e cpu-clock -F 499 --call-graph dwarf -o dwarf.data -- sh -c "$BUSY" >/dev/null 2>&1 || break
	perf script -D -i dwarf.data >/dev/null 2>&1 </dev/null && copies=1 && break
done
if [ "$copies" ]; then
	"$SEAM" convert -q dwarf.data -o dwarf.classic 2>/dev/null
	"$SEAM" evlist -v dwarf.classic >evlist
	same "no stack copies" 0 "$(grep -c STACK_USER evlist)"
	same "samples of stack copies" "$(samples dwarf.data)" "$(samples dwarf.classic)"
	"$SEAM" script --symfs /nonexistent --ns -F pid,tid,time,ip dwarf.classic >seam.txt 2>/dev/null
	perf script -D -i dwarf.classic >perf.txt 2>/dev/null </dev/null
	python3 "$here/convert_stacks.py" seam.txt perf.txt || fail "perf on unwound stacks"
	atleast "frames of unwound stacks" "$(samples dwarf.data)" "$(grep -c '^[[:space:]]' seam.txt)"
	"$SEAM" convert -q --keep-raw dwarf.data -o dwarf.raw 2>/dev/null
	atleast "kept stack copies" 1 "$("$SEAM" evlist -v dwarf.raw | grep -c STACK_USER)"
else
	echo "no stack copies: perf cannot record them here, or read what it recorded"
fi

# A classic recording is left as it is, but for order.
convert gcc_d
"$SEAM" convert -q gcc_d.classic -o twice.classic 2>err
same "exit status of a second conversion" 0 $?
"$SEAM" dump gcc_d.classic | sed -E 's/0x[0-9a-f]+ \[/[/; s/@.*//' | grep -v '^\. ' >once.txt
"$SEAM" dump twice.classic | sed -E 's/0x[0-9a-f]+ \[/[/; s/@.*//' | grep -v '^\. ' >twice.txt
cmp once.txt twice.txt || fail "a second conversion changes records"

"$SEAM" convert -q gcc_d.classic -o gcc_d.classic 2>err
same "the input is not overwritten" 2 $?
"$SEAM" convert -q "$data/gcc_d/perf.data" >unnamed.classic 2>err
same "without a name, to standard output" 0 $?
same "the same as to -" "$(cksum <piped.classic)" "$(cksum <unnamed.classic)"
done_testing
