// SPDX-License-Identifier: MIT
/* hop SECONDS THREADS: for so much CPU time of every CPU, threads that change the CPU in the middle
 * of their work, over and over. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "families.h"

FRAME void hop_leaf(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	syscall_here(SYS_sched_setaffinity, 0, sizeof(set), (long)&set, 0, 0, 0);
}

FAMILY(zero)
FAMILY(hop)
FAMILY(spin)

static uint64_t work_ns;
static long cpus;

static void *worker(void *arg)
{
	uint64_t end_ns = cpu_ns() + work_ns;

	for (long turn = (long)arg; cpu_ns() < end_ns; turn++) {
		zero_30(1);
		hop_30(turn % cpus);
		zero_30(1);
		spin_30(2000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	long threads = argc > 2 ? atol(argv[2]) : 4;
	pthread_t thread[64];

	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	work_ns = (uint64_t)(seconds * 1e9);
	if (threads > cpus)
		work_ns = work_ns * (uint64_t)cpus / (uint64_t)threads;
	for (long i = 0; i < threads && i < 64; i++)
		pthread_create(&thread[i], NULL, worker, (void *)i);
	for (long i = 0; i < threads && i < 64; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
