// SPDX-License-Identifier: MIT
/*
 * agent_memory.c: see agent_parts.h: the limit on the agent's memory, by what the whole process has
 * resident. Naming asks before it takes much, and does without what there is no room for; after
 * each window what is free goes back to the machine.
 */
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/agent_parts.h"

/* Memory that is free stays for the next window, as long as this part of the limit is left: to give
 * it back and take it again costs much. */
#define ROOM_FREE 4u
#define FREE_BYTES (16 << 20) /* at the end of what malloc has; the same within a window */
/* Left to what goes on beside naming; and what is so small a part is not asked about. */
#define ROOM_OTHERS 8u
#define ROOM_ALWAYS 64u
#define WATCH_NS 500000000u
/* What is kept at least: what has no part (AGENT_APART), unwind tables and names of what runs, one
 * object after the other; and for each CPU its rings. With 96 MB there
 * were 98 at most in tests/system/agent_soak.sh beside builds. */
#define LEAST (118ull << 20)
#define LEAST_CPU (1ull << 20)

/* More than threads that live at once: beyond it glibc gives one that of another. Those of the
 * threads that ended are used again, and malloc_trim gives back what is free in each. */
#define ARENAS 8

void agent_memory_apart(void)
{
	mallopt(M_ARENA_MAX, ARENAS);
	mallopt(M_TRIM_THRESHOLD, FREE_BYTES);
}

/* The second number of statm is in pages. */
uint64_t agent_memory(void)
{
	unsigned long long all, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%llu %llu", &all, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The peak of this program, not of what was executed to become it, as ru_maxrss would be. */
uint64_t agent_memory_peak(void)
{
	unsigned long long kb = 0;
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "VmHWM: %llu", &kb) != 1)
		;
	if (f)
		fclose(f);
	return (uint64_t)kb << 10;
}

uint64_t agent_memory_least(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return LEAST + LEAST_CPU * (uint64_t)(cpus > 0 ? cpus : 1);
}

/* Pages of files that the next look brings back, and what is free. */
static void agent_memory_rest(const struct agent *a)
{
	symbol_shelf_rest(a->shelf);
	recorder_rest(a->recorder);
	malloc_trim(0);
}

void agent_memory_watch(struct agent *a)
{
	uint64_t most = a->o->memory, now_ns = agent_now_ns();

	if (!most || now_ns - a->watched_ns < WATCH_NS)
		return;
	a->watched_ns = now_ns;
	if (agent_memory() > most - most / ROOM_OTHERS)
		agent_memory_rest(a);
}

/* A callback of struct room: whether naming may take so much at once, by what the whole process has
 * at this moment. What is kept for later windows goes first. */
bool agent_memory_room(void *ctx, uint64_t bytes)
{
	struct agent *a = ctx;
	uint64_t most = a->o->memory - a->o->memory / ROOM_OTHERS, kept, used;

	if (!a->o->memory || bytes <= a->o->memory / ROOM_ALWAYS)
		return true;
	used = agent_memory();
	if (used + bytes <= most)
		return true;
	agent_memory_rest(a);
	used = agent_memory();
	if (used + bytes <= most)
		return true;
	/* Names that are read again in each window cost more than they are worth. */
	kept = symbol_shelf_trim(a->shelf, SIZE_MAX);
	if (used + bytes <= most + kept) {
		symbol_shelf_trim(a->shelf, 0);
		malloc_trim(0);
		used = agent_memory();
	}
	if (used + bytes <= most)
		return true;
	a->refused++;
	return false;
}

/* Gives memory that is free back to the machine, where there is much. When there is too much
 * nevertheless, what is known of processes is dropped and read anew; when that is not enough, it is
 * said, once. */
void agent_memory_trim(struct agent *a)
{
	uint64_t most = a->o->memory;

	if (!most || agent_memory() <= most - most / ROOM_FREE)
		return;
	malloc_trim(0);
	symbol_shelf_rest(a->shelf);
	if (agent_memory() <= most)
		return;
	ask_forget(a->ask);
	agent_memory_rest(a);
	symbol_shelf_trim(a->shelf, 0);
	lines_free(a->lines);
	a->lines = NULL;
	malloc_trim(0);
	if (agent_memory() <= most || a->told_memory)
		return;
	a->told_memory = true;
	log_line(a->log, LOG_PLAIN, "%llu MB of memory are in use, the limit is %llu MB",
	         (unsigned long long)(agent_memory() >> 20), (unsigned long long)(most >> 20));
}
