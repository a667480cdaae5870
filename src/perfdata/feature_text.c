// SPDX-License-Identifier: MIT
// feature_text.c: header features in the form of perf report --header-only. One function per
// feature; what a feature lacks in bytes makes it fail as a whole, nothing is guessed.
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "perfdata/event_name.h"
#include "perfdata/feature.h"

struct text {
	struct cursor c;
	const struct seam_bytes *bytes;
	const struct feature_context *context;
	struct buf *out;
};

static void text_strings(struct text *t, const char *label)
{
	uint32_t n = cursor_u32(&t->c);

	while (n-- && !t->c.failed) {
		const char *s = feature_string(&t->c);

		if (s)
			buf_printf(t->out, "# %s : %s\n", label, s);
	}
}

static void text_string(struct text *t, const char *label)
{
	const char *s = feature_string(&t->c);

	if (s)
		buf_printf(t->out, "# %s : %s\n", label, s);
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

static void text_nrcpus(struct text *t)
{
	uint32_t available = cursor_u32(&t->c), online = cursor_u32(&t->c);

	buf_printf(t->out, "# nrcpus online : %" PRIu32 "\n# nrcpus avail : %" PRIu32 "\n", online,
	           available);
}

static void text_total_mem(struct text *t)
{
	buf_printf(t->out, "# total memory : %" PRIu64 " kB\n", cursor_u64(&t->c));
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
	buf_printf(t->out, "# event : name = %s, ", d->name);
	if (d->ids.n)
		buf_put_text(t->out, ", id = {");
	for (uint64_t i = 0; i < d->ids.n; i++)
		buf_printf(t->out, "%s %" PRIu64, i ? "," : "", seam_u64s_at(&d->ids, i));
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

static bool text_brief(struct text *t, const char *name)
{
	if (t->context->full)
		return false;
	buf_printf(t->out, "# %s info available, use -I to display\n", name);
	return true;
}

/* The ids of each CPU come before the dies: they are shown together, so the dies are read first. */
static void text_cpu_topology(struct text *t)
{
	uint32_t n = t->context->cpus;
	struct cursor ids, dies;
	const unsigned char *at;

	if (text_brief(t, "CPU_TOPOLOGY"))
		return;
	text_strings(t, "sibling sockets");
	at = t->c.at;
	dies = t->c;
	for (uint32_t i = cursor_u32(&dies); i && !dies.failed; i--)
		feature_string(&dies);
	ids = dies;
	cursor_array(&dies, n, 8);
	if (!dies.failed && cursor_left(&dies)) {
		struct text d = *t;

		d.c = dies;
		text_strings(&d, "sibling dies   ");
		dies = d.c;
	}
	t->c.at = at;
	text_strings(t, "sibling threads");
	if (!n || cursor_left(&ids) < (uint64_t)n * 8) {
		buf_put_text(t->out, "# Core ID and Socket ID information is not available\n");
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		int32_t core = (int32_t)cursor_u32(&ids), socket = (int32_t)cursor_u32(&ids);

		buf_printf(t->out, "# CPU %" PRIu32 ": Core ID %" PRId32, i, core);
		if (cursor_left(&dies) >= 4)
			buf_printf(t->out, ", Die ID %" PRId32, (int32_t)cursor_u32(&dies));
		buf_printf(t->out, ", Socket ID %" PRId32 "\n", socket);
	}
}

static void text_numa_topology(struct text *t)
{
	uint32_t n;

	if (text_brief(t, "NUMA_TOPOLOGY"))
		return;
	for (n = cursor_u32(&t->c); n && !t->c.failed; n--) {
		uint32_t node = cursor_u32(&t->c);
		uint64_t total = cursor_u64(&t->c), free_kb = cursor_u64(&t->c);
		const char *cpus = feature_string(&t->c);

		if (cpus)
			buf_printf(t->out,
			           "# node%u meminfo  : total = %" PRIu64 " kB, free = %" PRIu64
			           " kB\n# node%u cpu list : %s\n",
			           node, total, free_kb, node, cpus);
	}
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

static void text_pmu_mappings(struct text *t)
{
	uint32_t n = cursor_u32(&t->c);

	if (!n) {
		buf_put_text(t->out, "# pmu mappings: not available\n");
		return;
	}
	buf_put_text(t->out, "# pmu mappings: ");
	for (uint32_t i = 0; i < n && !t->c.failed; i++) {
		uint32_t type = cursor_u32(&t->c);
		const char *name = feature_string(&t->c);

		if (name)
			buf_printf(t->out, "%s%s = %" PRIu32, i ? ", " : "", name, type);
	}
	buf_put_text(t->out, "\n");
}

static void text_group_desc(struct text *t)
{
	for (uint32_t n = cursor_u32(&t->c); n && !t->c.failed; n--) {
		const char *name = feature_string(&t->c);
		uint64_t leader = cursor_u32(&t->c), members = cursor_u32(&t->c);

		if (t->c.failed)
			return;
		buf_printf(t->out, "# group: %s{", strcmp(name, "{anon_group}") ? name : "");
		for (uint64_t i = 0; i < members; i++) {
			const struct seam_event *e = NULL;

			if (t->context->events)
				e = seam_events_at(t->context->events, (size_t)(leader + i));
			if (!e)
				break;
			buf_printf(t->out, "%s%s", i ? "," : "", e->name);
		}
		buf_put_text(t->out, "}\n");
	}
}

static void text_cache(struct text *t)
{
	if (text_brief(t, "CACHE"))
		return;
	cursor_u32(&t->c); /* version, 1 */
	buf_put_text(t->out, "# CPU cache info:\n");
	for (uint32_t n = cursor_u32(&t->c); n && !t->c.failed; n--) {
		uint32_t level = cursor_u32(&t->c);
		const char *type, *size, *map;

		cursor_bytes(&t->c, 12); /* line size, sets, ways */
		type = feature_string(&t->c);
		size = feature_string(&t->c);
		map = feature_string(&t->c);
		if (!t->c.failed)
			buf_printf(t->out, "#  L%" PRIu32 " %-15s %8s [%s]\n", level, type, size,
			           map);
	}
}

static void text_sample_time(struct text *t)
{
	uint64_t first = cursor_u64(&t->c), last = cursor_u64(&t->c);

	buf_printf(t->out,
	           "# time of first sample : %" PRIu64 ".%06" PRIu64
	           "\n# time of last sample : %" PRIu64 ".%06" PRIu64
	           "\n# sample duration : %10.3f ms\n",
	           first / 1000000000, first / 1000 % 1000000, last / 1000000000,
	           last / 1000 % 1000000, (double)(last - first) / 1e6);
}

static void text_size(uint64_t bytes, struct buf *out)
{
	static const char units[] = "BKMGTPE";
	size_t i = 0;

	for (; bytes >= 1024 && i < sizeof(units) - 2; i++)
		bytes /= 1024;
	buf_printf(out, "%" PRIu64 "%c", bytes, units[i]);
}

/* A bitmap of memory blocks as ranges: "0-23,30". */
static void text_blocks(const struct seam_u64s *words, uint64_t bits, struct buf *out)
{
	const char *comma = "";

	for (uint64_t i = 0; i < bits; i++) {
		uint64_t from = i;

		while (i < bits && seam_u64s_at(words, i / 64) >> i % 64 & 1)
			i++;
		if (i == from)
			continue;
		buf_printf(out, "%s%" PRIu64, comma, from);
		if (i - 1 > from)
			buf_printf(out, "-%" PRIu64, i - 1);
		comma = ",";
	}
}

static void text_mem_node(struct text *t, uint64_t block)
{
	uint64_t node = cursor_u64(&t->c), bits, n = 0;
	struct seam_u64s words = { .swap = t->c.swap };

	cursor_u64(&t->c); /* how many bits are used */
	bits = cursor_u64(&t->c);
	words.n = bits / 64 + !!(bits % 64);
	words.bytes = cursor_array(&t->c, words.n, 8);
	if (!words.bytes)
		return;
	for (uint64_t i = 0; i < words.n; i++)
		n += (uint64_t)__builtin_popcountll(seam_u64s_at(&words, i));
	buf_printf(t->out, "# %4" PRIu64 " [", node);
	text_size(n * block, t->out);
	buf_put_text(t->out, "]: ");
	text_blocks(&words, bits, t->out);
	buf_put_text(t->out, "\n");
}

static void text_mem_topology(struct text *t)
{
	uint64_t block, n;

	if (text_brief(t, "MEM_TOPOLOGY"))
		return;
	cursor_u64(&t->c); /* version, 1 */
	block = cursor_u64(&t->c);
	n = cursor_u64(&t->c);
	buf_printf(t->out, "# memory nodes (nr %" PRIu64 ", block size 0x%" PRIx64 "):\n", n,
	           block);
	while (n-- && !t->c.failed)
		text_mem_node(t, block);
}

static void text_clockid(struct text *t)
{
	buf_printf(t->out, "# clockid frequency: %" PRIu64 " MHz\n", cursor_u64(&t->c) * 1000);
}

static const char *text_clock_name(uint32_t id)
{
	static const char *const names[] = { "realtime",           "monotonic",
		                             "process_cputime_id", "thread_cputime_id",
		                             "monotonic_raw",      "realtime_coarse",
		                             "monotonic_coarse",   "boottime" };

	return id < sizeof(names) / sizeof(names[0]) ? names[id] : "unknown";
}

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
	buf_printf(t->out, "# clockid: %s (%" PRIu32 ")\n", text_clock_name(d.clockid), d.clockid);
	buf_printf(t->out,
	           "# reference time: %s.%06" PRIu64 " = %" PRIu64 ".%06" PRIu64 " (TOD) = %" PRIu64
	           ".%09" PRIu64 " (%s)\n",
	           day, d.wall_clock_ns / 1000 % 1000000, d.wall_clock_ns / 1000000000,
	           d.wall_clock_ns / 1000 % 1000000, d.clockid_time_ns / 1000000000,
	           d.clockid_time_ns % 1000000000, text_clock_name(d.clockid));
}

static void text_dir_format(struct text *t)
{
	buf_printf(t->out, "# directory data version : %" PRIu64 "\n", cursor_u64(&t->c));
}

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
			buf_printf(t->out, "# bpf_prog_info of id %" PRIu32 "\n",
			           cursor_u32(&info));
	}
}

static void text_bpf_btf(struct text *t)
{
	uint32_t n = cursor_u32(&t->c);

	if (!n)
		buf_put_text(t->out, "# btf info empty\n");
	while (n-- && !t->c.failed) {
		uint32_t id = cursor_u32(&t->c), size = cursor_u32(&t->c);

		if (cursor_bytes(&t->c, size))
			buf_printf(t->out, "# btf info of id %" PRIu32 "\n", id);
	}
}

static void text_compressed(struct text *t)
{
	const uint32_t zstd = 1;
	uint32_t type, level, ratio;

	cursor_u32(&t->c); /* version */
	type = cursor_u32(&t->c);
	level = cursor_u32(&t->c);
	ratio = cursor_u32(&t->c);
	buf_printf(t->out, "# compressed : %s, level = %" PRIu32 ", ratio = %" PRIu32 "\n",
	           type == zstd ? "Zstd" : "Unknown", level, ratio);
}

static void text_caps(struct text *t, uint32_t n)
{
	const char *comma = "";

	while (n-- && !t->c.failed) {
		const char *name = feature_string(&t->c), *value = feature_string(&t->c);

		if (value)
			buf_printf(t->out, "%s%s=%s", comma, name, value);
		comma = ", ";
	}
}

static void text_cpu_pmu_caps(struct text *t)
{
	uint32_t n = cursor_u32(&t->c);

	buf_printf(t->out, "# cpu pmu capabilities: %s", n ? "" : "not available");
	text_caps(t, n);
	buf_put_text(t->out, "\n");
}

/* The PMU's name stands behind its capabilities. */
static void text_pmu_caps(struct text *t)
{
	for (uint32_t n = cursor_u32(&t->c); n && !t->c.failed; n--) {
		struct buf caps = { 0 };
		struct text inner = *t;
		const char *name;

		inner.out = &caps;
		text_caps(&inner, cursor_u32(&inner.c));
		t->c = inner.c;
		name = feature_string(&t->c);
		if (name)
			buf_printf(t->out, "# %s pmu capabilities: %s\n", name, buf_text(&caps));
		buf_free(&caps);
	}
}

static void text_hybrid_topology(struct text *t)
{
	buf_put_text(t->out, "# hybrid cpu system:\n");
	for (uint32_t n = cursor_u32(&t->c); n && !t->c.failed; n--) {
		const char *name = feature_string(&t->c), *cpus = feature_string(&t->c);

		if (cpus)
			buf_printf(t->out, "# %s cpu list : %s\n", name, cpus);
	}
}

static void text_domain(struct text *t)
{
	uint32_t domain = cursor_u32(&t->c);
	const char *name = feature_string(&t->c), *map = feature_string(&t->c),
	           *list = feature_string(&t->c);

	if (list)
		buf_printf(t->out,
		           "# Domain\t\t: %" PRIu32 "\n# Domain name      : %s\n"
		           "# Domain cpu map   : %s\n# Domain cpu list  : %s\n",
		           domain, name, map, list);
}

static void text_cpu_domain_info(struct text *t)
{
	uint32_t version = cursor_u32(&t->c), most = cursor_u32(&t->c);

	if (text_brief(t, "CPU_DOMAIN_INFO"))
		return;
	buf_printf(t->out,
	           "# schedstat version\t: %" PRIu32 "\n# Maximum sched domains\t: %" PRIu32 "\n",
	           version, most);
	while (cursor_left(&t->c) && !t->c.failed) {
		uint32_t cpu = cursor_u32(&t->c), n = cursor_u32(&t->c);

		buf_printf(t->out, "# cpu\t\t: %" PRIu32 "\n# nr_domains\t: %" PRIu32 "\n", cpu, n);
		while (n-- && !t->c.failed)
			text_domain(t);
	}
}

static void text_e_machine(struct text *t)
{
	uint32_t machine = cursor_u32(&t->c), flags = cursor_u32(&t->c);

	buf_printf(t->out, "# e_machine : %" PRIu32 "\n#   e_flags : %" PRIu32 "\n", machine,
	           flags);
}

static void text_cln_size(struct text *t)
{
	buf_printf(t->out, "# cacheline size: %" PRIu32 "\n", cursor_u32(&t->c));
}

static void (*const texts[])(struct text *) = {
	[SEAM_FEATURE_HOSTNAME] = text_hostname,
	[SEAM_FEATURE_OSRELEASE] = text_osrelease,
	[SEAM_FEATURE_VERSION] = text_version,
	[SEAM_FEATURE_ARCH] = text_arch,
	[SEAM_FEATURE_NRCPUS] = text_nrcpus,
	[SEAM_FEATURE_CPUDESC] = text_cpudesc,
	[SEAM_FEATURE_CPUID] = text_cpuid,
	[SEAM_FEATURE_TOTAL_MEM] = text_total_mem,
	[SEAM_FEATURE_CMDLINE] = text_cmdline,
	[SEAM_FEATURE_EVENT_DESC] = text_event_desc,
	[SEAM_FEATURE_CPU_TOPOLOGY] = text_cpu_topology,
	[SEAM_FEATURE_NUMA_TOPOLOGY] = text_numa_topology,
	[SEAM_FEATURE_BRANCH_STACK] = text_branch_stack,
	[SEAM_FEATURE_PMU_MAPPINGS] = text_pmu_mappings,
	[SEAM_FEATURE_GROUP_DESC] = text_group_desc,
	[SEAM_FEATURE_AUXTRACE] = text_auxtrace,
	[SEAM_FEATURE_STAT] = text_stat,
	[SEAM_FEATURE_CACHE] = text_cache,
	[SEAM_FEATURE_SAMPLE_TIME] = text_sample_time,
	[SEAM_FEATURE_MEM_TOPOLOGY] = text_mem_topology,
	[SEAM_FEATURE_CLOCKID] = text_clockid,
	[SEAM_FEATURE_DIR_FORMAT] = text_dir_format,
	[SEAM_FEATURE_BPF_PROG_INFO] = text_bpf_prog_info,
	[SEAM_FEATURE_BPF_BTF] = text_bpf_btf,
	[SEAM_FEATURE_COMPRESSED] = text_compressed,
	[SEAM_FEATURE_CPU_PMU_CAPS] = text_cpu_pmu_caps,
	[SEAM_FEATURE_CLOCK_DATA] = text_clock_data,
	[SEAM_FEATURE_HYBRID_TOPOLOGY] = text_hybrid_topology,
	[SEAM_FEATURE_PMU_CAPS] = text_pmu_caps,
	[SEAM_FEATURE_CPU_DOMAIN_INFO] = text_cpu_domain_info,
	[SEAM_FEATURE_E_MACHINE] = text_e_machine,
	[SEAM_FEATURE_CLN_SIZE] = text_cln_size,
};

int feature_text(unsigned feature, const struct seam_bytes *bytes,
                 const struct feature_context *context, struct buf *out)
{
	struct text t = { .c = cursor_of(bytes->bytes, bytes->n, context->swap),
		          .bytes = bytes,
		          .context = context,
		          .out = out };
	size_t start = out->n;

	if (feature >= sizeof(texts) / sizeof(texts[0]) || !texts[feature])
		return 0;
	texts[feature](&t);
	if (t.c.failed)
		out->n = start;
	return t.c.failed ? -EBADMSG : out->failed ? -ENOMEM : 0;
}
