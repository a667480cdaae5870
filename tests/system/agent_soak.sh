# SPDX-License-Identifier: MIT
# agent_soak.sh: what the agent keeps does not grow with what has come and gone: storms of threads, of programs, of processes and of
# mappings. Asked after the storms, of what is kept: a window's records, the processes that are followed, its own memory.
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

"$SEAM" agent --store sqlite:a.db --window 1s --memory 60M --metrics 127.0.0.1:19465 2>err &
agent=$!
cat >get.py <<'END'
import sys
import urllib.request
text = urllib.request.urlopen("http://127.0.0.1:19465/metrics").read().decode()
print(next(line.split()[1] for line in text.split("\n") if line.startswith(sys.argv[1] + " ")))
END
value() { python3 get.py "seam_agent_$1" 2>/dev/null || echo 0; }
reached() { [ "$(value windows_total)" -ge "$1" ]; }
own() { sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' /proc/$agent/status; }
# most: the bytes of a window as a recording in memory (what is known of processes, and its samples). The most of two windows, two
# windows from now.
most() {
	had=$(value windows_total) most=0
	until_true "two windows more" reached $((had + 2))
	until reached $((had + 4)) || ! kill -0 $agent 2>/dev/null; do
		bytes=$(stat -L -c %s "$file")
		[ "$bytes" -le "$most" ] || most=$bytes
	done
}
until_true "the first windows" reached 2
file=$(ls -l /proc/$agent/fd | sed -n 's,.* \([0-9]*\) -> /memfd:seam-window.*,/proc/'$agent'/fd/\1,p' | head -1) # who reads it has opened it once more
./storm 10 10 10 10
most
before=$most processes=$(value followed_processes) anon=$(own)
./storm 30000 10000 1000 2000
most
echo "a window: $before bytes before the storm, $most after it; $processes and $(value followed_processes) processes; $anon and $(own) kB"
# What is gone stays until there is twice as much as before, and a megabyte.
atmost "bytes of a window" $((2 * before + 2500000)) "$most"
# Some seconds after its end a process is forgotten: what is left is what runs, and what the machine's others started just now.
few() { n=$(value followed_processes); [ "$n" -gt 0 ] && [ "$n" -le $(($(ls /proc | grep -c '^[0-9]') + 1000)) ]; }
until_true "processes that are gone are forgotten" few
atmost "kB of its own memory" $((anon + 100000)) "$(own)"
kill -TERM $agent
wait $agent
same "exit status" 0 $?
done_testing
