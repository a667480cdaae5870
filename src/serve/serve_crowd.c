// SPDX-License-Identifier: MIT
// serve_crowd.c: see serve_crowd.h. Invariant: a known guest is never shown out, and a new one is
// not before all that came earlier.
#include "serve/serve_crowd.h"

#include <sys/socket.h>

void serve_crowd_start(struct serve_crowd *crowd)
{
	*crowd = (struct serve_crowd){ .n = 0 };
	for (size_t i = 0; i < SERVE_CROWD_MAX; i++)
		crowd->guests[i].fd = -1;
}

/* Ends the connection of the unknown guest that came first: whoever serves it sees that, and closes
 * it. */
static void serve_crowd_show_out(struct serve_crowd *crowd)
{
	struct serve_guest *first = NULL;

	for (size_t i = 0; i < SERVE_CROWD_MAX; i++) {
		struct serve_guest *guest = &crowd->guests[i];

		if (guest->fd >= 0 && !guest->is_known && (!first || guest->since < first->since))
			first = guest;
	}
	if (!first)
		return;
	shutdown(first->fd, SHUT_RDWR);
	/* It leaves soon; the next one to go is another. */
	first->is_known = true;
}

struct serve_guest *serve_crowd_enter(struct serve_crowd *crowd, int fd)
{
	if (crowd->n >= SERVE_CROWD_ENOUGH)
		serve_crowd_show_out(crowd);
	for (size_t i = 0; i < SERVE_CROWD_MAX; i++) {
		struct serve_guest *guest = &crowd->guests[i];

		if (guest->fd >= 0)
			continue;
		*guest = (struct serve_guest){ .fd = fd, .since = crowd->came++ };
		crowd->n++;
		return guest;
	}
	return NULL;
}

void serve_crowd_leave(struct serve_crowd *crowd, struct serve_guest *guest)
{
	guest->fd = -1;
	crowd->n--;
}
