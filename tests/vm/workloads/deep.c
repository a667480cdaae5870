// SPDX-License-Identifier: MIT
/* deep SECONDS THREADS: long reads, page faults and user time, each below 30 known frames. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "families.h"

FAMILY(zero)
FAMILY(fault)
FAMILY(spin)

static uint64_t end_ns;

static void *worker(void *arg)
{
	while (now_ns() < end_ns) {
		zero_30(4);
		fault_30(64);
		spin_30(20000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[64];

	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	end_ns = now_ns() + (uint64_t)(seconds * 1e9);
	for (int i = 0; i < threads && i < 64; i++)
		pthread_create(&thread[i], NULL, worker, NULL);
	for (int i = 0; i < threads && i < 64; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
