# SPDX-License-Identifier: MIT
# top.sh: a real program in plain mode: its hot function leads, stacks are whole, the tables come at the
# asked number; user stacks are taken the way that seam record takes them, and it is said which; what ends by itself ends top; a terminal is given back as it was.
. "$(dirname "$0")/lib.sh"
can_record || skip "no samples can be recorded here"
command -v cc >/dev/null || skip "there is no C compiler"

cat >hot.c <<'C'
#include "work.h"
static volatile unsigned sink;
__attribute__((noinline)) void leaf_function(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 3u + i;
}
__attribute__((noinline)) void middle_function(unsigned n)
{
	leaf_function(n);
	sink++;
}
int main(int argc, char **argv)
{
	for (uint64_t end = work_until(atof(argv[1])); work_goes_on(end);)
		middle_function(work_loops(1000000));
	return 0;
}
C
cc -g -O1 -fno-optimize-sibling-calls -o hot hot.c || skip "the C compiler makes no program"

# A process that runs already, three refreshes.
./hot 3600000 &
pid=$!
timeout 300 "$SEAM" top --stdio -d 2 -n 3 -p "$pid" --children -s sym >out 2>err | cat
kill "$pid"
wait "$pid" 2>/dev/null
same "tables" 3 "$(grep -c '^seam top: ' out)"
says out 'samples in .* with whole stacks'
same "self of the leaf leads once per table" 3 "$(grep -c ' leaf_function$' out)"
# middle_function has hardly any self: it is seen only when stacks are whole.
same "callers are seen" 3 "$(awk '$NF == "middle_function" && $1 + 0 > 90 && $2 + 0 < 10' out | grep -c .)"
grep -q "$(printf '\033')" out && fail "escape sequences in a pipe"

# The way of taking user stacks is the recorder's, and each table says which: as by default, so as asked. Without frame pointers, callers
# are seen only by unwind tables; of a process that was named there are no strangers.
cc -g -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o nofp hot.c
way() { sed -n 's/^seam record: \(user stacks: .*\)/\1/p' err; }
for mode in "" dwarf,defer dwarf,defer=never fp,defer fp dwarf; do
	"$SEAM" record ${mode:+--call-graph $mode} -o way.data -- true >/dev/null 2>err
	asked=$(way)
	[ -n "$asked" ] || fail "seam record $mode says no way"
	./nofp 3600000 &
	pid=$!
	timeout 300 "$SEAM" top --stdio -d 1 -n 2 -p "$pid" ${mode:+--call-graph $mode} --children -s comm,sym >out 2>err
	same "top $mode" 0 $?
	kill "$pid"
	wait "$pid" 2>/dev/null
	same "way of $mode, once per table" 2 "$(grep -cF "$asked" out)"
	same "nobody else" 0 "$(grep -E '^ +[0-9.]+% +[0-9.]+% ' out | grep -vc ' nofp ')"
	case $asked in
	*"unwind tables"* | *copies*) same "callers without frame pointers, $mode, in each table with samples" "$(grep -c '^seam top: [1-9]' out)" "$(awk '$NF == "main" && $1 + 0 > 90' out | grep -c .)" ;;
	esac
done
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	# Who may not load BPF programs is told so in each table, too: a terminal's screen is cleared.
	cp "$SEAM" seam && chmod 755 seam nofp "$T"
	nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
	$nobody ./seam record -e cpu-clock:u -o /dev/null -- true 2>err
	why=$(sed -n 's/.*user stacks are \(not walked in the kernel by BPF: .*\)/\1/p' err)
	[ -n "$why" ] || fail "BPF was allowed to nobody"
	timeout 300 $nobody ./seam top --stdio -d 30 -e cpu-clock:u -- ./nofp 500 >out 2>err
	same "without capabilities" 0 $?
	same "why not by BPF" 1 "$(grep -cF "; $why" out)"
	says err "user stacks are not walked in the kernel by BPF"
fi

# A command: top ends with it, and shows the rest.
timeout 300 "$SEAM" top -d 30 -s dso,sym -- ./hot 500 >out 2>err
same "a command that ends" 0 $?
same "one table for what is left" 1 "$(grep -c '^seam top: ' out)"
says out 'hot *\[\.\] leaf_function'

# Stopped from outside.
./hot 3600000 &
pid=$!
"$SEAM" top --stdio -d 1 -p "$pid" >out 2>err &
top=$!
two() { [ "$(grep -c '^seam top: ' out)" -ge 2 ]; }
until_true "two tables" two
kill -INT $top
wait $top
kill "$pid"
wait "$pid" 2>/dev/null
atleast "tables until it was stopped" 2 "$(grep -c '^seam top: ' out)"

# The names of a file are read once, and not for each table.
cat >names.s <<'S'
	.macro name_it
name_number_\@:
	nop
	.endm
	.text
	.rept 200000
	name_it
	.endr
	.section .note.GNU-stack,"",@progbits
S
cc -g -O1 -o names hot.c names.s
./names 3600000 &
pid=$!
"$SEAM" top --stdio -d 0.5 -p "$pid" >out 2>err &
top=$!
tables() { [ "$(grep -c '^seam top: ' out)" -ge "$1" ]; }
bytes_read() { sed -n 's/^rchar: //p' "/proc/$top/io"; }
until_true "three tables" tables 3
before=$(bytes_read)
until_true "eight tables" tables 8
after=$(bytes_read)
kill -INT $top
wait $top
kill "$pid"
wait "$pid" 2>/dev/null
atleast "names in the file" 200000 "$(nm names | grep -c name_number_)"
atmost "bytes that five tables read, and the file has" "$(wc -c <names)" "$((after - before))"
says out 'names *\[\.\] leaf_function'

# On a terminal, ended in the middle: by SIGQUIT, and by a second SIGINT while the first cannot be answered, for the terminal was stopped.
./hot 3600000 &
pid=$!
cat >terminal.py <<'PY'
import os, pty, resource, signal, subprocess, sys, termios, time
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
seam, pid, how = sys.argv[1:]
os.environ["TERM"] = "xterm-256color"
ours, its = pty.openpty()
before = termios.tcgetattr(its)
top = subprocess.Popen([seam, "top", "-d", "1", "-p", pid], stdin=its, stdout=its, start_new_session=True)
shown = b""
while b"functions" not in shown:
    shown += os.read(ours, 65536)
if termios.tcgetattr(its) == before:
    sys.exit("the terminal was never taken")
if how == "quit":
    top.send_signal(signal.SIGQUIT)
else:
    termios.tcflow(its, termios.TCOOFF)
    while open(f"/proc/{top.pid}/syscall").read().split()[:2] not in (["1", "0x1"], ["64", "0x1"]):  # write(2) to it, which waits
        time.sleep(0.1)
    top.send_signal(signal.SIGINT)
    while any(line.split()[1].strip("0") for line in open(f"/proc/{top.pid}/status") if line.startswith(("SigPnd", "ShdPnd"))):
        time.sleep(0.1) # two that wait are one
    time.sleep(0.5)
    top.send_signal(signal.SIGINT)
os.set_blocking(ours, False)
ended = False
while not ended:
    ended = top.poll() is not None  # asked first: what it wrote until then is read below
    try:
        while True:
            shown += os.read(ours, 65536)
    except BlockingIOError:
        time.sleep(0.1)
back = termios.tcgetattr(its) == before
if how == "quit":
    back = back and b"\033[?1049l" in shown[-40:]  # the screen is what it was before
print(top.returncode, "given back" if back else "not given back")
PY
same "SIGQUIT" "-3 given back" "$(timeout 300 python3 terminal.py "$SEAM" "$pid" quit)"
same "SIGINT twice" "130 given back" "$(timeout 300 python3 terminal.py "$SEAM" "$pid" twice)"
kill "$pid"
wait "$pid" 2>/dev/null

"$SEAM" top -d nonsense >out 2>err
same "usage" 2 $?
"$SEAM" top -s srcline >out 2>err
same "a sort key that top does not have" 2 $?
done_testing
