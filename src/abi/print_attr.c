// SPDX-License-Identifier: MIT
// print_attr.c: an attr in one line, with the names and the order of perf evlist -v.

#include "abi/printer.h"

struct attr_bit {
	unsigned bit;
	const char *name;
};

static const char *const attr_types[] = { "HARDWARE", "SOFTWARE", "TRACEPOINT",
	                                  "HW_CACHE", "RAW",      "BREAKPOINT" };

static const char *const attr_hardware[] = {
	"CPU_CYCLES",
	"INSTRUCTIONS",
	"CACHE_REFERENCES",
	"CACHE_MISSES",
	"BRANCH_INSTRUCTIONS",
	"BRANCH_MISSES",
	"BUS_CYCLES",
	"STALLED_CYCLES_FRONTEND",
	"STALLED_CYCLES_BACKEND",
	"REF_CPU_CYCLES",
};

static const char *const attr_software[] = {
	"CPU_CLOCK",        "TASK_CLOCK",      "PAGE_FAULTS",     "CONTEXT_SWITCHES",
	"CPU_MIGRATIONS",   "PAGE_FAULTS_MIN", "PAGE_FAULTS_MAJ", "ALIGNMENT_FAULTS",
	"EMULATION_FAULTS", "DUMMY",           "BPF_OUTPUT",      "CGROUP_SWITCHES",
};

static const char *const attr_samples[] = {
	"IP",
	"TID",
	"TIME",
	"ADDR",
	"READ",
	"CALLCHAIN",
	"ID",
	"CPU",
	"PERIOD",
	"STREAM_ID",
	"RAW",
	"BRANCH_STACK",
	"REGS_USER",
	"STACK_USER",
	"WEIGHT",
	"DATA_SRC",
	"IDENTIFIER",
	"TRANSACTION",
	"REGS_INTR",
	"PHYS_ADDR",
	"AUX",
	"CGROUP",
	"DATA_PAGE_SIZE",
	"CODE_PAGE_SIZE",
	"WEIGHT_STRUCT",
};

static const char *const attr_reads[] = { "TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP",
	                                  "LOST" };

static const char *const attr_branches[] = {
	"USER",     "KERNEL",    "HV",        "ANY",      "ANY_CALL",   "ANY_RETURN", "IND_CALL",
	"ABORT_TX", "IN_TX",     "NO_TX",     "COND",     "CALL_STACK", "IND_JUMP",   "CALL",
	"NO_FLAGS", "NO_CYCLES", "TYPE_SAVE", "HW_INDEX", "PRIV_SAVE",  "COUNTERS",
};

/* Flag bits in front of precise_ip, and behind it. */
static const struct attr_bit attr_bits[] = {
	{ 0, "disabled" },
	{ 1, "inherit" },
	{ 2, "pinned" },
	{ 3, "exclusive" },
	{ 4, "exclude_user" },
	{ 5, "exclude_kernel" },
	{ 6, "exclude_hv" },
	{ 7, "exclude_idle" },
	{ 8, "mmap" },
	{ 9, "comm" },
	{ 10, "freq" },
	{ 11, "inherit_stat" },
	{ 12, "enable_on_exec" },
	{ 13, "task" },
	{ 14, "watermark" },
	{ 17, "mmap_data" },
	{ 18, "sample_id_all" },
	{ 19, "exclude_host" },
	{ 20, "exclude_guest" },
	{ 21, "exclude_callchain_kernel" },
	{ 22, "exclude_callchain_user" },
	{ 23, "mmap2" },
	{ 24, "comm_exec" },
	{ 25, "use_clockid" },
	{ 26, "context_switch" },
	{ 27, "write_backward" },
	{ 28, "namespaces" },
	{ 29, "ksymbol" },
	{ 30, "bpf_event" },
	{ 31, "aux_output" },
	{ 32, "cgroup" },
	{ 33, "text_poke" },
	{ 34, "build_id" },
	{ 35, "inherit_thread" },
	{ 36, "remove_on_exec" },
	{ 37, "sigtrap" },
	{ 38, "defer_callchain" },
	{ 39, "defer_output" },
};

static void attr_name(struct buf *out, const char *name)
{
	print_text(out, ", ");
	print_text(out, name);
	print_text(out, " = ");
}

static void attr_dec(struct buf *out, const char *name, uint64_t v)
{
	if (!v)
		return;
	attr_name(out, name);
	print_dec(out, v);
}

static void attr_hex(struct buf *out, const char *name, uint64_t v)
{
	if (!v)
		return;
	attr_name(out, name);
	print_hex(out, v);
}

#define ATTR_SET(out, name, v, names) \
	attr_set(out, name, v, names, sizeof(names) / sizeof(*(names)))

/* "IP|TID|TIME"; bits without a name as one number at the end. */
static void attr_set(struct buf *out, const char *name, uint64_t v, const char *const *names,
                     size_t n)
{
	const char *bar = "";

	if (!v)
		return;
	attr_name(out, name);
	for (size_t i = 0; i < n; i++) {
		if (!(v >> i & 1))
			continue;
		print_text(out, bar);
		print_text(out, names[i]);
		bar = "|";
		v &= ~(1ULL << i);
	}
	if (v) {
		print_text(out, bar);
		print_hex(out, v);
	}
}

static void attr_config(struct buf *out, const struct seam_attr *a)
{
	const char *name = NULL, *prefix = "";

	print_text(out, ", config = ");
	print_hex(out, a->config);
	if (a->type == SEAM_TYPE_HARDWARE && a->config < sizeof(attr_hardware) / sizeof(char *)) {
		name = attr_hardware[a->config];
		prefix = "PERF_COUNT_HW_";
	} else if (a->type == SEAM_TYPE_SOFTWARE &&
	           a->config < sizeof(attr_software) / sizeof(char *)) {
		name = attr_software[a->config];
		prefix = "PERF_COUNT_SW_";
	}
	if (name)
		buf_printf(out, " (%s%s)", prefix, name);
}

static void attr_flags(struct buf *out, uint64_t flags)
{
	uint64_t known = 3ULL << SEAM_ATTR_PRECISE_IP_SHIFT;

	for (size_t i = 0; i < sizeof(attr_bits) / sizeof(*attr_bits); i++) {
		if (attr_bits[i].bit == 17)
			attr_dec(out, "precise_ip", flags >> SEAM_ATTR_PRECISE_IP_SHIFT & 3);
		attr_dec(out, attr_bits[i].name, flags >> attr_bits[i].bit & 1);
		known |= 1ULL << attr_bits[i].bit;
	}
	attr_hex(out, "flags", flags & ~known);
}

void print_attr_fields(struct buf *out, const struct seam_attr *a)
{
	print_text(out, "type = ");
	print_dec(out, a->type);
	if (a->type < sizeof(attr_types) / sizeof(*attr_types))
		buf_printf(out, " (PERF_TYPE_%s)", attr_types[a->type]);
	attr_dec(out, "size", a->size);
	attr_config(out, a);
	attr_dec(out, "{ sample_period, sample_freq }", a->sample_period);
	ATTR_SET(out, "sample_type", a->sample_type, attr_samples);
	ATTR_SET(out, "read_format", a->read_format, attr_reads);
	attr_flags(out, a->flags);
	attr_dec(out, "{ wakeup_events, wakeup_watermark }", a->wakeup);
	attr_dec(out, "bp_type", a->bp_type);
	attr_hex(out, "{ bp_addr, config1 }", a->config1);
	attr_hex(out, "{ bp_len, config2 }", a->config2);
	ATTR_SET(out, "branch_sample_type", a->branch_sample_type, attr_branches);
	attr_hex(out, "sample_regs_user", a->sample_regs_user);
	attr_dec(out, "sample_stack_user", a->sample_stack_user);
	if (a->clockid || a->flags & SEAM_ATTR_USE_CLOCKID) {
		attr_name(out, "clockid");
		print_signed(out, a->clockid);
	}
	attr_hex(out, "sample_regs_intr", a->sample_regs_intr);
	attr_dec(out, "aux_watermark", a->aux_watermark);
	attr_dec(out, "sample_max_stack", a->sample_max_stack);
	attr_dec(out, "aux_sample_size", a->aux_sample_size);
	attr_hex(out, "aux_action", a->aux_action);
	attr_hex(out, "sig_data", a->sig_data);
	attr_hex(out, "config3", a->config3);
	attr_hex(out, "config4", a->config4);
}
