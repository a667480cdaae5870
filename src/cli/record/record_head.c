// SPDX-License-Identifier: MIT
/*
 * record_head.c: knows what perf expects in front of and behind the records. Values come from
 * capture/machine, their form from perfdata/feature.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/machine.h"
#include "capture/preface.h"
#include "capture/tracing_data.h"
#include "cli/record/record_head.h"
#include "perfdata/feature.h"

#ifndef SEAM_VERSION
#define SEAM_VERSION "unknown"
#endif

/* Gives what out holds to the writer, and empties it. */
static void record_put(struct seam_writer *writer, unsigned feature, struct buf *out)
{
	if (!out->failed && out->n)
		seam_writer_feature(writer, feature, out->bytes, out->n);
	buf_clear(out);
}

static void record_put_text(struct seam_writer *writer, unsigned feature, const char *text)
{
	if (text[0])
		seam_writer_feature_string(writer, feature, text);
}

static void record_put_machine(struct seam_writer *writer, struct buf *out)
{
	struct machine m;
	struct feature_pmu *pmus;

	machine_read(&m, NULL, NULL);
	record_put_text(writer, SEAM_FEATURE_HOSTNAME, m.hostname);
	record_put_text(writer, SEAM_FEATURE_OSRELEASE, m.release);
	record_put_text(writer, SEAM_FEATURE_VERSION, "seam " SEAM_VERSION);
	record_put_text(writer, SEAM_FEATURE_ARCH, m.arch);
	record_put_text(writer, SEAM_FEATURE_CPUDESC, m.cpu_text);
	record_put_text(writer, SEAM_FEATURE_CPUID, m.cpu_id);
	if (m.cpus_online && m.cpus_available) {
		feature_put_nrcpus(out, m.cpus_online, m.cpus_available);
		record_put(writer, SEAM_FEATURE_NRCPUS, out);
	}
	if (m.memory_kb) {
		feature_put_u64(out, m.memory_kb);
		record_put(writer, SEAM_FEATURE_TOTAL_MEM, out);
	}
	if (m.e_machine) {
		feature_put_e_machine(out, m.e_machine, 0);
		record_put(writer, SEAM_FEATURE_E_MACHINE, out);
	}
	pmus = calloc(m.n_pmus + 1, sizeof(*pmus));
	for (size_t i = 0; pmus && i < m.n_pmus; i++)
		pmus[i] = (struct feature_pmu){ m.pmus[i].type,
			                        m.pmus[i].name ? m.pmus[i].name : "" };
	if (pmus && m.n_pmus) {
		feature_put_pmu_mappings(out, pmus, m.n_pmus);
		record_put(writer, SEAM_FEATURE_PMU_MAPPINGS, out);
	}
	free(pmus);
	machine_free(&m);
}

static uint64_t record_clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void record_put_clock(struct seam_writer *writer, int32_t clockid, struct buf *out)
{
	struct timespec resolution = { 0 };

	clock_getres(clockid, &resolution);
	feature_put_u64(out,
	                (uint64_t)resolution.tv_sec * 1000000000u + (uint64_t)resolution.tv_nsec);
	record_put(writer, SEAM_FEATURE_CLOCKID, out);
	feature_put_clock_data(out, (uint32_t)clockid, record_clock_ns(CLOCK_REALTIME),
	                       record_clock_ns(clockid));
	record_put(writer, SEAM_FEATURE_CLOCK_DATA, out);
}

/* Groups of which only the leader samples: "{unnamed}", as perf names them. */
static void record_put_groups(struct seam_writer *writer, const struct event_list *list,
                              struct buf *out)
{
	struct feature_group *groups = calloc(list->n + 1, sizeof(*groups));
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
		record_put(writer, SEAM_FEATURE_GROUP_DESC, out);
	}
	free(groups);
}

int record_head_features(struct seam_writer *writer, const struct record_opts *o,
                         const struct seam_events *events, struct seam_error *err)
{
	const char **argv = calloc((size_t)o->argc + 1, sizeof(*argv));
	struct buf out = { 0 };
	int error;

	record_put_machine(writer, &out);
	if (argv) {
		argv[0] = "seam";
		for (int i = 0; i < o->argc; i++)
			argv[i + 1] = o->argv[i];
		feature_put_cmdline(&out, (size_t)o->argc + 1, argv);
		record_put(writer, SEAM_FEATURE_CMDLINE, &out);
	}
	free(argv);
	feature_put_event_desc(&out, events);
	record_put(writer, SEAM_FEATURE_EVENT_DESC, &out);
	record_put_groups(writer, &o->events, &out);
	if (o->rec.session.use_clockid)
		record_put_clock(writer, o->rec.session.clockid, &out);
	error = tracing_data_collect(events, NULL, &out);
	if (error > 0)
		record_put(writer, SEAM_FEATURE_TRACING_DATA, &out);
	else if (error < 0)
		seam_error_set(err, -error, NULL, SEAM_NO_OFFSET, NULL,
		               "the formats of the tracepoints cannot be read: %s",
		               strerror(-error));
	buf_free(&out);
	return error < 0 ? error : 0;
}

void record_tail_features(struct seam_writer *writer, const struct datafile *sink)
{
	struct buf out = { 0 };

	if (sink->samples && sink->time_at) {
		feature_put_sample_time(&out, sink->first_ns, sink->last_ns);
		record_put(writer, SEAM_FEATURE_SAMPLE_TIME, &out);
	}
	if (sink->keep_files && datafile_build_ids(sink, &out))
		record_put(writer, SEAM_FEATURE_BUILD_ID, &out);
	if (datafile_owners(sink, &out))
		record_put(writer, FEATURE_OWNERS, &out);
	buf_free(&out);
}

static int record_give(struct datafile *sink, struct buf *out)
{
	int error = out->failed ? -ENOMEM : datafile_write(sink, out->bytes, out->n);

	buf_free(out);
	return error;
}

int record_head_records(struct datafile *sink, const struct record_opts *o,
                        const struct session *session)
{
	struct buf out = { 0 };

	preface_put(session, o->rec.session.pids,
	            o->rec.session.target == SESSION_SYSTEM ? 0 : o->rec.session.n_pids, &out);
	return record_give(sink, &out);
}

int record_head_finished(struct datafile *sink)
{
	struct buf out = { 0 };

	preface_put_finished(&out);
	return record_give(sink, &out);
}
