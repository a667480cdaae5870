// SPDX-License-Identifier: MIT
/* print_attr.c: an attr in one line, with the names and the order of perf evlist -v. A value that
 * has no name is printed as a number: attrs of newer kernels lose nothing. */

#include "abi/attr_names.h"
#include "abi/printer.h"

/* By bit of branch_sample_type, behind PERF_SAMPLE_BRANCH_. */
static const char *const attr_branches[] = {
	"USER",     "KERNEL",    "HV",        "ANY",      "ANY_CALL",   "ANY_RETURN", "IND_CALL",
	"ABORT_TX", "IN_TX",     "NO_TX",     "COND",     "CALL_STACK", "IND_JUMP",   "CALL",
	"NO_FLAGS", "NO_CYCLES", "TYPE_SAVE", "HW_INDEX", "PRIV_SAVE",  "COUNTERS",
};

static void attr_name(struct buf *out, const char *name)
{
	print_text(out, ", ");
	print_text(out, name);
	print_text(out, " = ");
}

/* A field of 0 is not printed: of the many fields of an attr most are 0 in any recording. */
static void attr_dec(struct buf *out, const char *name, uint64_t v)
{
	if (!v)
		return;
	attr_name(out, name);
	buf_put_decimal(out, v);
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

/* config means something else for each type; only hardware and software events have names here. */
static void attr_config(struct buf *out, const struct seam_attr *a)
{
	const char *name = NULL, *prefix = "";

	print_text(out, ", config = ");
	print_hex(out, a->config);
	if (a->type == SEAM_TYPE_HARDWARE && a->config < ATTR_HARDWARE) {
		name = attr_hardware_names[a->config];
		prefix = "PERF_COUNT_HW_";
	} else if (a->type == SEAM_TYPE_SOFTWARE && a->config < ATTR_SOFTWARE) {
		name = attr_software_names[a->config];
		prefix = "PERF_COUNT_SW_";
	}
	if (name)
		buf_printf(out, " (%s%s)", prefix, name);
}

/* precise_ip is printed as its number, 0 to 3; the others are single bits. */
static void attr_flags(struct buf *out, uint64_t flags)
{
	for (size_t i = 0; i < ATTR_FLAGS; i++) {
		if (attr_flag_names[i])
			attr_dec(out, attr_flag_names[i],
			         flags >> i & (i == SEAM_ATTR_PRECISE_IP_SHIFT ? 3 : 1));
	}
	/* Bits above the last known one, from a newer kernel. */
	attr_hex(out, "flags", flags >> ATTR_FLAGS << ATTR_FLAGS);
}

/* Fields that are 0 are left out, except type and config, as in the line that perf prints. */
void print_attr_fields(struct buf *out, const struct seam_attr *a)
{
	print_text(out, "type = ");
	buf_put_decimal(out, a->type);
	if (a->type < ATTR_TYPES)
		buf_printf(out, " (PERF_TYPE_%s)", attr_type_names[a->type]);
	attr_dec(out, "size", a->size);
	attr_config(out, a);
	attr_dec(out, "{ sample_period, sample_freq }", a->sample_period);
	ATTR_SET(out, "sample_type", a->sample_type, attr_sample_names);
	ATTR_SET(out, "read_format", a->read_format, attr_read_names);
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
		buf_put_signed(out, a->clockid);
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
