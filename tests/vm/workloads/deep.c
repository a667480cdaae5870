// SPDX-License-Identifier: MIT
/*
 * deep SECONDS THREADS: for so much CPU time of each, and ROUNDS a second at least, long reads,
 * page faults and user time, each below 30 known frames.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "families.h"

FAMILY(zero)
FAMILY(fault)
FAMILY(spin)

/* A guest's clocks, that of CPU time too, go on while its host does something else. */
#define ROUNDS 100

static uint64_t work_ns;
static long least;

static void *worker(void *arg)
{
	uint64_t begun_ns = cpu_ns(), end_ns = begun_ns + work_ns, spin_ns;

	for (long round = 0; round < least || begun_ns < end_ns; round++) {
		zero_30(4);
		fault_30(64);
		/* A tenth of the round, whatever the kernel's part of it costs on this machine. */
		spin_ns = cpu_ns();
		spin_ns += (spin_ns - begun_ns) / 9;
		do
			spin_30(20000);
		while (cpu_ns() < spin_ns);
		begun_ns = cpu_ns();
	}
	return arg;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[64];

	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	work_ns = (uint64_t)(seconds * 1e9);
	least = (long)(seconds * ROUNDS);
	for (int i = 0; i < threads && i < 64; i++)
		pthread_create(&thread[i], NULL, worker, NULL);
	for (int i = 0; i < threads && i < 64; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
