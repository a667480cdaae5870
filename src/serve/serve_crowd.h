/* SPDX-License-Identifier: MIT */
/*
 * serve_crowd.h: who is connected. Every user of the machine can connect to the loopback and say
 * nothing; whoever knows the token must get in nevertheless. So when it becomes crowded, the
 * connection that has waited longest without a right request is closed.
 */
#ifndef SEAM_SERVE_SERVE_CROWD_H
#define SEAM_SERVE_SERVE_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVE_CROWD_MAX 256u    /* connections at one address */
#define SERVE_CROWD_ENOUGH 192u /* from here on each new one costs a silent one its place */

struct serve_guest {
	int fd;         /* of the socket, which is somebody else's; -1: the place is free */
	uint64_t since; /* the how manieth guest it is */
	bool is_known;  /* it made a request with the token */
};

/* Used by one thread. Begins with serve_crowd_start. */
struct serve_crowd {
	struct serve_guest guests[SERVE_CROWD_MAX];
	size_t n;
	uint64_t came;
};

void serve_crowd_start(struct serve_crowd *crowd);
/* A connection began. NULL: there is no place. */
struct serve_guest *serve_crowd_enter(struct serve_crowd *crowd, int fd);
/* It ended. */
void serve_crowd_leave(struct serve_crowd *crowd, struct serve_guest *guest);

#endif
