// SPDX-License-Identifier: MIT
// feature_text.c: header features in the form of perf report --header-only. One function per
// feature; what a feature lacks in bytes makes it fail as a whole, nothing is guessed. Those that
// say what the machine is are in feature_text_machine.c.
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/shown.h"
#include "perfdata/event_name.h"
#include "perfdata/feature_text.h"

/* Most features are one string: "# label : text". */
static void text_string(struct text *t, const char *label)
{
	const char *s = feature_string(&t->c);

	if (s)
		shown_printf(t->out, "# %s : %s\n", label, s);
}

static void text_hostname(struct text *t)
{
	text_string(t, "hostname");
}

static void text_osrelease(struct text *t)
{
	text_string(t, "os release");
}

static void text_version(struct text *t)
{
	text_string(t, "perf version");
}

static void text_arch(struct text *t)
{
	text_string(t, "arch");
}

static void text_cpudesc(struct text *t)
{
	text_string(t, "cpudesc");
}

static void text_cpuid(struct text *t)
{
	text_string(t, "cpuid");
}

static void text_cmdline(struct text *t)
{
	buf_put_text(t->out, "# cmdline : ");
	if (feature_cmdline(t->bytes, t->c.swap, t->out) < 0)
		cursor_fail(&t->c);
	buf_put_text(t->out, "\n");
}

static void text_event(struct text *t, const struct feature_event_desc *d)
{
	shown_printf(t->out, "# event : name = %s, ", d->name);
	if (d->ids.n)
		buf_put_text(t->out, ", id = {");
	for (uint64_t i = 0; i < d->ids.n; i++)
		shown_printf(t->out, "%s %" PRIu64, i ? "," : "", seam_u64s_at(&d->ids, i));
	buf_put_text(t->out, d->ids.n ? " }, " : ", ");
	event_attr_text(&d->attr, " = ", t->out);
	buf_put_text(t->out, "\n");
}

static void text_event_desc(struct text *t)
{
	struct feature_event_descs walk;
	struct feature_event_desc desc;
	int rc = feature_event_descs(t->bytes, t->c.swap, &walk);

	while (rc >= 0 && (rc = feature_next_event_desc(&walk, &desc)) > 0)
		text_event(t, &desc);
	if (rc < 0)
		cursor_fail(&t->c);
}

static void text_branch_stack(struct text *t)
{
	buf_put_text(t->out, "# contains samples with branch stack\n");
}

static void text_auxtrace(struct text *t)
{
	buf_put_text(t->out, "# contains AUX area data (e.g. instruction trace)\n");
}

static void text_stat(struct text *t)
{
	buf_put_text(t->out, "# contains stat data\n");
}

/* An event is in one group only. A feature that says otherwise is unsound: 9 MB of it could make 18
 * GB of text. */
/* The members of a group are said by number alone, so their names come from the events. The
 * anonymous group has perf's name for it, which is not shown. */
static void text_group_desc(struct text *t)
{
	const struct seam_events *events = t->context->events;
	size_t left = events ? seam_events_count(events) : 0;

	for (uint32_t n = cursor_u32(&t->c); n && !t->c.failed; n--) {
		const char *name = feature_string(&t->c);
		uint64_t leader = cursor_u32(&t->c), members = cursor_u32(&t->c);

		if (t->c.failed)
			return;
		shown_printf(t->out, "# group: %s{", strcmp(name, "{anon_group}") ? name : "");
		for (uint64_t i = 0; i < members; i++) {
			const struct seam_event *e =
			        events ? seam_events_at(events, (size_t)(leader + i)) : NULL;

			if (!e)
				break;
			if (!left--) {
				cursor_fail(&t->c);
				return;
			}
			shown_printf(t->out, "%s%s", i ? "," : "", e->name);
		}
		buf_put_text(t->out, "}\n");
	}
}

/* Seconds with six digits, as perf prints times. */
static void text_sample_time(struct text *t)
{
	uint64_t first = cursor_u64(&t->c), last = cursor_u64(&t->c);

	shown_printf(t->out,
	             "# time of first sample : %" PRIu64 ".%06" PRIu64
	             "\n# time of last sample : %" PRIu64 ".%06" PRIu64
	             "\n# sample duration : %10.3f ms\n",
	             first / 1000000000, first / 1000 % 1000000, last / 1000000000,
	             last / 1000 % 1000000, (double)(last - first) / 1e6);
}

/* perf's label says MHz although the feature holds the length of a tick in ns; the number is
 * perf's. */
static void text_clockid(struct text *t)
{
	shown_printf(t->out, "# clockid frequency: %" PRIu64 " MHz\n", cursor_u64(&t->c) * 1000);
}

static const char *text_clock_name(uint32_t id)
{
	static const char *const names[] = { "realtime",           "monotonic",
		                             "process_cputime_id", "thread_cputime_id",
		                             "monotonic_raw",      "realtime_coarse",
		                             "monotonic_coarse",   "boottime" };

	return id < sizeof(names) / sizeof(names[0]) ? names[id] : "unknown";
}

/* Prints which clock the recording used, and one moment on both this clock and the wall clock, from
 * which times of day can be computed. */
static void text_clock_data(struct text *t)
{
	struct feature_clock_data d;
	struct tm tm;
	time_t s;
	char day[64] = "?";

	if (feature_clock_data(t->bytes, t->c.swap, &d) < 0) {
		cursor_fail(&t->c);
		return;
	}
	s = (time_t)(d.wall_clock_ns / 1000000000);
	if (localtime_r(&s, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
	shown_printf(t->out, "# clockid: %s (%" PRIu32 ")\n", text_clock_name(d.clockid),
	             d.clockid);
	shown_printf(t->out,
	             "# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64
	             " (TOD) = %" PRIu64 ".%09" PRIu64 " (%s)\n",
	             day, d.wall_clock_ns / 1000 % 1000000, d.wall_clock_ns / 1000000000,
	             d.wall_clock_ns / 1000 % 1000000, d.clockid_time_ns / 1000000000,
	             d.clockid_time_ns % 1000000000, text_clock_name(d.clockid));
}

static void text_dir_format(struct text *t)
{
	shown_printf(t->out, "# directory data version : %" PRIu64 "\n", cursor_u64(&t->c));
}

/* Prints the ids of the BPF programs that the recording describes. Their own arrays are passed
 * over. */
static void text_bpf_prog_info(struct text *t)
{
	uint32_t n = cursor_u32(&t->c);

	if (!n)
		buf_put_text(t->out, "# bpf_prog_info empty\n");
	while (n-- && !t->c.failed) {
		uint32_t info_size = cursor_u32(&t->c), data_size = cursor_u32(&t->c);
		struct cursor info;

		cursor_u64(&t->c); /* which arrays the data holds */
		info = t->c;
		cursor_u32(&info);
		if (!cursor_bytes(&t->c, info_size) || !cursor_bytes(&t->c, data_size))
			break;
		if (info_size < 8) /* the id would be another part's */
			buf_put_text(t->out, "# bpf_prog_info without an id\n");
		else
			shown_printf(t->out, "# bpf_prog_info of id %" PRIu32 "\n",
			             cursor_u32(&info));
	}
}

/* Only the ids: the type information itself is for those that disassemble BPF programs. */
static void text_bpf_btf(struct text *t)
{
	uint32_t n = cursor_u32(&t->c);

	if (!n)
		buf_put_text(t->out, "# btf info empty\n");
	while (n-- && !t->c.failed) {
		uint32_t id = cursor_u32(&t->c), size = cursor_u32(&t->c);

		if (cursor_bytes(&t->c, size))
			shown_printf(t->out, "# btf info of id %" PRIu32 "\n", id);
	}
}

/* The ratio is that of all data, rounded down; the writer knows it at the end only. */
static void text_compressed(struct text *t)
{
	const uint32_t zstd = 1;
	uint32_t type, level, ratio;

	cursor_u32(&t->c); /* version */
	type = cursor_u32(&t->c);
	level = cursor_u32(&t->c);
	ratio = cursor_u32(&t->c);
	shown_printf(t->out, "# compressed : %s, level = %" PRIu32 ", ratio = %" PRIu32 "\n",
	             type == zstd ? "Zstd" : "Unknown", level, ratio);
}

/* A feature without a row is machine-dependent and stands in feature_text_machine.c, or has no
 * text. */
static text_feature *const texts[] = {
	[SEAM_FEATURE_HOSTNAME] = text_hostname,
	[SEAM_FEATURE_OSRELEASE] = text_osrelease,
	[SEAM_FEATURE_VERSION] = text_version,
	[SEAM_FEATURE_ARCH] = text_arch,
	[SEAM_FEATURE_CPUDESC] = text_cpudesc,
	[SEAM_FEATURE_CPUID] = text_cpuid,
	[SEAM_FEATURE_CMDLINE] = text_cmdline,
	[SEAM_FEATURE_EVENT_DESC] = text_event_desc,
	[SEAM_FEATURE_BRANCH_STACK] = text_branch_stack,
	[SEAM_FEATURE_GROUP_DESC] = text_group_desc,
	[SEAM_FEATURE_AUXTRACE] = text_auxtrace,
	[SEAM_FEATURE_STAT] = text_stat,
	[SEAM_FEATURE_SAMPLE_TIME] = text_sample_time,
	[SEAM_FEATURE_CLOCKID] = text_clockid,
	[SEAM_FEATURE_DIR_FORMAT] = text_dir_format,
	[SEAM_FEATURE_BPF_PROG_INFO] = text_bpf_prog_info,
	[SEAM_FEATURE_BPF_BTF] = text_bpf_btf,
	[SEAM_FEATURE_COMPRESSED] = text_compressed,
	[SEAM_FEATURE_CLOCK_DATA] = text_clock_data,
};

/* Appends the feature's text. 0, also where it has none; -EBADMSG: it is cut or unsound, and
 * nothing of it stays in the output; -ENOMEM. */
int feature_text(unsigned feature, const struct seam_bytes *bytes,
                 const struct feature_context *context, struct buf *out)
{
	struct text t = { .c = cursor_of(bytes->bytes, bytes->n, context->swap),
		          .bytes = bytes,
		          .context = context,
		          .out = out };
	size_t start = out->n;
	text_feature *put = feature < sizeof(texts) / sizeof(texts[0]) ? texts[feature] : NULL;

	if (!put)
		put = feature_text_machine(feature);
	if (!put)
		return 0;
	put(&t);
	if (t.c.failed)
		out->n = start;
	return out->failed ? -ENOMEM : t.c.failed ? -EBADMSG : 0;
}
