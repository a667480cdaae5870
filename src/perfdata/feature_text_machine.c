// SPDX-License-Identifier: MIT
/*
 * feature_text_machine.c: the header features that say what the machine is: processors, memory,
 * caches, PMUs. The form is feature_text.c's.
 *
 * Topology and caches are long, so they are shown only with `full` (perf's -I). Invariant: as in
 * feature_text.c, whatever a count says, a loop ends where the feature ends.
 */
#include "perfdata/feature_text.h"
#include "base/shown.h"

#include <inttypes.h>
#include <string.h>

/* A count, then that many strings, each on its own line. */
static void feature_text_strings(struct text *t, const char *label)
{
	uint32_t n = cursor_u32(&t->c);

	while (n-- && !t->c.failed) {
		const char *s = feature_string(&t->c);

		if (s)
			shown_printf(t->out, "# %s : %s\n", label, s);
	}
}

static void feature_text_nrcpus(struct text *t)
{
	uint32_t available = cursor_u32(&t->c), online = cursor_u32(&t->c);

	shown_printf(t->out, "# nrcpus online : %" PRIu32 "\n# nrcpus avail : %" PRIu32 "\n",
	             online, available);
}

static void feature_text_total_mem(struct text *t)
{
	shown_printf(t->out, "# total memory : %" PRIu64 " kB\n", cursor_u64(&t->c));
}

/* True, and a line that says how to see it: the caller writes nothing more. */
static bool feature_text_brief(struct text *t, const char *name)
{
	if (t->context->full)
		return false;
	shown_printf(t->out, "# %s info available, use -I to display\n", name);
	return true;
}

/* The ids of each CPU come before the dies: they are shown together, so the dies are read first. */
static void feature_text_cpu_topology(struct text *t)
{
	/* The number of CPUs comes from another feature (NRCPUS): this one does not say it. */
	uint32_t n = t->context->cpus;
	struct cursor ids, dies;
	const unsigned char *at;

	if (feature_text_brief(t, "CPU_TOPOLOGY"))
		return;
	feature_text_strings(t, "sibling sockets");
	at = t->c.at;
	dies = t->c;
	for (uint32_t i = cursor_u32(&dies); i && !dies.failed; i--)
		feature_string(&dies);
	ids = dies;
	/* Older perfs end behind the ids: the dies are read only if something is left. */
	cursor_array(&dies, n, 8);
	if (!dies.failed && cursor_left(&dies)) {
		struct text d = *t;

		d.c = dies;
		feature_text_strings(&d, "sibling dies   ");
		dies = d.c;
	}
	t->c.at = at;
	feature_text_strings(t, "sibling threads");
	if (!n || cursor_left(&ids) < (uint64_t)n * 8) {
		buf_put_text(t->out, "# Core ID and Socket ID information is not available\n");
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		int32_t core = (int32_t)cursor_u32(&ids), socket = (int32_t)cursor_u32(&ids);

		shown_printf(t->out, "# CPU %" PRIu32 ": Core ID %" PRId32, i, core);
		if (cursor_left(&dies) >= 4)
			shown_printf(t->out, ", Die ID %" PRId32, (int32_t)cursor_u32(&dies));
		shown_printf(t->out, ", Socket ID %" PRId32 "\n", socket);
	}
}

/* Memory in kB and CPUs of each node. */
static void feature_text_numa_topology(struct text *t)
{
	uint32_t n;

	if (feature_text_brief(t, "NUMA_TOPOLOGY"))
		return;
	for (n = cursor_u32(&t->c); n && !t->c.failed; n--) {
		uint32_t node = cursor_u32(&t->c);
		uint64_t total = cursor_u64(&t->c), free_kb = cursor_u64(&t->c);
		const char *cpus = feature_string(&t->c);

		if (cpus)
			shown_printf(t->out,
			             "# node%u meminfo  : total = %" PRIu64 " kB, free = %" PRIu64
			             " kB\n# node%u cpu list : %s\n",
			             node, total, free_kb, node, cpus);
	}
}

static void feature_text_pmu_mappings(struct text *t)
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
			shown_printf(t->out, "%s%s = %" PRIu32, i ? ", " : "", name, type);
	}
	buf_put_text(t->out, "\n");
}

/* Prints each CPU cache with its level, type, size and the CPUs that share it. */
static void feature_text_cache(struct text *t)
{
	if (feature_text_brief(t, "CACHE"))
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
			shown_printf(t->out, "#  L%" PRIu32 " %-15s %8s [%s]\n", level, type, size,
			             map);
	}
}

/* The size in the largest unit of which it is at least one, rounded down. */
static void feature_text_size(uint64_t bytes, struct buf *out)
{
	static const char units[] = "BKMGTPE";
	size_t i = 0;

	for (; bytes >= 1024 && i < sizeof(units) - 2; i++)
		bytes /= 1024;
	shown_printf(out, "%" PRIu64 "%c", bytes, units[i]);
}

/* A bitmap of memory blocks as ranges: "0-23,30". */
/* Whatever the count of bits says, the words were checked to be in the feature. */
static void feature_text_blocks(const struct seam_u64s *words, uint64_t bits, struct buf *out)
{
	const char *comma = "";

	for (uint64_t i = 0; i < bits; i++) {
		uint64_t from = i;

		while (i < bits && seam_u64s_at(words, i / 64) >> i % 64 & 1)
			i++;
		if (i == from)
			continue;
		shown_printf(out, "%s%" PRIu64, comma, from);
		if (i - 1 > from)
			shown_printf(out, "-%" PRIu64, i - 1);
		comma = ",";
	}
}

/* Prints the memory of one NUMA node: its size and which blocks it has, from a bitmap of blocks of
 * `block` bytes. */
static void feature_text_mem_node(struct text *t, uint64_t block)
{
	uint64_t node = cursor_u64(&t->c), bits, n = 0;
	struct seam_u64s words = { .swap = t->c.swap };

	/* perf's text counts the bits of the map itself; so does this. */
	cursor_u64(&t->c); /* how many bits are used */
	bits = cursor_u64(&t->c);
	words.n = bits / 64 + !!(bits % 64);
	words.bytes = cursor_array(&t->c, words.n, 8);
	if (!words.bytes)
		return;
	for (uint64_t i = 0; i < words.n; i++)
		n += (uint64_t)__builtin_popcountll(seam_u64s_at(&words, i));
	shown_printf(t->out, "# %4" PRIu64 " [", node);
	feature_text_size(n * block, t->out);
	buf_put_text(t->out, "]: ");
	feature_text_blocks(&words, bits, t->out);
	buf_put_text(t->out, "\n");
}

static void feature_text_mem_topology(struct text *t)
{
	uint64_t block, n;

	if (feature_text_brief(t, "MEM_TOPOLOGY"))
		return;
	cursor_u64(&t->c); /* version, 1 */
	block = cursor_u64(&t->c);
	n = cursor_u64(&t->c);
	shown_printf(t->out, "# memory nodes (nr %" PRIu64 ", block size 0x%" PRIx64 "):\n", n,
	             block);
	while (n-- && !t->c.failed)
		feature_text_mem_node(t, block);
}

/* "name=value" pairs in one line. */
static void feature_text_caps(struct text *t, uint32_t n)
{
	const char *comma = "";

	while (n-- && !t->c.failed) {
		const char *name = feature_string(&t->c), *value = feature_string(&t->c);

		if (value)
			shown_printf(t->out, "%s%s=%s", comma, name, value);
		comma = ", ";
	}
}

static void feature_text_cpu_pmu_caps(struct text *t)
{
	uint32_t n = cursor_u32(&t->c);

	shown_printf(t->out, "# cpu pmu capabilities: %s", n ? "" : "not available");
	feature_text_caps(t, n);
	buf_put_text(t->out, "\n");
}

/* The PMU's name stands behind its capabilities. */
static void feature_text_pmu_caps(struct text *t)
{
	for (uint32_t n = cursor_u32(&t->c); n && !t->c.failed; n--) {
		struct buf caps = { 0 };
		/* The capabilities are made aside, because the name behind them stands first in the
		 * line. */
		struct text inner = *t;
		const char *name;

		inner.out = &caps;
		feature_text_caps(&inner, cursor_u32(&inner.c));
		t->c = inner.c;
		name = feature_string(&t->c);
		if (name)
			shown_printf(t->out, "# %s pmu capabilities: %s\n", name, buf_text(&caps));
		buf_free(&caps);
	}
}

static void feature_text_hybrid_topology(struct text *t)
{
	buf_put_text(t->out, "# hybrid cpu system:\n");
	for (uint32_t n = cursor_u32(&t->c); n && !t->c.failed; n--) {
		const char *name = feature_string(&t->c), *cpus = feature_string(&t->c);

		if (cpus)
			shown_printf(t->out, "# %s cpu list : %s\n", name, cpus);
	}
}

/* One scheduling domain of a CPU, three lines. */
static void feature_text_domain(struct text *t)
{
	uint32_t domain = cursor_u32(&t->c);
	const char *name = feature_string(&t->c), *map = feature_string(&t->c),
	           *list = feature_string(&t->c);

	if (list)
		shown_printf(t->out,
		             "# Domain\t\t: %" PRIu32 "\n# Domain name      : %s\n"
		             "# Domain cpu map   : %s\n# Domain cpu list  : %s\n",
		             domain, name, map, list);
}

static void feature_text_cpu_domain_info(struct text *t)
{
	uint32_t version = cursor_u32(&t->c), most = cursor_u32(&t->c);

	if (feature_text_brief(t, "CPU_DOMAIN_INFO"))
		return;
	shown_printf(t->out,
	             "# schedstat version\t: %" PRIu32 "\n# Maximum sched domains\t: %" PRIu32 "\n",
	             version, most);
	while (cursor_left(&t->c) && !t->c.failed) {
		uint32_t cpu = cursor_u32(&t->c), n = cursor_u32(&t->c);

		shown_printf(t->out, "# cpu\t\t: %" PRIu32 "\n# nr_domains\t: %" PRIu32 "\n", cpu,
		             n);
		while (n-- && !t->c.failed)
			feature_text_domain(t);
	}
}

static void feature_text_e_machine(struct text *t)
{
	uint32_t machine = cursor_u32(&t->c), flags = cursor_u32(&t->c);

	shown_printf(t->out, "# e_machine : %" PRIu32 "\n#   e_flags : %" PRIu32 "\n", machine,
	             flags);
}

static void feature_text_cln_size(struct text *t)
{
	shown_printf(t->out, "# cacheline size: %" PRIu32 "\n", cursor_u32(&t->c));
}

static text_feature *const texts[] = {
	[SEAM_FEATURE_NRCPUS] = feature_text_nrcpus,
	[SEAM_FEATURE_TOTAL_MEM] = feature_text_total_mem,
	[SEAM_FEATURE_CPU_TOPOLOGY] = feature_text_cpu_topology,
	[SEAM_FEATURE_NUMA_TOPOLOGY] = feature_text_numa_topology,
	[SEAM_FEATURE_PMU_MAPPINGS] = feature_text_pmu_mappings,
	[SEAM_FEATURE_CACHE] = feature_text_cache,
	[SEAM_FEATURE_MEM_TOPOLOGY] = feature_text_mem_topology,
	[SEAM_FEATURE_CPU_PMU_CAPS] = feature_text_cpu_pmu_caps,
	[SEAM_FEATURE_PMU_CAPS] = feature_text_pmu_caps,
	[SEAM_FEATURE_HYBRID_TOPOLOGY] = feature_text_hybrid_topology,
	[SEAM_FEATURE_CPU_DOMAIN_INFO] = feature_text_cpu_domain_info,
	[SEAM_FEATURE_E_MACHINE] = feature_text_e_machine,
	[SEAM_FEATURE_CLN_SIZE] = feature_text_cln_size,
};

text_feature *feature_text_machine(unsigned feature)
{
	return feature < sizeof(texts) / sizeof(texts[0]) ? texts[feature] : NULL;
}
