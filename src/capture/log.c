// SPDX-License-Identifier: MIT
// log.c: composes lines for the caller's sink. Knows the field names of an attr as people know them
// from `perf record -vv`; prints nothing itself.
#include "capture/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void log_line(const struct log *log, int level, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (!log_wants(log, level))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log->line(log->ctx, level, text);
}

struct log_bit {
	uint64_t bit;
	const char *name;
};

static const struct log_bit log_sample_types[] = {
	{ SEAM_SAMPLE_IP, "IP" },
	{ SEAM_SAMPLE_TID, "TID" },
	{ SEAM_SAMPLE_TIME, "TIME" },
	{ SEAM_SAMPLE_ADDR, "ADDR" },
	{ SEAM_SAMPLE_READ, "READ" },
	{ SEAM_SAMPLE_CALLCHAIN, "CALLCHAIN" },
	{ SEAM_SAMPLE_ID, "ID" },
	{ SEAM_SAMPLE_CPU, "CPU" },
	{ SEAM_SAMPLE_PERIOD, "PERIOD" },
	{ SEAM_SAMPLE_STREAM_ID, "STREAM_ID" },
	{ SEAM_SAMPLE_RAW, "RAW" },
	{ SEAM_SAMPLE_BRANCH_STACK, "BRANCH_STACK" },
	{ SEAM_SAMPLE_REGS_USER, "REGS_USER" },
	{ SEAM_SAMPLE_STACK_USER, "STACK_USER" },
	{ SEAM_SAMPLE_WEIGHT, "WEIGHT" },
	{ SEAM_SAMPLE_DATA_SRC, "DATA_SRC" },
	{ SEAM_SAMPLE_IDENTIFIER, "IDENTIFIER" },
	{ SEAM_SAMPLE_TRANSACTION, "TRANSACTION" },
	{ SEAM_SAMPLE_REGS_INTR, "REGS_INTR" },
	{ SEAM_SAMPLE_PHYS_ADDR, "PHYS_ADDR" },
	{ SEAM_SAMPLE_AUX, "AUX" },
	{ SEAM_SAMPLE_CGROUP, "CGROUP" },
	{ SEAM_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE" },
	{ SEAM_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE" },
	{ SEAM_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT" },
	{ 0, NULL },
};

static const struct log_bit log_read_formats[] = {
	{ SEAM_FORMAT_TOTAL_TIME_ENABLED, "TOTAL_TIME_ENABLED" },
	{ SEAM_FORMAT_TOTAL_TIME_RUNNING, "TOTAL_TIME_RUNNING" },
	{ SEAM_FORMAT_ID, "ID" },
	{ SEAM_FORMAT_GROUP, "GROUP" },
	{ SEAM_FORMAT_LOST, "LOST" },
	{ 0, NULL },
};

// By the bit's number; precise_ip stands where its first bit is.
static const char *const log_flags[] = {
	"disabled",
	"inherit",
	"pinned",
	"exclusive",
	"exclude_user",
	"exclude_kernel",
	"exclude_hv",
	"exclude_idle",
	"mmap",
	"comm",
	"freq",
	"inherit_stat",
	"enable_on_exec",
	"task",
	"watermark",
	"precise_ip",
	NULL,
	"mmap_data",
	"sample_id_all",
	"exclude_host",
	"exclude_guest",
	"exclude_callchain_kernel",
	"exclude_callchain_user",
	"mmap2",
	"comm_exec",
	"use_clockid",
	"context_switch",
	"write_backward",
	"namespaces",
	"ksymbol",
	"bpf_event",
	"aux_output",
	"cgroup",
	"text_poke",
	"build_id",
	"inherit_thread",
	"remove_on_exec",
	"sigtrap",
	"defer_callchain",
	"defer_output",
};

static void log_field(const struct log *log, const char *name, const char *value)
{
	log_line(log, LOG_ATTRS, "  %-32s %s", name, value);
}

static void log_number(const struct log *log, const char *name, uint64_t v)
{
	char text[32];

	if (!v)
		return;
	snprintf(text, sizeof(text), "%" PRIu64, v);
	log_field(log, name, text);
}

static void log_hex(const struct log *log, const char *name, uint64_t v)
{
	char text[32];

	if (!v)
		return;
	snprintf(text, sizeof(text), "%#" PRIx64, v);
	log_field(log, name, text);
}

static void log_bits(const struct log *log, const char *name, uint64_t v,
                     const struct log_bit *bits)
{
	char text[512] = "";
	size_t n = 0;

	for (; bits->name; bits++)
		if (v & bits->bit && n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? "|" : "",
			                      bits->name);
	if (n)
		log_field(log, name, text);
}

static void log_type(const struct log *log, const struct seam_attr *attr)
{
	static const char *const names[] = { "HARDWARE", "SOFTWARE", "TRACEPOINT",
		                             "HW_CACHE", "RAW",      "BREAKPOINT" };
	char text[64];

	if (attr->type < sizeof(names) / sizeof(names[0]))
		snprintf(text, sizeof(text), "%u (PERF_TYPE_%s)", attr->type, names[attr->type]);
	else
		snprintf(text, sizeof(text), "%u", attr->type);
	log_field(log, "type", text);
}

static void log_config(const struct log *log, const struct seam_attr *attr)
{
	static const char *const hw[] = { "CPU_CYCLES",
		                          "INSTRUCTIONS",
		                          "CACHE_REFERENCES",
		                          "CACHE_MISSES",
		                          "BRANCH_INSTRUCTIONS",
		                          "BRANCH_MISSES",
		                          "BUS_CYCLES",
		                          "STALLED_CYCLES_FRONTEND",
		                          "STALLED_CYCLES_BACKEND",
		                          "REF_CPU_CYCLES" };
	static const char *const sw[] = {
		"CPU_CLOCK",        "TASK_CLOCK",      "PAGE_FAULTS",     "CONTEXT_SWITCHES",
		"CPU_MIGRATIONS",   "PAGE_FAULTS_MIN", "PAGE_FAULTS_MAJ", "ALIGNMENT_FAULTS",
		"EMULATION_FAULTS", "DUMMY",           "BPF_OUTPUT",      "CGROUP_SWITCHES"
	};
	char text[64];

	if (attr->type == SEAM_TYPE_HARDWARE && attr->config < sizeof(hw) / sizeof(hw[0]))
		snprintf(text, sizeof(text), "%#" PRIx64 " (PERF_COUNT_HW_%s)", attr->config,
		         hw[attr->config]);
	else if (attr->type == SEAM_TYPE_SOFTWARE && attr->config < sizeof(sw) / sizeof(sw[0]))
		snprintf(text, sizeof(text), "%#" PRIx64 " (PERF_COUNT_SW_%s)", attr->config,
		         sw[attr->config]);
	else
		snprintf(text, sizeof(text), "%#" PRIx64, attr->config);
	log_field(log, "config", text);
}

static void log_all_flags(const struct log *log, uint64_t flags)
{
	for (size_t i = 0; i < sizeof(log_flags) / sizeof(log_flags[0]); i++) {
		uint64_t v = flags >> i & (i == SEAM_ATTR_PRECISE_IP_SHIFT ? 3 : 1);

		if (log_flags[i])
			log_number(log, log_flags[i], v);
	}
}

void log_attr(const struct log *log, const struct seam_attr *attr)
{
	static const char rule[] = "------------------------------------------------------------";

	if (!log_wants(log, LOG_ATTRS))
		return;
	log_line(log, LOG_ATTRS, "%s", rule);
	log_line(log, LOG_ATTRS, "perf_event_attr:");
	log_type(log, attr);
	log_number(log, "size", attr->size);
	log_config(log, attr);
	log_number(log, "{ sample_period, sample_freq }", attr->sample_period);
	log_bits(log, "sample_type", attr->sample_type, log_sample_types);
	log_bits(log, "read_format", attr->read_format, log_read_formats);
	log_all_flags(log, attr->flags);
	log_number(log, "{ wakeup_events, wakeup_watermark }", attr->wakeup);
	log_number(log, "bp_type", attr->bp_type);
	log_hex(log, "{ bp_addr, config1 }", attr->config1);
	log_hex(log, "{ bp_len, config2 }", attr->config2);
	log_hex(log, "branch_sample_type", attr->branch_sample_type);
	log_hex(log, "sample_regs_user", attr->sample_regs_user);
	log_number(log, "sample_stack_user", attr->sample_stack_user);
	if (attr->flags & SEAM_ATTR_USE_CLOCKID)
		log_line(log, LOG_ATTRS, "  %-32s %d", "clockid", attr->clockid);
	log_hex(log, "sample_regs_intr", attr->sample_regs_intr);
	log_number(log, "aux_watermark", attr->aux_watermark);
	log_number(log, "sample_max_stack", attr->sample_max_stack);
	log_number(log, "aux_sample_size", attr->aux_sample_size);
	log_hex(log, "config3", attr->config3);
	log_hex(log, "config4", attr->config4);
	log_line(log, LOG_ATTRS, "%s", rule);
}
