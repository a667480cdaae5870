#!/bin/sh
# SPDX-License-Identifier: MIT
# Interpreters that a command will run are foreseen: their programs are in the kernel before it begins, so that a script of some ten
# milliseconds has its functions, too. Nothing is loaded for a command that runs none.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
command -v perl >/dev/null || skip "no perl"
perl=$(command -v perl)

# foresees N WHAT COMMAND...: for how many kinds of interpreters programs are loaded. The commands do not run the interpreter, so that
# whoever does not foresee it loads none.
foresees() {
	n=$1 what=$2
	shift 2
	record -vv -F 97 -e cpu-clock -o n.data -- "$@" >out
	same "$what" "$n" "$(grep -c 'verifier: runtime_sample' err)"
}

echo "# foreseen"
mkdir sub bin
printf '#!%s\n' "$perl" >x.pl
printf '#!/usr/bin/env perl\n' >env.pl
printf '#!/usr/bin/env -S X=1 perl -w\n' >split.pl
printf '#!/bin/sh\n[ $# = 0 ] || exit 0\n"$@"\n' >wrap
printf '#!/bin/sh\nexit 0\nperl x.pl\n' >runs
printf '#!/bin/sh\nexec "/nowhere/manager" exec perl "$@"\n' >bin/perl
printf 'PERL ?= perl\nall:\n\t@true\nother:\n\t$(PERL) x.pl\n' >sub/Makefile
chmod +x x.pl env.pl split.pl wrap runs bin/perl
ln -s "$perl" link
foresees 1 "a shell's text" sh -c 'exit 0; perl x.pl'
foresees 1 "by a link" sh -c 'exit 0; ./link x.pl'
foresees 1 "a script by its first line" sh -c 'exit 0; ./x.pl'
foresees 1 "by env" sh -c 'exit 0; ./env.pl'
foresees 1 "by env -S" sh -c 'exit 0; ./split.pl'
foresees 1 "a shell's script" ./runs
foresees 1 "a shell's script that is given to it" sh runs
foresees 1 "words of a wrapper" ./wrap perl x.pl
foresees 1 "behind env and timeout" env A=b timeout 5 sh -c 'exit 0; perl x.pl'
path=$PATH PATH=$T/bin:$PATH
foresees 1 "what a version manager stands before" perl x.pl
PATH=$path
if command -v make >/dev/null; then
	foresees 1 "a makefile" make -s -C sub
	foresees 1 "a makefile that is named" make -s -f sub/Makefile
fi

echo "# no interpreter"
foresees 0 "none" true
foresees 0 "words of another program" echo perl "$perl"
foresees 0 "words of a shell's command" sh -c 'echo perl; true # ; perl x.pl'
foresees 0 "not wanted" --no-runtimes sh -c 'exit 0; perl x.pl'
foresees 0 "not wanted, behind env" --no-runtimes env A=b timeout 5 sh -c 'exit 0; perl x.pl'

echo "# short scripts have their functions"
cat >short.pl <<'END'
sub leaf { my $v = 0; $v += $_ * $_ for 1 .. 2000; return $v }
sub middle { return leaf() }
my $end = (times)[0] + 0.06;
middle() while (times)[0] < $end;
END
cat >short.py <<'END'
import time
def leaf():
    return sum(i * i for i in range(2000))
def middle():
    return leaf()
end = time.process_time() + 0.06
while time.process_time() < end:
    middle()
END
# named PREFIX LOOP WHAT COMMAND...: samples within middle(), which are most of a script's, have their names, and no stack goes
# through the interpreter's loop without any, but for the first of a process: those are counted as late.
named() {
	prefix=$1 loop=$2 what=$3
	shift 3
	record -F 4999 -e cpu-clock -o s.data -- "$@"
	same "status of $what" 0 $status
	"$SEAM" script -i s.data 2>/dev/null | awk -v prefix=" $prefix" -v loop=" $loop[+]" '
		function done() {
			named += stack ~ prefix && stack ~ "middle:"
			nameless += stack ~ loop && stack !~ prefix
		}
		/^[^ \t]/ { done(); stack = ""; next }
		{ stack = stack "\n" $0 }
		END { done(); print named + 0, nameless + 0 }' >n
	read -r with without <n
	atleast "samples with names: $what" 20 "$with"
	atmost "stacks without: $what" $((with / 4)) "$without"
}
named pl:: Perl_runops_standard "perl by sh" sh -c "perl short.pl; true"
if [ -x /usr/bin/python3 ]; then
	named py:: _PyEval_EvalFrameDefault "python3 by sh" sh -c "/usr/bin/python3 short.py; true"
fi
done_testing
