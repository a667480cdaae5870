# SPDX-License-Identifier: MIT
# agent_soak.sh: what the agent keeps does not grow with what has come and gone: storms of threads, of programs, of processes and of
# mappings. Asked after the storms, of what is kept: a window's records, the processes that are followed, its own memory. And it has never
# had more than its limit, the least that it takes, beside programs whose names alone are more than that.
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null || skip "there is no C compiler"
"$SEAM" store ls --store sqlite:none 2>&1 | grep -q "has no SQLite" && skip "this build has no SQLite"
"$SEAM" agent --store sqlite:probe --duration 1s --window 1s 2>err || skip "the whole machine cannot be sampled here: $(cat err)"
"$SEAM" agent --store sqlite:m.db --metrics 127.0.0.1:19465 --check 2>check || skip "metrics cannot be served here: $(cat check)"

cat >storm.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void *thread(void *arg)
{
	return arg;
}
/* storm THREADS PROCESSES PROGRAMS MAPPINGS: one after the other. */
int main(int argc, char **argv)
{
	char *program[] = { argv[0], NULL };
	pid_t pid;
	pthread_t t;

	if (argc < 5)
		return 0;
	for (int i = atoi(argv[1]); i--;)
		if (!pthread_create(&t, NULL, thread, NULL))
			pthread_join(t, NULL);
	for (int i = atoi(argv[2]); i--;) {
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	for (int i = atoi(argv[3]); i--;)
		if (!posix_spawn(&pid, argv[0], NULL, NULL, program, NULL))
			waitpid(pid, NULL, 0);
	for (int i = atoi(argv[4]); i--;) {
		void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		void *library = dlopen("libm.so.6", RTLD_NOW);

		if (code != MAP_FAILED)
			munmap(code, 4096);
		if (library)
			dlclose(library);
	}
	return 0;
}
C
cc -O1 -pthread -o storm storm.c -ldl || skip "the C compiler makes no program"

# A program of so many functions has 44 MB of symbols and their names, and takes 102 to name.
large() {
	awk -v n=1000000 -v name="$1" 'BEGIN {
		print ".text\n.globl main\nmain:\n mov $0, %eax"
		print "1: add $1, %eax\n cmp $2000000000, %eax\n jne 1b\n jmp main\n.size main, . - main\n.type main, @function"
		for (i = 0; i < n; i++)
			printf ".type %s_function_%d, @function\n%s_function_%d: ret\n.size %s_function_%d, 1\n", name, i, name, i, name, i
		print ".section .note.GNU-stack"
	}' >"$1.s"
	cc -o "$1" "$1.s" || skip "the C compiler makes no large program"
	rm "$1.s"
}
[ "$(uname -m)" = x86_64 ] || skip "the large programs are of x86-64"
large one
large two

least=$(sed -n 's/.*; memory: .* (at least \([0-9]*\)); .*/\1/p' check)
atleast "MB that it takes at least" 1 "${least:-0}"
for check in --check --duration=1s; do
	"$SEAM" agent --store sqlite:m.db --memory $((least - 1))M $check 2>said
	same "exit status with less, $check" 2 $?
	says said "at least ${least}M can\$"
done
"$SEAM" agent --store sqlite:a.db --window 1s --memory "${least}M" --metrics 127.0.0.1:19465 2>err &
agent=$!
./one &
one=$!
./two &
two=$!
# One process asks and waits: each that starts is one more to be followed.
cat >get.py <<'END'
import sys
import time
import urllib.request


def value(name):
    text = urllib.request.urlopen("http://127.0.0.1:19465/metrics").read().decode()
    return float(next(line.split()[1] for line in text.split("\n") if line.startswith("seam_agent_" + name + " ")))


name, least, most = sys.argv[1], *(float(n) for n in sys.argv[2:4])
end = time.monotonic() + 150
while time.monotonic() < end:
    try:
        now = value(name)
    except OSError: # it does not serve yet
        now = -1
    if least <= now <= most:
        print(int(now))
        sys.exit(0)
    time.sleep(0.2)
sys.exit(1)
END
# value NAME [LEAST MOST]: of a metric, as soon as it is within these bounds
value() { python3 get.py "$1" "${2:-0}" "${3:-1e18}" || fail "in vain: $1 from ${2:-0} to ${3:-1e18}"; }
own() { sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' /proc/$agent/status; }
value windows_total 2 >seen
named() {
	"$SEAM" report --store sqlite:a.db -s comm >out 2>/dev/null
	grep -qw one out && grep -qw two out
}
until_true "windows with the large programs" named
kill $one $two
wait $one $two 2>/dev/null
file=$(ls -l /proc/$agent/fd | sed -n 's,.* \([0-9]*\) -> /memfd:seam-window.*,/proc/'$agent'/fd/\1,p' | head -1) # who reads it has opened it once more
# storm: what a storm leaves, when its processes are forgotten: bytes of a window, and kB of memory. Some seconds after its end a
# process is: what is left is what runs, and what the machine's others started just now.
storm() {
	./storm 10000 4000 300 500
	windows=$(value windows_total 1)
	value windows_total $((windows + 2)) >seen
	processes=$(value followed_processes 1 $(($(ls /proc | grep -c '^[0-9]') + 300)))
	most=$(stat -L -c %s "$file")
	echo "a window: $most bytes after the storm; $processes processes; $(own) kB"
}
storm
anon=$(own)
storm
storm
storm
# A storm's records are 2.3 MB. What is gone stays until there is twice as much as was left the last time, of one storm at most; then
# another may come. Without letting go there would be four.
atmost "bytes of a window" 8500000 "$most"
atmost "kB of its own memory" $((anon + 30000)) "$(own)"
atmost "bytes that it had at most" $((least << 20)) "$(value resident_memory_max_bytes)"
kill -TERM $agent
wait $agent
same "exit status" 0 $?
done_testing
