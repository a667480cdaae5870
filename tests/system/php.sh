#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions of PHP in the stacks, against the chains that PHP itself noted at the same places: recursion, calls by way of C,
# methods, closures, generators, fibers, destructors, exceptions, files that are included, code that dies. Names, order and lines;
# how reports show them; structures that an enemy made.
# By hand: SEAM_PHP_TRUTH=0.14 is seconds of CPU time for each of 75 places, for 997 Hz and 4,000; SEAM_PHP another php.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
php=${SEAM_PHP:-$(command -v php8.2)} || php=
[ -n "$php" ] || fail "there is no php8.2: scripts/setup test"
program=$HERE/runtimes/chains_program.php

# truth HZ SECONDS
truth() {
	record --runtimes php -F "$1" -e cpu-clock -o f.data -- $php "$program" "$2" "$T/notes"
	same "status" 0 $status
	"$SEAM" script -F comm,tid,ip,sym,dso,srcline -i f.data 2>script.err >f.txt; same "script" 0 $?
	if python3 "$HERE/runtimes/chains_check.py" php:: notes 500 execute_ex <f.txt >said; then
		echo "ok: at $1 Hz: $(tail -n 1 said)"
	else
		fail "at $1 Hz: $(head -n 100 said; tail -n 1 said)"
	fi
}

if [ -n "${SEAM_PHP_TRUTH:-}" ]; then
	truth 997 "$SEAM_PHP_TRUTH"
	truth 4000 "$SEAM_PHP_TRUTH"
fi
truth 1999 0.02

echo "# the judge"
# shellcheck disable=SC2016 # a pattern
for spoil in 's/php::leaf_deep:/php::leaf_c:/' 's/php::Square::inherited:/php::Square::other:/' '/php::array_map /d' '/php::in_from:/d'; do
	sed "$spoil" f.txt >spoilt.txt
	if python3 "$HERE/runtimes/chains_check.py" php:: notes 500 execute_ex <spoilt.txt >said; then
		fail "the judge sees nothing: $spoil"
	else
		echo "ok: the judge sees $spoil"
	fi
done

echo "# lines, objects, the loop"
line=$(grep -n '^function deep' "$program" | cut -d : -f 1)
says f.txt 'php::deep:.*chains_program.php (\[php\])$'
same "no other line of that function" 0 "$(grep -A1 'php::deep:' f.txt | grep '^  ' | grep -cv "^  chains_program.php:$line\$")"
"$SEAM" export -f folded f.data -o folded.txt 2>/dev/null
"$SEAM" export -f folded --native f.data -o native.txt 2>/dev/null
same "no loop where its function is known" 0 "$(grep -c 'execute_ex;php::' folded.txt)"
atleast "loops with --native" 1 "$(grep -c 'execute_ex;php::' native.txt)"
same "the weights are the same" "$(awk '{ n += $NF } END { printf "%.0f", n }' folded.txt)" \
	"$(awk '{ n += $NF } END { printf "%.0f", n }' native.txt)"
"$SEAM" report -i f.data -s dso,sym --json >f.json 2>report.err; same "report" 0 $?
says f.json '\[php\]'
"$SEAM" annotate --source-dir "$HERE/runtimes" -i f.data -s work >work.txt 2>annotate.err; same "annotate" 0 $?
says work.txt 'for (\$i = 0; \$i < 2000; \$i++)'
"$SEAM" convert -i f.data -o c.data >convert.out 2>convert.err; same "convert" 0 $?
"$SEAM" script -F comm,tid,ip,sym,dso -i c.data 2>/dev/null >c.txt
if python3 "$HERE/runtimes/chains_check.py" php:: notes 500 execute_ex <c.txt >said; then
	echo "ok: converted: $(tail -n 1 said)"
else
	fail "converted: $(head -n 100 said; tail -n 1 said)"
fi
echo "# regular expressions, whose code nothing describes"
cat >pcre.php <<'END'
<?php
function p_leaf($s) { return preg_match('/(a+)+[bc]d{2,}(x|y)*$/', $s); }
function p_mid($s) { return array_sum(array_map('p_leaf', [$s, $s])); }
function p_cpu() { $u = getrusage(); return $u['ru_utime.tv_sec'] + $u['ru_utime.tv_usec'] / 1e6; }
function p_go($s) { for ($end = p_cpu() + 0.3; p_cpu() < $end;) for ($i = 0; $i < 20; $i++) p_mid($s); }
p_go(str_repeat('a', 18) . 'bdxxyq');
END
record --runtimes php -F 997 -e cpu-clock -o p.data -- $php pcre.php
same "status" 0 $status
"$SEAM" export -f folded -i p.data 2>/dev/null >p.txt
# Where a function is shown, its callers are, in order.
awk '/php::p_leaf/ { all += $NF; if (/php::p_go:[^;]*;.*php::p_mid:[^;]*;.*php::p_leaf/) good += $NF } END { printf "%d %d\n", all / 1e6, (all - good) / 1e6 }' p.txt >p.sum
read -r all bad <p.sum
atleast "milliseconds in a function that matches" 100 "$all"
same "of these without its callers" 0 "$bad"

echo "# code of the JIT, which runs in the frame of the loop's call"
cat >jit.php <<'END'
<?php
function j_leaf($n) { $s = $n; for ($i = 0; $i < 300; $i++) $s = ($s * 31 + $i) & 0xffff; return $s; }
function j_mid($n) { return array_sum(array_map('j_leaf', [$n, $n + 1])); }
function j_cpu() { $u = getrusage(); return $u['ru_utime.tv_sec'] + $u['ru_utime.tv_usec'] / 1e6; }
function j_go($n) { for ($end = j_cpu() + 0.4; j_cpu() < $end;) for ($i = 0; $i < 50; $i++) $n = j_mid($n); }
j_go(1);
END
# jit MODE: where the function is shown its callers are, by way of the C between them.
jit() {
	record --runtimes php -F 1999 -e cpu-clock -o j.data -- $php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M -d opcache.jit="$1" jit.php
	same "$1: status" 0 $status
	"$SEAM" export -f folded -i j.data 2>/dev/null >j.txt
	awk '/php::j_leaf/ { all += $NF; if (/;zend_execute;(.*;)?php::j_go:.*;php::j_mid:.*;zend_call_function;(.*;)?php::j_leaf:/) good += $NF } END { printf "%d %d\n", all / 1e6, (all - good) * 1000 / (all + !all) }' j.txt >j.sum
	read -r all bad <j.sum
	atleast "$1: milliseconds in a function" 100 "$all"
	atmost "$1: of 1000 stacks with it, without its callers" 5 "$bad"
}
if $php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M -d opcache.jit=tracing -r 'exit((int) !opcache_get_status()["jit"]["on"]);'; then
	jit tracing
	jit function
else
	fail "there is no JIT"
fi

record --no-runtimes -F 997 -e cpu-clock -o n.data -- $php -r 'for ($i = 0; $i < 5000000; $i++);'
"$SEAM" script -i n.data 2>/dev/null >n.txt
same "no function with --no-runtimes" 0 "$(grep -c 'php::' n.txt)"

echo "# hostile structures"
"${CC:-cc}" -O1 -rdynamic -o hostile "$HERE/runtimes/hostile_php.c" 2>cc.err || fail "$(cat cc.err)"
for case in good cycle long negative string type kernel class line nowhere waits deep letters; do
	record --runtimes php -F 997 -e cpu-clock -o h.data -- "$T/hostile" $case
	same "$case: status" 0 $status
	"$SEAM" script -i h.data 2>/dev/null >h.txt
	same "$case: no other name" 0 "$(grep 'php::' h.txt | grep -vc 'php::Made::\(good\|e\\nvil.*\):/made/good.php')"
	case $case in good | line) atleast "$case: its function" 1 "$(grep -c 'php::Made::good:' h.txt)" ;; esac
done
same "letters are escaped" 0 "$(grep -c "$(printf '\033')" h.txt)"
done_testing
