// SPDX-License-Identifier: MIT
/*
 * agent_labels.c: see agent_parts.h: who the processes are that are sampled.
 *
 * Most processes of a build are gone when their window ends, and what is not asked of them while
 * they run nobody can tell. So a process is asked when its first sample comes out of the rings,
 * which is within a tenth of a second. A program that is replaced is asked again with its next
 * sample; the number of a process that ended may be another one's.
 */
#include "agent/agent_parts.h"

/* Without memory a process is asked when the window ends. */
void agent_hear(void *agent, enum window_news news, uint32_t pid)
{
	struct agent *a = agent;

	pthread_mutex_lock(&a->lock_processes);
	switch (news) {
	case WINDOW_SAMPLED:
		process_meet(&a->processes, pid);
		break;
	case WINDOW_REPLACED:
		process_replaced(&a->processes, pid);
		break;
	case WINDOW_BEGAN:
		process_forget(&a->processes, pid);
		break;
	}
	pthread_mutex_unlock(&a->lock_processes);
}

int agent_labels(void *agent, uint32_t pid, const char *path, struct labels *l)
{
	struct agent *a = agent;
	int r;

	pthread_mutex_lock(&a->lock_processes);
	r = process_labels(&a->processes, pid, path, l);
	pthread_mutex_unlock(&a->lock_processes);
	return r;
}

uint64_t agent_unlabelled(struct agent *a, const struct profile *p)
{
	uint64_t samples = 0;

	pthread_mutex_lock(&a->lock_processes);
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		uint32_t pid = profile_task_at(p, row->key.task)->pid;

		process_meet(&a->processes, pid);
		samples += process_was_gone(&a->processes, pid) ? row->samples : 0;
	}
	pthread_mutex_unlock(&a->lock_processes);
	return samples;
}
