#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions of Perl in the stacks, against the chains that Perl itself noted at the same places: recursion, calls by way of C (sort,
# List::Util, overloading, ties, regular expressions, destructors), evals of blocks, texts and files, exceptions, closures, names,
# code that dies, threads. Names, order and lines; how reports show them; structures that an enemy made.
# By hand: SEAM_PERL_TRUTH=0.12 is seconds of CPU time for each of 92 places, for 997 Hz and 4,000; SEAM_PERL another perl.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
perl=${SEAM_PERL:-/usr/bin/perl}
$perl -Mthreads -e 1 || fail "there is no perl with threads: scripts/setup test"
program=$HERE/runtimes/chains_program.pl

# truth HZ SECONDS
truth() {
	# shellcheck disable=SC2086 # words
	record --runtimes perl -F "$1" -e cpu-clock -o f.data -- $perl "$program" "$2" "$T/notes"
	same "status" 0 $status
	"$SEAM" script -F comm,tid,ip,sym,dso,srcline -i f.data 2>script.err >f.txt; same "script" 0 $?
	if python3 "$HERE/runtimes/chains_check.py" pl:: notes 500 Perl_runops_standard <f.txt >said; then
		echo "ok: at $1 Hz: $(tail -n 1 said)"
	else
		fail "at $1 Hz: $(head -n 100 said; tail -n 1 said)"
	fi
}

if [ -n "${SEAM_PERL_TRUTH:-}" ]; then
	truth 997 "$SEAM_PERL_TRUTH"
	truth 4000 "$SEAM_PERL_TRUTH"
fi
truth 1999 0.02

echo "# the judge"
for spoil in 's/pl::main::leaf_deep:/pl::main::leaf_first:/' 's/pl::Shape::area:/pl::Shape::other:/' '/pl::main::__ANON__:/d' '/pl::(eval):/d'; do
	sed "$spoil" f.txt >spoilt.txt
	if python3 "$HERE/runtimes/chains_check.py" pl:: notes 500 Perl_runops_standard <spoilt.txt >said; then
		fail "the judge sees nothing: $spoil"
	else
		echo "ok: the judge sees $spoil"
	fi
done

echo "# lines, objects, the loop"
line=$(grep -n '^sub deep' "$program" | cut -d : -f 1)
says f.txt 'pl::main::deep:.*chains_program.pl (\[perl\])$'
same "no other line of that function" 0 "$(grep -A1 'pl::main::deep:' f.txt | grep '^  ' | grep -cv "^  chains_program.pl:$line\$")"
"$SEAM" export -f folded f.data -o folded.txt 2>/dev/null
"$SEAM" export -f folded --native f.data -o native.txt 2>/dev/null
same "no loop where its function is known" 0 "$(grep -c 'perl_run;Perl_runops_standard;pl::' folded.txt)"
atleast "loops with --native" 1 "$(grep -c 'perl_run;Perl_runops_standard;pl::' native.txt)"
says folded.txt 'pl::main::sort_sub:[^;]*;Perl_pp_sort;[^;]*;[^;]*;pl::main::order:'
same "the weights are the same" "$(awk '{ n += $NF } END { printf "%.0f", n }' folded.txt)" \
	"$(awk '{ n += $NF } END { printf "%.0f", n }' native.txt)"
"$SEAM" report -i f.data -s dso,sym --json >f.json 2>report.err; same "report" 0 $?
says f.json '\[perl\]'
"$SEAM" annotate --source-dir "$HERE/runtimes" -i f.data -s main::work >work.txt 2>annotate.err; same "annotate" 0 $?
says work.txt '0x7fffffff;'
# shellcheck disable=SC2016 # Perl's
record --no-runtimes -F 997 -e cpu-clock -o n.data -- /usr/bin/perl -e '$x++ for 1 .. 5e6'
"$SEAM" script -i n.data 2>/dev/null >n.txt
same "no function with --no-runtimes" 0 "$(grep -c 'pl::' n.txt)"

echo "# where the loader runs"
# shellcheck disable=SC2086 # words
starts_whole perl $perl -e 0

echo "# libraries that are new: the recorder walks these stacks"
cat >new.pl <<'END'
use DynaLoader;
use List::Util qw(first);
sub inner { my $f = shift; &$f(); return 1 }
sub order { my $f = shift; my @s = sort { inner($f) if $a == 1 && $b == 2; $a <=> $b } (1, 2); return 1 }
sub outer { my $f = shift; first { order($f) } (1) }
for my $file (@ARGV) {
	my $library = DynaLoader::dl_load_file($file, 0) or die DynaLoader::dl_error();
	my $f = DynaLoader::dl_install_xsub("New::$file", DynaLoader::dl_find_symbol($library, "new_library"));
	eval { outer($f) };
}
END
for i in $(seq 60); do
	"${CC:-cc}" -O2 -fomit-frame-pointer -shared -fPIC -DPAD="\"$((i * 16))\"" -o new$i.so "$HERE/runtimes/new_library.c" 2>cc.err || fail "$(cat cc.err)"
done
# shellcheck disable=SC2046,SC2086 # words
record -v --runtimes perl -F 1997 -e cpu-clock -o l.data -- $perl new.pl $(printf './new%d.so ' $(seq 60))
"$SEAM" script -F comm,ip,sym -i l.data 2>/dev/null >l.txt
read -r stacks whole other <<-END
	$(awk -v RS= '/ new_library_work/ { n++; at = 0; order = ""
		for (i = split($0, l, "\n"); i; i--) if (l[i] ~ / pl::main::[a-z]+:/) { sub(/.* pl::main::/, "", l[i]); order = order l[i]; sub(/:.*/, " ", order) }
		if (order == "outer __ANON__ order inner " || order == "outer order inner ") w++; else if (order != "") o++ } END { print n + 0, w + 0, o + 0 }' l.txt)
END
atleast "new libraries: walked by the recorder" 1 "$(sed -n 's/.* \([0-9]*\) walked by the recorder.*/\1/p' err | head -n 1)"
atleast "new libraries: whole stacks of $stacks" $((stacks * 95 / 100)) "$whole"
same "new libraries: other chains" 0 "$other"

echo "# hostile structures"
"${CC:-cc}" -O1 -rdynamic -o hostile "$HERE/runtimes/hostile_perl.c" 2>cc.err || fail "$(cat cc.err)"
record --runtimes perl -F 997 -e cpu-clock -o h.data -- "$T/hostile"
same "status" 0 $status
"$SEAM" script -F comm,ip,sym -i h.data 2>/dev/null >h.txt
same "no other name" 0 "$(grep 'pl::' h.txt | grep -v 'pl::(main):\(/made/good.pl\|x*\.\.\.\)' | grep -vc 'pl::Made::\(good:/made/good.pl\|e\\nvil.*:/made/good.pl\|good:x*\.\.\.\)')"
for case in good line; do
	atleast "$case: its function" 1 "$(awk -v "of=$case" '/^[^\t ]/ { mine = $1 == of } mine && /pl::Made::good:/' h.txt | wc -l)"
done
for case in cycle stacks outside long negative code glob effective kernel package nowhere jumps other deep calls; do
	same "$case: none" 0 "$(awk -v "of=$case" '/^[^\t ]/ { mine = $1 == of } mine && /pl::/' h.txt | wc -l)"
done
same "letters are escaped" 0 "$(grep -c "$(printf '\033')" h.txt)"
done_testing
