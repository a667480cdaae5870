# SPDX-License-Identifier: MIT
# The view and the terminal itself: signals and a terminal that goes away give it back, a key costs
# little on a slow line, and each kind of terminal is served.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"

can_record || skip "no samples can be recorded here"
"$SEAM" record -q -F 499 -o one.data -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done' 2>err || fail "$(cat err)"
cat >terminal.py <<'PY'
import fcntl, os, pty, resource, select, signal, struct, subprocess, sys, termios, time
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
seam, how, term = sys.argv[1:4]
os.environ["TERM"] = term
os.environ["LC_ALL"] = "C.UTF-8"
ours, its = pty.openpty()
fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
before = termios.tcgetattr(its)

def start():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

view = subprocess.Popen([seam, "report", "-i", "one.data"], stdin=its, stdout=its, stderr=its, preexec_fn=start)
shown = b""

def read_until(text):
    global shown
    while text not in shown:
        if not select.select([ours], [], [], 120)[0]:
            sys.exit(f"no {text} in {shown[-300:]}")
        shown += os.read(ours, 65536)

def quiet():  # what is drawn has been drawn
    global shown
    n = 0
    while select.select([ours], [], [], 0.5)[0]:
        part = os.read(ours, 65536)
        n += len(part)
        shown += part
    return n

def cooked():
    return bool(termios.tcgetattr(its)[3] & termios.ICANON)

read_until(b"help")
if cooked():
    sys.exit("the terminal was never taken")
if how == "key":
    read_until(b"[.]")  # rows
    first = len(shown) + quiet()
    os.write(ours, b"5")
    quiet()
    os.write(ours, b"1")
    quiet()
    os.write(ours, b"j")
    n = quiet()
    print("a key costs less than a tenth of a screen" if n * 10 < first else f"{n} bytes of {first}")
    os.write(ours, b"q")
elif how.startswith("slow"):  # nobody takes what is drawn: keys that show other sections, until it waits to write
    read_until(b"[.]")
    quiet()
    keys = 0
    while open(f"/proc/{view.pid}/syscall").read().split()[:2] not in (["1", "0x1"], ["64", "0x1"]):
        os.write(ours, b"21"[keys % 2 : keys % 2 + 1])
        keys += 1
        time.sleep(0.05)
    if how == "slow":
        os.write(ours, b"q")  # read 100 bytes at a time, all is drawn, and it leaves
        while view.poll() is None:
            if select.select([ours], [], [], 0.1)[0]:
                os.read(ours, 100)
    else:
        view.send_signal(getattr(signal, how[5:]))
        view.wait(120)
    print(view.returncode, "given back" if termios.tcgetattr(its) == before else "not given back")
    sys.exit()
elif how == "gone":
    os.close(ours)
    its_status = view.wait(120)
    print("ended")
    sys.exit()
elif how == "quit":
    os.write(ours, b"q")
else:
    view.send_signal(getattr(signal, how))
quiet()
view.wait(120)
print(view.returncode, "given back" if termios.tcgetattr(its) == before else "not given back")
PY
run() { timeout 300 python3 terminal.py "$SEAM" "$@" 2>&1; }
for term in vt100 linux xterm xterm-256color screen xterm-16color xterm-nobody-knows; do
	same "TERM=$term" "0 given back" "$(run quit $term)"
done
same "SIGHUP" "-1 given back" "$(run SIGHUP xterm)"
same "SIGTERM" "-15 given back" "$(run SIGTERM xterm)"
same "SIGINT" "-2 given back" "$(run SIGINT xterm)"
same "SIGQUIT" "-3 given back" "$(run SIGQUIT xterm)"
same "a slow terminal" "0 given back" "$(run slow xterm)"
for signal in HUP=1 INT=2 QUIT=3 TERM=15; do
	same "SIG${signal%=*} while the terminal takes nothing" "-${signal#*=} given back" "$(run "slow_SIG${signal%=*}" xterm)"
done
same "a terminal that goes away" "ended" "$(run gone xterm)"
same "a slow line" "a key costs less than a tenth of a screen
0 given back" "$(run key xterm)"
done_testing
