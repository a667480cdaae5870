# SPDX-License-Identifier: MIT
"""The cases: what a guest runs, and what must then be true. One row each.

In a guest's script, $record is the recorder with its event and its output file f.data, $bpf the same with
stacks walked by BPF ($bpf_always: each of them deferred), $auto the recorder that chooses by itself how it takes user
stacks, $grace its option for a long grace period, and the workloads are in $wl. Families are those of workloads/*.h: each
must be seen at least so often.
States are seam's, "0", ">0" or a number that they may not exceed ("<=3"); a state not named is 0,
except those of ANY. How many were stitched, and how many crossed an exec, the oracle counts exactly.
"""

from dataclasses import dataclass, field

# Kernel threads have no user half, a task on its way out answers at once, and every command is exec'd.
ANY = {"immediate", "stitched", "stitched_earlier", "kernel_only", "crossed_exec"}
# Ends of a stack walked by BPF that are right in any case; another is 0 but where a case says so. The first
# instructions of a program and of its libraries (_init) have no unwind information in any distribution.
ENDS = {"complete", "deferred", "no_user", "exec", "exited", "gone", "no_mapping", "no_rule"}

# asleep.sh PROCESSES TIMES: tells the sleepers of the file "children" to begin, and ends when so
# many of them have slept so often, which they did once before; or after a minute, if they will not.
ASLEEP = """cat >asleep.sh <<'END'
echo go >ctl
slept() { awk -v n=$2 '/^voluntary_ctxt/ && $2 >= n' $(sed 's,.*,/proc/&/status,' children) | wc -l; }
tries=0
until [ $(slept $1 $2) -ge $1 ] || [ $tries -gt 600 ]; do tries=$((tries + 1)); usleep 100000; done
END
while ! grep -q ready ready; do usleep 20000; done
tr ' ' '\\n' </proc/$sleepers/task/$sleepers/children | grep . >children
"""

# Sleepers begin when the recording runs, and end when the shell closes their input.
PARK = """mkfifo ctl
$wl/park 4 {ms} <ctl >ready & sleepers=$!
exec 3>ctl
""" + ASLEEP.replace("{", "{{").replace("}", "}}") + """
{record} -- sh asleep.sh 4 {times}
status=$?
exec 3>&-
wait
exit $status
"""
PARK_PIDS = '$record -p "$(pidof park | tr " " ,)"'

# A recording of what does not end goes on until so many bytes are written, however slow the guest is.
GROWN = "sh -c 'until [ \"$(stat -c %s f.data)\" -gt 400000 ]; do usleep 50000; done'"

# 32 tasks sleep for ever; their stacks, as the one recorder read them and as the kernel tells the other one when they die.
FOREVER = """mkfifo ctl
$wl/forever 32 <ctl >ready & sleepers=$!
exec 3>ctl
""" + ASLEEP + """
switches='-a -e sched:sched_switch --call-graph fp,defer'
$seam record $switches --grace 3000 -o own.data 3>&- & own=$!
until [ -s own.data ] && [ "$(stat -c %s own.data)" -gt 20000 ]; do usleep 50000; done
$seam record -v $switches -o f.data -- sh asleep.sh 32 2
status=$?
exec 3>&-
wait $sleepers
sleep 1
kill -INT $own
wait $own
exit $status
"""

# A recorder that has written something is ended by a signal, and the work goes on.
SIGNALLED = """$wl/deep 60 2 & work=$!
$record $grace -a & recorder=$!
until [ -e f.data ] && [ "$(stat -c %s f.data)" -gt 400000 ]; do usleep 50000; done
kill -{signal} $recorder
wait $recorder
kill -KILL $work
exit 0
"""


PYTHON = """cat >work.py <<'END'
import time
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
i = 0
while i < 12 or time.process_time() < 1: i += 1; fib(16); sorted({str(k): k for k in range(3000)})
END
$bpf -- /usr/bin/python3.11 -I -S -B work.py
"""

# Each interpreter's programs, those for time off the CPU too, are loaded by this kernel; their list is in the option's help.
KINDS = """list=$($seam record --help | awk '/--runtimes LIST/ { on = 1; next } / --/ { on = 0 } on' | tr ' ' '\\n' |
	sed -n 's/^\\(python\\|v8\\|hotspot\\|php\\|ruby\\|perl\\)$/\\1/p' | sort -u)
n=$(echo $list | wc -w)
[ $n -ge 4 ] || exit 92
"""

RUNTIMES = KINDS + """$seam record -vv -e cpu-clock -F 997 --off-cpu --runtimes $(echo $list | tr ' ' ,) -o f.data -- /bin/true 2>said || exit 91
grep 'verifier: r' said >&2
grep -q 'does not load' said && { cat said >&2; exit 90; }
for one in runtime_sample runtime_away; do
	[ $(grep -c "verifier: $one, [0-9]* instructions" said) = $n ] || exit 93
done
"""

# What sleeping tasks owe is read by the native programs, and by each kind's.
RUNTIMES_OWING = KINDS + """$bpf_always $grace -vv --runtimes $(echo $list | tr ' ' ,) -a -- $wl/work parked 40 2>said || { cat said >&2; exit 91; }
grep 'verifier: r' said >&2
grep -q 'cannot be read' said && { cat said >&2; exit 90; }
[ $(grep -c "verifier: read_owing, [0-9]* instructions" said) = $((n + 1)) ] || exit 93
"""

PERL = """cat >work.pl <<'END'
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
my $i = 0;
while ($i < 12 || (times)[0] < 1) { $i++; fib(16); my @a = sort { fib(3); $a <=> $b } map { $_ * 7 % 100 } 1 .. 100 }
END
$bpf --runtimes perl -- /usr/bin/perl work.pl
"""


# [uprobes] is where a watched function returns to.
RETURNS = {"returns_inner": ("returns_outer", 20), "[uprobes]": ("returns_outer", 5)}


@dataclass
class Case:
    name: str
    guest: str
    families: dict = field(default_factory=dict)
    states: dict = field(default_factory=dict)  # how many, or "in FUNCTION": all of them were taken in that one of the kernel's
    seconds: int = 120
    kernels: str = "defer"  # "defer", "old" or "all"
    peer: bool = True  # perf reads the file too
    complaint: str = ""  # what seam must say on standard error when it reads the file, with exit 3
    records: bool = True  # there is a file f.data
    uretprobes: int = 0  # so many samples at least have a trampoline in a caller's place, and that is said
    unwound: bool = False  # its stacks were unwound while recording, and are whole
    bpf: bool = False  # stacks are walked by BPF: the ends that the recorder counts are looked at
    ends: dict = field(default_factory=dict)  # of them, those not in ENDS
    ends_in: dict = field(default_factory=dict)  # the functions and objects of which all stacks have one that ended so
    says: str = ""  # a pattern: how stacks are taken, and why, on the recorder's standard error
    asleep: int = 0  # so many stacks at least were read of sleepers, and are those of own.data, which waited for them
    whole: dict = field(default_factory=dict)  # function or object: (its stacks reach this function, least stacks)


CASES = [
    Case("deep_command", "$record -- $wl/deep 1.5 2", {"zero": 50, "fault": 20, "spin": 1},
         {"stitched": ">0"}),
    Case("deep_pid", f"$wl/deep 60 2 & p=$!\nusleep 300000\n$record $grace -p $p -- {GROWN}\n"
                     "s=$?; kill -9 $p; exit $s",
         {"zero": 50, "fault": 20, "spin": 1}, {"stitched": ">0"}),
    Case("deep_all", "$record -a -- $wl/deep 1 2", {"zero": 50, "fault": 20, "spin": 1},
         {"stitched": ">0"}),
    Case("storm_command", "$record -- $wl/storm 60", {"zero": 100, "fault": 5, "make": 5},
         {"stitched": ">0"}),
    Case("storm_all", "$record -a -- $wl/storm 60", {"zero": 100, "fault": 5, "make": 5},
         {"stitched": ">0"}),
    Case("chain_command", "$record -- $wl/chain_alpha 30", {"zero": 20},
         {"stitched": ">0", "crossed_exec": ">0"}),
    Case("chain_all", "$record -a -- $wl/chain_alpha 30", {"zero": 20},
         {"stitched": ">0", "crossed_exec": ">0"}),
    Case("hop_command", "$record -- $wl/hop 2 4", {"zero": 5}, {"stitched": ">0"}),
    Case("hop_all", "$record -a -- $wl/hop 1 4", {"zero": 50}, {"stitched": ">0"}),
    # The kernel's own deferred stacks do not tell to where a watched function returns.
    Case("watched_command", "$record -- $wl/fp_work watched 2", {}, {"stitched": ">0"}, uretprobes=50),
    Case("ring_command", "$record -- $wl/ring 2", {"ring": 20},
         {"stitched": ">0", "stitched_earlier": ">0"}),
    # Asleep at the end: what their samples inside poll wait for cannot come, and is read of them where they sleep.
    Case("asleep_pid", PARK.format(ms=-1, times=2, record=PARK_PIDS), {"zero": 1, "wait": 4}, {"stitched": ">0"}),
    Case("asleep_all", PARK.format(ms=-1, times=2, record="$record -a"), {"zero": 1, "wait": 4}, {"stitched": ">0"}),
    # Sleepers of four kinds, with a sample each at the switch to their sleep. What was read of them is what the kernel answers
    # to another recording, which waits until they are killed.
    Case("asleep_switch", FOREVER, {"futex": 8, "epoll": 8, "pipe": 8, "nap": 8}, {"stitched": ">0"}, asleep=32),
    # A program that is not ours, with processes of its own and no frame pointers.
    Case("gcc_command", "$record -- gcc -O2 -c -o /tmp/x.o $wl/storm.i", {}, {"stitched": ">0"}),
    # The readers where the recording was made: there the kernel's names are known too.
    Case("read_in_guest", "$record -- $wl/deep 1 1\n$seam script -i f.data >script &&\n"
                          "grep -q zero_leaf script && grep -q __x64_sys_pread64 script &&\n"
                          "$seam report --stdio -i f.data >report && grep -q zero_leaf report",
         {"zero": 20}, {"stitched": ">0"}),
    # The recorder ends by a signal: by SIGTERM with a whole file, by SIGKILL with what was flushed.
    Case("terminated_all", SIGNALLED.format(signal="TERM"),
         {"zero": 20}, {"stitched": ">0"}),
    Case("killed_all", SIGNALLED.format(signal="KILL"),
         {"zero": 20}, {"stitched": ">0", "still_in_kernel": "<=60", "record_lost": "<=60"},
         peer=False, complaint="the recorder did not finish"),
    Case("check", "$seam check\n$seam check --json >check.json\ntrue", kernels="all",
         records=False, peer=False),
    # Sleepers that come back within 20 ms and their turn on a CPU: the grace period loses none of them.
    # It is long here, because the emulation of a busy host gives a guest its turns late.
    Case("return_pid", PARK.format(ms=20, times=12, record=PARK_PIDS.replace("$record", "$record $grace")),
         {"zero": 5, "wait": 50},
         {"stitched": ">0"}),
    Case("return_all", PARK.format(ms=20, times=12, record="$record $grace -a"), {"zero": 5, "wait": 50},
         {"stitched": ">0"}),
    # Time off the CPU, by BPF: all periods of the workload's threads together are its life.
    # A thread that waited within the system call by which it ends owes a stack that it cannot give.
    Case("wall", "$seam record -vv --wall -F 500 -o f.data -- $wl/deep 1 2", {"zero": 5},
         {"exited": "<=2"}, kernels="all", peer=False),
    # A kernel that does not defer: the same request gives immediate frame pointers (by BPF), and says so.
    Case("fallback_command", "$record -- $wl/deep 1.5 2", {"zero": 50, "fault": 20, "spin": 1},
         {"immediate": ">0", "stitched": "0"}, kernels="old",
         says="frame pointers, walked in the kernel by BPF at once; .* no task work for BPF programs"),
    Case("fallback_all", "$record -a -- $wl/storm 30", {"zero": 50},
         {"immediate": ">0", "stitched": "0"}, kernels="old",
         says="frame pointers, walked in the kernel by BPF at once; .* no task work for BPF programs"),
    # Asked for nothing there, it walks stacks by BPF at once; asked for copies, it unwinds them while recording: whole without frame
    # pointers.
    Case("auto_command", "$auto -v -- $wl/bare_deep 1.5 2", {"zero": 20, "fault": 20},
         {"immediate": ">0", "stitched": "<=10"}, kernels="old", bpf=True, ends={"fault": "<=5"},
         whole={"zero_leaf": ("clone3", 20), "fault_leaf": ("clone3", 20)},
         says="unwind tables, walked in the kernel by BPF at once; .* no task work for BPF programs"),
    Case("copies_command", "$auto --call-graph dwarf -- $wl/bare_deep 1.5 2", {"zero": 20, "fault": 20},
         {"immediate": ">0", "stitched": "0"}, kernels="old", unwound=True, says="unwound while recording"),
    Case("copies_pid", f"$wl/bare_deep 60 2 & p=$!\nusleep 300000\n$auto --call-graph dwarf -p $p -- {GROWN}\n"
                     "s=$?; kill -9 $p; exit $s",
         {"zero": 20, "fault": 20}, {"immediate": ">0", "stitched": "0"}, kernels="old", unwound=True,
         says="unwound while recording"),
    # One BPF object for all kernels. Whole chains with and without frame pointers, and why a stack ended: with
    # deferral never because a page was not there.
    Case("bpf_deep", "$bpf -- $wl/deep 2 2", {"zero": 5, "fault": 5}, kernels="defer", bpf=True),
    # What cannot be deferred ends where a page is not there, which is rare and must be said.
    Case("bpf_deep_at_once", "$bpf -- $wl/deep 2 2", {"zero": 5, "fault": 5}, kernels="old", bpf=True,
         ends={"fault": "<=5"}),
    Case("bpf_chain", "$bpf -- $wl/chain_alpha 30", {"zero": 5}, kernels="all", bpf=True,
         ends={"fault": "<=5"}),
    Case("bpf_storm_all", "$bpf -a -- $wl/storm 30", {"zero": 20, "make": 2}, kernels="defer", bpf=True),
    # Of a task that was asked in the system call by which it ends the memory is gone.
    Case("bpf_hop_always", "$bpf_always -- $wl/hop 2 4", {"zero": 5},
         {"stitched": ">0", "exited": "<=9"}, bpf=True),
    Case("bpf_asleep", PARK.format(ms=-1, times=2, record="$bpf -a"), {"zero": 1}, bpf=True),
    Case("bpf_python", PYTHON.replace("$bpf --", "$bpf --no-python --"), kernels="all", bpf=True, whole={"_PyEval_EvalFrameDefault": ("_start", 50)}),
    Case("bpf_frames_of_python", PYTHON.replace("$bpf --", "$bpf --python --"), kernels="all", bpf=True,
         whole={"[python]": ("_start", 50)}),
    Case("bpf_frames_of_perl", PERL, kernels="all", bpf=True, whole={"[perl]": ("_start", 50)}),
    # A HotSpot whose memory is an enemy's: its walk loads, and finds nothing.
    Case("bpf_runtimes", RUNTIMES, kernels="all", records=False, peer=False, seconds=300),
    Case("bpf_runtimes_owing", RUNTIMES_OWING, records=False, peer=False, seconds=300),
    Case("bpf_fake_of_hotspot", "$bpf --runtimes hotspot -- $wl/fake_hotspot 2 2>said; s=$?; cat said >&2; grep -q 'does not load' said && exit 9; exit $s",
         kernels="all", bpf=True, whole={"main": ("_start", 50)}),
    Case("bpf_pages", "$bpf -- $wl/work pages 2", {}, {"stitched": ">0"}, bpf=True,
         whole={"pages_leaf": ("pages_thread", 20)}),
    # Without deferral a stack ends at the page that was dropped, and says so.
    Case("bpf_pages_at_once", "$bpf -- $wl/work pages 2", {}, {"immediate": ">0"}, kernels="old", bpf=True,
         ends={"fault": ">0"}),
    Case("bpf_signals", "$bpf -- $wl/work signals 2", kernels="all", bpf=True,
         whole={"signals_work": ("_start", 20), "signals_descend": ("_start", 20)}),
    # A task that is deferred in do_exit, before the kernel says that it exits, does not return.
    Case("bpf_sleepers", "$bpf_always $grace -a -- $wl/work parked 40", {}, {"stitched": ">0", "exited": "in do_exit"}, bpf=True,
         whole={"asleep_poll": ("asleep_thread", 40)}),
    # Between the kernel's replacing of a return address and its noting of what stood there it cannot be known at once:
    # where nothing can be deferred the stack ends there.
    Case("bpf_watched", "$bpf -- $wl/work watched 2", kernels="all", bpf=True, ends={"watched": "<=50"},
         whole={"watched_leaf": ("main", 20)}),
    # In the midst of a return, too, the caller is the one that is returned to.
    # Its one task ends in a watched function: what is sampled in _exit, when the kernel has freed its list of addresses, is cut there and says
    # so. So is what is sampled when a return's address is off that list, and the kernel has not written it to the stack yet (_copy_to_user
    # in the system call uretprobe).
    Case("bpf_returns", "$bpf -- $wl/work returns 2", kernels="defer", bpf=True, ends={"watched": "<=3"},
         ends_in={"watched": ("_exit", "[uprobes]")}, whole=RETURNS),
    Case("bpf_returns_at_once", "$bpf -- $wl/work returns 2", kernels="old", bpf=True, ends={"watched": "<=100"},
         whole=RETURNS),
    # The same; and it may be asked in the system call by which it ends, as in bpf_hop_always.
    Case("bpf_returns_always", "$bpf_always -- $wl/work returns 2", {}, {"stitched": ">0", "exited": "<=1"}, bpf=True,
         ends={"watched": "<=3"}, ends_in={"watched": ("_exit", "[uprobes]")}, whole=RETURNS),
    Case("bpf_registers", "$bpf -- $wl/work registers 1", kernels="all", bpf=True,
         whole={"registers_leaf": ("main", 20)}),
    # Somebody else's program has the CPU nearly all the time: what the kernel skips is counted, and the peer complains of it. 7.3 skips
    # nothing: it takes samples inside of such a program.
    Case("bpf_skipped", "$bpf -- $wl/work nested 2 2>said; s=$?; cat said >&2\n"
                        "grep -q 'samples skipped by the kernel' said && exit $s; exit 90", kernels="old", bpf=True, peer=False),
    Case("bpf_churn", "$bpf -- $wl/work churn 40", kernels="all", bpf=True, ends={"fault": "<=5"},
         whole={"churn_child": ("main", 5)}),
]
