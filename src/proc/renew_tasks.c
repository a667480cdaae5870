// SPDX-License-Identifier: MIT
/* renew_tasks.c: see renew.h. Counts the tasks of a process that are known to run: a process is
 * over when the last of them has ended, whatever became of its leader. */
#include "proc/renew.h"

#include <errno.h>

void renew_free(struct renew_tasks *t)
{
	map_free(&t->alive);
	map_free(&t->running);
	map_free(&t->ended);
}

/* true: the task was known. */
static bool renew_leave(struct renew_tasks *t, uint32_t tid)
{
	uint64_t pid, *running;

	if (!map_get(&t->alive, tid, &pid))
		return false;
	map_del(&t->alive, tid);
	if (!map_get(&t->running, pid, NULL))
		return true;
	running = map_slot(&t->running, pid, NULL); /* it is there: no memory is needed */
	if (running && --*running == 0)
		map_del(&t->running, pid);
	return true;
}

/* A tid that is used again leaves its old process first. */
int renew_begin(struct renew_tasks *t, uint32_t pid, uint32_t tid)
{
	uint64_t *running;

	renew_leave(t, tid);
	map_del(&t->ended, tid);
	running = map_slot(&t->running, pid, NULL);
	if (!running || map_put(&t->alive, tid, pid) < 0)
		return -ENOMEM;
	running = map_slot(&t->running, pid, NULL);
	++*running;
	return 0;
}

int renew_end(struct renew_tasks *t, uint32_t pid, uint32_t tid, uint64_t time)
{
	renew_leave(t, tid);
	renew_seen(t, 0, time);
	/* The last task's end is its process's, if the leader went before it. */
	if (tid != pid && !map_get(&t->running, pid, NULL) && map_get(&t->ended, pid, NULL) &&
	    map_put(&t->ended, pid, time) < 0)
		return -ENOMEM;
	return map_put(&t->ended, tid, time);
}

/* A record of a process shows that it runs: its EXIT was another's, by a number that was used
 * again. */
void renew_seen(struct renew_tasks *t, uint32_t pid, uint64_t time)
{
	if (pid)
		map_del(&t->ended, pid);
	if (time > t->newest)
		t->newest = time;
}
