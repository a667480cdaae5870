// SPDX-License-Identifier: MIT
/*
 * ring SECONDS: io_uring, for so much CPU time. The kernel runs task work inside io_uring_enter, so
 * the user part of a stack is recorded before the last samples of the same kernel entry are taken:
 * late samples. Pairs of linked reads: the first completes in a worker, the second is then issued
 * from task work.
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "families.h"

enum {
	ENTRIES = 16
};

static int ring_fd;
static char ring_buffer[ENTRIES][1 << 18];

FRAME void ring_leaf(long requests)
{
	syscall_here(SYS_io_uring_enter, ring_fd, requests, requests, IORING_ENTER_GETEVENTS, 0, 0);
}
FAMILY(ring)
FAMILY(spin)

int main(int argc, char **argv)
{
	struct io_uring_params params = { 0 };
	uint64_t end_ns = cpu_ns() + (uint64_t)((argc > 1 ? atof(argv[1]) : 1) * 1e9);
	struct io_uring_sqe *sqes;
	unsigned *tail, *array, *cq_head, *cq_tail;
	char *ring;

	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ring_fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &params);
	if (ring_fd < 0 || !(params.features & IORING_FEAT_SINGLE_MMAP))
		return 77;
	ring = mmap(NULL,
	            params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe) +
	                    params.sq_off.array + params.sq_entries * sizeof(unsigned),
	            PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, IORING_OFF_SQ_RING);
	sqes = mmap(NULL, params.sq_entries * sizeof(*sqes), PROT_READ | PROT_WRITE, MAP_SHARED,
	            ring_fd, IORING_OFF_SQES);
	if (ring == MAP_FAILED || sqes == MAP_FAILED)
		return 77;
	tail = (unsigned *)(void *)(ring + params.sq_off.tail);
	array = (unsigned *)(void *)(ring + params.sq_off.array);
	cq_head = (unsigned *)(void *)(ring + params.cq_off.head);
	cq_tail = (unsigned *)(void *)(ring + params.cq_off.tail);
	while (cpu_ns() < end_ns) {
		for (unsigned i = 0; i < ENTRIES; i++) {
			memset(&sqes[i], 0, sizeof(sqes[i]));
			sqes[i].opcode = IORING_OP_READ;
			sqes[i].fd = zero_fd;
			sqes[i].addr = (uint64_t)(uintptr_t)ring_buffer[i];
			sqes[i].len = sizeof(ring_buffer[i]);
			sqes[i].flags = i % 2 ? 0 : IOSQE_ASYNC | IOSQE_IO_LINK;
			array[i] = i;
		}
		__atomic_store_n(tail, *tail + ENTRIES, __ATOMIC_RELEASE);
		ring_30(ENTRIES);
		__atomic_store_n(cq_head, __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE),
		                 __ATOMIC_RELEASE);
		spin_30(2000);
	}
	return 0;
}
