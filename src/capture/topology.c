// SPDX-License-Identifier: MIT
/*
 * topology.c: see topology.h. Knows the files of devices/system/cpu/cpuN/topology, by their names
 * of today and of before 5.3.
 *
 * Lists such as "0-1" are kept as text, each once: perf's header holds them so.
 */
#include "capture/topology.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/procfs.h"

/* sys: a descriptor of /sys, or of what stands in for it. */
struct topology_reader {
	struct topology *to;
	int sys;
	uint32_t cpu; /* at hand */
	struct buf text;
};

/* The text of a file of the CPU at hand, or of its other name; NULL: neither is there. */
static const char *topology_file(struct topology_reader *r, const char *name, const char *other)
{
	char path[128];
	char *text;

	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/%s", r->cpu, name);
	if (procfs_read(r->sys, path, &r->text) <= 0)
		return other ? topology_file(r, other, NULL) : NULL;
	text = (char *)r->text.bytes;
	text[strcspn(text, "\n")] = 0;
	return text;
}

/* -1 where the kernel does not say: so also on machines without that level. */
static int32_t topology_id(struct topology_reader *r, const char *name)
{
	const char *text = topology_file(r, name, NULL);

	return text && *text ? (int32_t)strtol(text, NULL, 10) : -1;
}

/* Adds a list that was not met yet. */
static void topology_list(struct topology_reader *r, struct topology_lists *to, const char *name,
                          const char *other)
{
	const char *text = topology_file(r, name, other);

	for (uint32_t i = 0; text && i < to->n; i++)
		if (!strcmp(to->at[i], text))
			return;
	/* A CPU adds at most one list, so that more than n_cpus of them cannot be. */
	if (!text || !*text || !to->at || to->n >= r->to->n_cpus)
		return;
	text = arena_string(&r->to->arena, text, strlen(text));
	if (text)
		to->at[to->n++] = text;
}

/* If anything cannot be read, ret->n_cpus is 0. topology_free frees it in any case. */
void topology_read(struct topology *ret, uint32_t n_cpus, const char *sys)
{
	struct topology_reader r = {
		.to = ret, .sys = open(sys ? sys : "/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
	};
	size_t room;

	*ret = (struct topology){ 0 };
	if (n_cpus > TOPOLOGY_CPUS_MAX)
		n_cpus = TOPOLOGY_CPUS_MAX;
	room = n_cpus * sizeof(const char *);
	if (r.sys < 0 || !n_cpus)
		goto out;
	ret->cpus = arena_alloc(&ret->arena, n_cpus * sizeof(*ret->cpus));
	ret->packages.at = arena_alloc(&ret->arena, room);
	ret->dies.at = arena_alloc(&ret->arena, room);
	ret->cores.at = arena_alloc(&ret->arena, room);
	if (!ret->cpus || !ret->packages.at || !ret->dies.at || !ret->cores.at)
		goto out;
	ret->n_cpus = n_cpus;
	for (r.cpu = 0; r.cpu < n_cpus; r.cpu++) {
		topology_list(&r, &ret->packages, "package_cpus_list", "core_siblings_list");
		topology_list(&r, &ret->dies, "die_cpus_list", NULL);
		topology_list(&r, &ret->cores, "core_cpus_list", "thread_siblings_list");
		ret->cpus[r.cpu] =
		        (struct topology_cpu){ .core = topology_id(&r, "core_id"),
			                       .package = topology_id(&r, "physical_package_id"),
			                       .die = topology_id(&r, "die_id") };
	}
	/* Without packages or cores there is nothing to say. */
	if (!ret->packages.n || !ret->cores.n)
		ret->n_cpus = 0;
out:
	if (r.sys >= 0)
		close(r.sys);
	buf_free(&r.text);
}

void topology_free(struct topology *t)
{
	arena_free(&t->arena);
	*t = (struct topology){ 0 };
}
