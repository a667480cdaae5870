// SPDX-License-Identifier: MIT
// agent_read.c: see agent_parts.h: the rings are read until a time, or until somebody says stop.
#include "agent/agent_parts.h"

/* How long records are waited for at a time. */
#define STEP_MS 100

/* Whether a signal asked for the end. */
bool agent_stopped(const struct agent *a)
{
	bool (*stopped)(void) = a->o->rec->session.stopped;

	return stopped && stopped();
}

/* 1: the recorder ended, or was asked to, or the caller has other options; 0: the time is over;
 * -errno. */
int agent_read(struct agent *a, uint64_t until_ns)
{
	bool ended = false;
	uint64_t now;
	int error = 0;

	while (!error && !ended && (now = agent_now_ns()) < until_ns) {
		uint64_t left_ms = (until_ns - now) / 1000000 + 1;

		recorder_wait(a->recorder, left_ms < STEP_MS ? (int)left_ms : STEP_MS);
		ended = agent_stopped(a) || recorder_ended(a->recorder);
		ended |= a->o->anew && a->o->anew(a->o->anew_ctx);
		error = recorder_read(a->recorder);
		agent_memory_watch(a);
	}
	return error ? error : ended;
}
