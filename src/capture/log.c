// SPDX-License-Identifier: MIT
/*
 * log.c: composes lines for the caller's sink. Knows the field names of an attr as people know them
 * from `perf record -vv`; prints nothing itself.
 *
 * A line is at most 1,023 bytes and has no newline. The sink decides by level whether it wants one;
 * the text is only made for those it wants.
 */
#include "capture/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "abi/attr_names.h"

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

/* One field of an attr: its name and its value, in two columns. */
static void log_field(const struct log *log, const char *name, const char *value)
{
	log_line(log, LOG_ATTRS, "  %-32s %s", name, value);
}

/* Fields that are 0 are left out, as perf does: an attr has forty of them. */
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

/* "IP|TID|TIME". names has a row for each bit that has a name; others are not shown. */
static void log_bits(const struct log *log, const char *name, uint64_t v, const char *const *names,
                     size_t n_names)
{
	char text[512] = "";
	size_t n = 0;

	for (size_t i = 0; i < n_names; i++)
		if (v >> i & 1 && n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? "|" : "",
			                      names[i]);
	if (n)
		log_field(log, name, text);
}

static void log_type(const struct log *log, const struct seam_attr *attr)
{
	char text[64];

	if (attr->type < ATTR_TYPES)
		snprintf(text, sizeof(text), "%u (PERF_TYPE_%s)", attr->type,
		         attr_type_names[attr->type]);
	else
		snprintf(text, sizeof(text), "%u", attr->type);
	log_field(log, "type", text);
}

static void log_config(const struct log *log, const struct seam_attr *attr)
{
	char text[64];

	if (attr->type == SEAM_TYPE_HARDWARE && attr->config < ATTR_HARDWARE)
		snprintf(text, sizeof(text), "%#" PRIx64 " (PERF_COUNT_HW_%s)", attr->config,
		         attr_hardware_names[attr->config]);
	else if (attr->type == SEAM_TYPE_SOFTWARE && attr->config < ATTR_SOFTWARE)
		snprintf(text, sizeof(text), "%#" PRIx64 " (PERF_COUNT_SW_%s)", attr->config,
		         attr_software_names[attr->config]);
	else
		snprintf(text, sizeof(text), "%#" PRIx64, attr->config);
	log_field(log, "config", text);
}

/* precise_ip is two bits; all others are one. */
static void log_all_flags(const struct log *log, uint64_t flags)
{
	for (size_t i = 0; i < ATTR_FLAGS; i++) {
		uint64_t v = flags >> i & (i == SEAM_ATTR_PRECISE_IP_SHIFT ? 3 : 1);

		if (attr_flag_names[i])
			log_number(log, attr_flag_names[i], v);
	}
}

/* Costs nothing unless the log wants LOG_ATTRS. */
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
	log_bits(log, "sample_type", attr->sample_type, attr_sample_names, ATTR_SAMPLES);
	log_bits(log, "read_format", attr->read_format, attr_read_names, ATTR_READS);
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
