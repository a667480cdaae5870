// SPDX-License-Identifier: MIT
// datafile_head.c: see datafile_head.h. Values come from capture/machine, their form from
// perfdata/feature.
#include "recorder/datafile_head.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture/buildid.h"
#include "capture/machine.h"
#include "capture/topology.h"
#include "capture/tracing_data.h"
#include "perfdata/feature.h"

/* Gives the contents of out to the writer, and empties it. */
static void head_put(struct seam_writer *writer, unsigned feature, struct buf *out)
{
	if (!out->failed && out->n)
		seam_writer_feature(writer, feature, out->bytes, out->n);
	buf_clear(out);
}

/* An empty text is no feature. */
static void head_put_text(struct seam_writer *writer, unsigned feature, const char *text)
{
	if (text[0])
		seam_writer_feature_string(writer, feature, text);
}

/* Writes which CPUs share a core, a die and a package, in perf's form; nothing if it is not
 * known. */
static void head_put_topology(struct seam_writer *writer, uint32_t cpus, struct buf *out)
{
	struct topology t;

	topology_read(&t, cpus, NULL);
	if (t.n_cpus) {
		feature_put_strings(out, t.packages.n, t.packages.at);
		feature_put_strings(out, t.cores.n, t.cores.at);
		for (uint32_t i = 0; i < t.n_cpus; i++) {
			feature_put_i32(out, t.cpus[i].core);
			feature_put_i32(out, t.cpus[i].package);
		}
		if (t.dies.n)
			feature_put_strings(out, t.dies.n, t.dies.at);
		for (uint32_t i = 0; t.dies.n && i < t.n_cpus; i++)
			feature_put_i32(out, t.cpus[i].die);
		head_put(writer, SEAM_FEATURE_CPU_TOPOLOGY, out);
	}
	topology_free(&t);
}

/* Writes what the machine is: its name, kernel, processor, CPUs, memory and PMUs. What is not known
 * is left out. */
static void head_put_machine(struct seam_writer *writer, const char *program, struct buf *out)
{
	struct machine m;
	struct feature_pmu *pmus;

	machine_read(&m, NULL, NULL);
	head_put_text(writer, SEAM_FEATURE_HOSTNAME, m.hostname);
	head_put_text(writer, SEAM_FEATURE_OSRELEASE, m.release);
	head_put_text(writer, SEAM_FEATURE_VERSION, program);
	head_put_text(writer, SEAM_FEATURE_ARCH, m.arch);
	head_put_text(writer, SEAM_FEATURE_CPUDESC, m.cpu_text);
	head_put_text(writer, SEAM_FEATURE_CPUID, m.cpu_id);
	if (m.cpus_online && m.cpus_available) {
		feature_put_nrcpus(out, m.cpus_online, m.cpus_available);
		head_put(writer, SEAM_FEATURE_NRCPUS, out);
		head_put_topology(writer, m.cpus_available, out);
	}
	if (m.memory_kb) {
		feature_put_u64(out, m.memory_kb);
		head_put(writer, SEAM_FEATURE_TOTAL_MEM, out);
	}
	if (m.e_machine) {
		feature_put_e_machine(out, m.e_machine, 0);
		head_put(writer, SEAM_FEATURE_E_MACHINE, out);
	}
	pmus = calloc(m.n_pmus + 1, sizeof(*pmus));
	for (size_t i = 0; pmus && i < m.n_pmus; i++)
		pmus[i] = (struct feature_pmu){ m.pmus[i].type,
			                        m.pmus[i].name ? m.pmus[i].name : "" };
	if (pmus && m.n_pmus) {
		feature_put_pmu_mappings(out, pmus, m.n_pmus);
		head_put(writer, SEAM_FEATURE_PMU_MAPPINGS, out);
	}
	free(pmus);
	machine_free(&m);
}

static uint64_t head_clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* How fine the clock is, and what time of day one moment of it is: readers turn sample times into
 * clock times by it. */
static void head_put_clock(struct seam_writer *writer, int32_t clockid, struct buf *out)
{
	struct timespec resolution = { 0 };

	clock_getres(clockid, &resolution);
	feature_put_u64(out,
	                (uint64_t)resolution.tv_sec * 1000000000u + (uint64_t)resolution.tv_nsec);
	head_put(writer, SEAM_FEATURE_CLOCKID, out);
	feature_put_clock_data(out, (uint32_t)clockid, head_clock_ns(CLOCK_REALTIME),
	                       head_clock_ns(clockid));
	head_put(writer, SEAM_FEATURE_CLOCK_DATA, out);
}

/* Groups of which only the leader samples: "{unnamed}", as perf names them. */
static void head_put_groups(struct seam_writer *writer, const struct event_list *list,
                            struct buf *out)
{
	struct feature_group *groups = list ? calloc(list->n + 1, sizeof(*groups)) : NULL;
	size_t n = 0;

	for (size_t i = 0; groups && i < list->n; i++) {
		size_t members = 0;

		for (size_t j = i; j < list->n; j++)
			members += list->at[j].leader == i;
		if (list->at[i].leader == i && members > 1)
			groups[n++] = (struct feature_group){ "{unnamed}", (uint32_t)i,
				                              (uint32_t)members };
	}
	if (n) {
		feature_put_group_desc(out, groups, n);
		head_put(writer, SEAM_FEATURE_GROUP_DESC, out);
	}
	free(groups);
}

/* Everything that is known before the first sample. A feature for which there is no memory is left
 * out. */
int datafile_head(struct seam_writer *writer, const struct datafile_opts *o,
                  const struct seam_events *events, struct seam_error *err)
{
	struct buf out = { 0 };
	int error;

	head_put_machine(writer, o->program, &out);
	if (o->n_words) {
		feature_put_cmdline(&out, o->n_words, o->words);
		head_put(writer, SEAM_FEATURE_CMDLINE, &out);
	}
	feature_put_event_desc(&out, events);
	head_put(writer, SEAM_FEATURE_EVENT_DESC, &out);
	head_put_groups(writer, o->groups, &out);
	if (o->use_clockid)
		head_put_clock(writer, o->clockid, &out);
	error = tracing_data_collect(events, NULL, &out);
	if (error > 0)
		head_put(writer, SEAM_FEATURE_TRACING_DATA, &out);
	else if (error < 0)
		seam_error_set(err, -error, NULL, SEAM_NO_OFFSET, NULL,
		               "the formats of the tracepoints cannot be read: %s",
		               strerror(-error));
	buf_free(&out);
	return error < 0 ? error : 0;
}

/* The OWNERS feature, into out; how many there are. */
static size_t head_owners(const struct datafile *d, struct buf *out)
{
	uint64_t pid, user;
	size_t i = 0;

	while (map_next(&d->owners, &i, &pid, &user))
		feature_put_owner(out, (uint32_t)pid, (uint32_t)user);
	return d->owners.n;
}

/* The time by which the recording must end, because somebody waits for seam to go. */
static bool head_is_over(const struct datafile *d)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return d->end_ns && (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec >= d->end_ns;
}

/* The build-id of what is mapped by that name now, or 0. A file that was replaced meanwhile has
 * another one, which is why records with build-ids are preferred where the kernel gives them. */
static unsigned head_build_id_of(const char *name, uint8_t *ret)
{
	struct stat st;
	unsigned size = 0;
	int fd;

	if (!strncmp(name, "[kernel", 7))
		return buildid_from_notes_file(AT_FDCWD, "/sys/kernel/notes", ret);
	if (name[0] != '/' || stat(name, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0) {
		size = buildid_from_fd(fd, ret);
		close(fd);
	}
	return size;
}

/* Appends the build-ids of the files and returns how many have one. It stops at the time by which
 * the recording must end; files that are left out are counted in unread_files. */
static size_t head_put_build_ids(struct datafile *d, const struct intern *files, uint16_t misc,
                                 struct buf *out)
{
	size_t count = 0;

	for (uint32_t i = 1; i < files->n; i++) {
		uint8_t id[BUILDID_MAX];
		const char *name = intern_get(files, i);
		unsigned size;

		if (head_is_over(d)) {
			d->unread_files += files->n - i;
			break;
		}
		size = head_build_id_of(name, id);
		if (!size)
			continue;
		/* The record's name has "_text" or "_stext" behind it; the feature's has not. */
		if (!strncmp(name, "[kernel.kallsyms]", 17))
			name = "[kernel.kallsyms]";
		count += feature_put_build_id(out, misc, -1, id, size, name) >= 0;
	}
	return count;
}

/* The BUILD_ID feature of the files that were kept, into out; how many there are. */
static size_t head_build_ids(struct datafile *d, struct buf *out)
{
	return head_put_build_ids(d, &d->kernel_files, SEAM_MISC_KERNEL, out) +
	       head_put_build_ids(d, &d->user_files, SEAM_MISC_USER, out);
}

/* Everything that is known only at the end. A pipe has no place for it. */
void datafile_tail(struct datafile *d)
{
	struct buf out = { 0 };

	if (d->samples && d->time_at) {
		feature_put_sample_time(&out, d->first_ns, d->last_ns);
		head_put(d->writer, SEAM_FEATURE_SAMPLE_TIME, &out);
	}
	if (d->keep_files && head_build_ids(d, &out))
		head_put(d->writer, SEAM_FEATURE_BUILD_ID, &out);
	if (datafile_contents(d, &out))
		head_put(d->writer, FEATURE_FILES, &out);
	if (head_owners(d, &out))
		head_put(d->writer, FEATURE_OWNERS, &out);
	buf_free(&out);
}
