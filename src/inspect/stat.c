// SPDX-License-Identifier: MIT
// stat.c: `seam stat FILE`: what is in a recording: records per type and per event, in the form of
// perf report --stats, and what was lost, where and when. Reads once, keeps counters only.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "abi/record.h"
#include "abi/events.h"
#include "abi/members.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/shown.h"
#include "cli/cmds.h"
#include "input/infile.h"
#include "report/walk_result_text.h"
#include "input/source.h"
#include "inspect/stat_stitch.h"

#define STAT_TYPES 128u /* types below are counted by index, the others in a map */
#define STAT_SLOTS 32u  /* of the losses over time */

enum {
	STAT_CHECK = 1,
	STAT_STACKS
};

struct stat_losses {
	uint64_t records, lost, lost_samples, tasks;
	struct map by_cpu;
	uint64_t first_ns, width_ns, slots[STAT_SLOTS];
	bool started;
};

struct stat_cmd {
	struct source source;
	bool check, stacks;
	uint64_t types[STAT_TYPES], total;
	struct map other_types;
	uint64_t *by_event; /* samples */
	size_t n_by_event;
	uint64_t no_event, undecodable;
	struct seam_error first_undecodable;
	struct walk_result_counts unwound; /* while recording */
	struct stat_losses losses;
	struct members members;
	struct stat_stitch stitch;
};

/* ---- counting ---- */

static int stat_event(struct stat_cmd *s, const struct seam_event *event)
{
	if (ARRAY_ROOM_ZEROED(&s->by_event, &s->n_by_event, (size_t)event->index + 1) < 0)
		return -1;
	s->by_event[event->index]++;
	return 0;
}

/* A sample that reads its group counts for each member that has a share in it. */
static int stat_members(struct stat_cmd *s, const struct seam_decoded *d)
{
	struct member member;
	uint64_t i = 0;
	int r;

	while ((r = members_next(&s->members, seam_reader_events(s->source.reader), &d->sample, &i,
	                         &member)) > 0) {
		if (stat_event(s, member.event) < 0)
			return -ENOMEM;
	}
	return r;
}

static int stat_sample(struct stat_cmd *s, const struct seam_record *record)
{
	const struct seam_events *events = seam_reader_events(s->source.reader);
	const struct seam_event *event = events_of_sample(events, record);
	struct seam_decoded d;

	if (!event) {
		s->no_event++;
		return 0;
	}
	walk_result_count(&s->unwound, &event->attr, record->misc);
	if (event->attr.sample_type & SEAM_SAMPLE_READ &&
	    record_decode(events, record, &d, NULL) >= 0 && members_of(&d.sample))
		return stat_members(s, &d);
	return stat_event(s, event);
}

/* Adds the losses to one of a few slots of time. If the time is after the last slot, all slots
 * become twice as wide. */
static void stat_loss_time(struct stat_losses *l, uint64_t time_ns, uint64_t lost)
{
	uint64_t slot;

	if (!l->started) {
		l->started = true;
		l->first_ns = time_ns;
		l->width_ns = 1000000;
	}
	if (time_ns < l->first_ns)
		time_ns = l->first_ns;
	while ((slot = (time_ns - l->first_ns) / l->width_ns) >= STAT_SLOTS) {
		for (size_t i = 0; i < STAT_SLOTS; i++)
			l->slots[i] =
			        i < STAT_SLOTS / 2 ? l->slots[2 * i] + l->slots[2 * i + 1] : 0;
		l->width_ns *= 2;
	}
	l->slots[slot] += lost;
}

static void stat_loss(struct stat_losses *l, const struct seam_decoded *d)
{
	uint64_t lost = d->lost.lost, *by_cpu;

	if (d->record->type == SEAM_RECORD_LOST_SAMPLES && d->record->misc & SEAM_MISC_LOST_TASKS) {
		l->tasks += lost;
		return;
	}
	l->records++;
	l->lost += lost;
	if (d->record->type == SEAM_RECORD_LOST_SAMPLES)
		l->lost_samples += lost;
	by_cpu = map_slot(&l->by_cpu, d->id.has & SEAM_SAMPLE_CPU ? d->id.cpu : UINT64_MAX, NULL);
	if (by_cpu)
		*by_cpu += lost;
	if (d->id.has & SEAM_SAMPLE_TIME)
		stat_loss_time(l, d->id.time_ns, lost);
}

static void stat_decode(struct stat_cmd *s, const struct seam_record *record)
{
	const struct seam_events *events = seam_reader_events(s->source.reader);
	struct seam_decoded decoded;
	struct seam_error err; /* filled on failure only */
	int rc = record_decode(events, record, &decoded, &err);

	if (rc == -EOPNOTSUPP)
		return; /* a type that is not known is not damage */
	if (rc < 0 && !s->undecodable++)
		s->first_undecodable = err;
	if (rc >= 0 &&
	    (record->type == SEAM_RECORD_LOST || record->type == SEAM_RECORD_LOST_SAMPLES))
		stat_loss(&s->losses, &decoded);
}

/* Counts one record. -ENOMEM; with --strict -EBADMSG for one that cannot be decoded. */
static int stat_record(struct stat_cmd *s, const struct seam_record *record)
{
	uint64_t *slot;

	s->total++;
	if (record->type < STAT_TYPES) {
		s->types[record->type]++;
	} else {
		slot = map_slot(&s->other_types, record->type, NULL);
		if (!slot)
			return -ENOMEM;
		++*slot;
	}
	if (record->type == SEAM_RECORD_SAMPLE && stat_sample(s, record) < 0)
		return -ENOMEM;
	if (s->stacks &&
	    stat_stitch_record(&s->stitch, seam_reader_events(s->source.reader), record) < 0)
		return -ENOMEM;
	if (s->check || record->type == SEAM_RECORD_LOST ||
	    record->type == SEAM_RECORD_LOST_SAMPLES)
		stat_decode(s, record);
	return s->source.strict && (s->undecodable || s->no_event) ? -EBADMSG : 0;
}

/* ---- text ---- */

static void stat_type_text(const struct stat_cmd *s, uint64_t type, uint64_t n, struct buf *out)
{
	const char *name = type <= UINT32_MAX ? seam_record_name((uint32_t)type) : NULL;
	char number[32];

	if (!n)
		return;
	snprintf(number, sizeof(number), "type %llu", (unsigned long long)type);
	shown_printf(out, "%20s events: %10llu  (%4.1f%%)\n", name ? name : number,
	             (unsigned long long)n, 100.0 * (double)n / (double)s->total);
}

static int stat_key_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The keys of a map, ascending; the caller frees them. */
static uint64_t *stat_keys(const struct map *m)
{
	uint64_t *keys = malloc((m->n + 1) * sizeof(*keys)), value;
	size_t i = 0, n = 0;

	while (keys && map_next(m, &i, &keys[n], &value))
		n++;
	if (keys)
		qsort(keys, n, sizeof(*keys), stat_key_order);
	return keys;
}

static void stat_types_text(struct stat_cmd *s, struct buf *out)
{
	uint64_t *others = stat_keys(&s->other_types);

	buf_put_text(out, "\nAggregated stats:\n");
	shown_printf(out, "%20s events: %10llu\n", "TOTAL", (unsigned long long)s->total);
	for (unsigned i = 0; i < STAT_TYPES; i++)
		stat_type_text(s, i, s->types[i], out);
	for (size_t i = 0; others && i < s->other_types.n; i++) {
		uint64_t n = 0;

		map_get(&s->other_types, others[i], &n);
		stat_type_text(s, others[i], n, out);
	}
	free(others);
}

static void stat_events_text(const struct stat_cmd *s, struct buf *out)
{
	const struct seam_events *events = seam_reader_events(s->source.reader);

	for (size_t i = 0; i < s->n_by_event; i++) {
		if (s->by_event[i])
			shown_printf(out, "%s stats:\n%20s events: %10llu\n",
			             seam_events_at(events, i)->name, "SAMPLE",
			             (unsigned long long)s->by_event[i]);
	}
}

/* Writes how much was lost, by CPU and by time. */
static void stat_losses_text(const struct stat_losses *l, struct buf *out)
{
	uint64_t *cpus = stat_keys(&l->by_cpu);
	size_t used = STAT_SLOTS;

	shown_printf(out, "lost: %llu in %llu records (%llu of them counted as samples)\n",
	             (unsigned long long)l->lost, (unsigned long long)l->records,
	             (unsigned long long)l->lost_samples);
	if (l->tasks)
		shown_printf(out,
		             "not followed: %llu tasks or more, of which there are no samples\n",
		             (unsigned long long)l->tasks);
	for (size_t i = 0; cpus && i < l->by_cpu.n; i++) {
		uint64_t n = 0;

		map_get(&l->by_cpu, cpus[i], &n);
		if (cpus[i] == UINT64_MAX)
			shown_printf(out, "  cpu unknown: %llu\n", (unsigned long long)n);
		else
			shown_printf(out, "  cpu %llu: %llu\n", (unsigned long long)cpus[i],
			             (unsigned long long)n);
	}
	free(cpus);
	while (used && !l->slots[used - 1])
		used--;
	for (size_t i = 0; i < used; i++) {
		uint64_t from = l->first_ns + i * l->width_ns;

		if (l->slots[i])
			shown_printf(out, "  from %llu.%06llu s on, %llu ms: %llu\n",
			             (unsigned long long)(from / 1000000000),
			             (unsigned long long)(from / 1000 % 1000000),
			             (unsigned long long)(l->width_ns / 1000000),
			             (unsigned long long)l->slots[i]);
	}
}

/* Writes all counts. Compressed records are counted by the reader, which does not hand them out. */
static void stat_text(struct stat_cmd *s, struct buf *out)
{
	struct seam_reader_info info = { .sz = sizeof(info) };

	seam_reader_info(s->source.reader, &info);
	s->types[SEAM_RECORD_COMPRESSED] += info.compressed_records - info.compressed2_records;
	s->types[SEAM_RECORD_COMPRESSED2] += info.compressed2_records;
	s->total += info.compressed_records;
	stat_types_text(s, out);
	stat_events_text(s, out);
	if (s->no_event)
		shown_printf(out, "samples of no known event: %llu\n",
		             (unsigned long long)s->no_event);
	stat_stitch_text(&s->stitch, out);
	walk_result_text(&s->unwound, out);
	if (s->losses.records || s->losses.tasks)
		stat_losses_text(&s->losses, out);
	if (info.compressed_bytes)
		shown_printf(out, "compressed: %llu bytes from %llu, ratio %.1f\n",
		             (unsigned long long)info.compressed_bytes,
		             (unsigned long long)info.decompressed_bytes,
		             (double)info.decompressed_bytes / (double)info.compressed_bytes);
}

/* ---- the command ---- */

static int stat_verdict(const struct stat_cmd *s)
{
	int code = source_verdict(&s->source);

	infile_say_copies(s->source.cmd, s->source.path, stat_stitch_copies(&s->stitch));
	if (!s->undecodable)
		return s->no_event ? EXIT_PARTIAL : code;
	cmd_error(s->source.cmd, "%s: %s: the first of %llu records that cannot be decoded",
	          s->source.path, s->first_undecodable.text, (unsigned long long)s->undecodable);
	return EXIT_PARTIAL;
}

/* With --strict the first record that belongs to no event or cannot be decoded ends the run. */
static int stat_stop(const struct stat_cmd *s, const struct seam_record *record, int rc)
{
	if (rc == -ENOMEM)
		cmd_error(s->source.cmd, "out of memory");
	else if (s->undecodable)
		cmd_error(s->source.cmd, "%s: %s", s->source.path, s->first_undecodable.text);
	else
		cmd_error(s->source.cmd, "%s: offset 0x%llx: SAMPLE: belongs to no event",
		          s->source.path, (unsigned long long)record->offset);
	return EXIT_FAILED;
}

/* Reads the whole input once, then prints. An exit code. */
static int stat_print(struct stat_cmd *s)
{
	struct seam_record record;
	struct buf out = { 0 };
	int rc, code, verdict;
	struct stat st;

	code = source_open(&s->source);
	if (code != EXIT_OK) {
		if (!stat(s->source.path, &st) && S_ISREG(st.st_mode) && st.st_mode & 0111)
			cmd_error(s->source.cmd,
			          "a recording is what is counted here; to count the "
			          "events of a program is 'perf stat'");
		return code;
	}
	while ((rc = source_next(&s->source, &record)) > 0) {
		rc = stat_record(s, &record);
		if (rc < 0)
			return stat_stop(s, &record, rc);
	}
	if (rc < 0)
		return EXIT_FAILED;
	if (stat_stitch_finish(&s->stitch, seam_reader_events(s->source.reader)) < 0)
		return stat_stop(s, &record, -ENOMEM);
	stat_text(s, &out);
	code = source_print(&s->source, &out);
	verdict = stat_verdict(s);
	buf_free(&out);
	return code == EXIT_OK ? verdict : code;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int stat_run(int argc, char **argv, const struct cmd *self)
{
	struct options o = options_start(argc, argv, self);
	struct stat_cmd s = { .source.cmd = self };
	int id, code;

	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			return EXIT_OK;
		if (id == STAT_CHECK)
			s.check = true;
		else if (id == STAT_STACKS)
			s.stacks = true;
		else if (source_option(&s.source, id, o.arg) != EXIT_OK)
			return EXIT_USAGE;
	}
	code = stat_print(&s);
	source_close(&s.source);
	free(s.by_event);
	map_free(&s.other_types);
	map_free(&s.losses.by_cpu);
	members_free(&s.members);
	stat_stitch_free(&s.stitch);
	return code;
}

static const struct option_def stat_options[] = {
	SOURCE_OPTIONS,
	{ "stacks", 0, NULL, "say what became of deferred user stacks, too (slower)", STAT_STACKS },
	{ "check", 0, NULL, "decode every record, and say how many cannot be", STAT_CHECK },
	{ 0 },
};

const struct cmd cmd_stat = {
	.name = "stat",
	.synopsis = "[options] [FILE]",
	.summary = "Count what is in a recording, and what was lost",
	.options = stat_options,
	.run = stat_run,
};
