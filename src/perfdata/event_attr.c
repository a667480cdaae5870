// SPDX-License-Identifier: MIT
/*
 * event_attr.c: an attr in words, in the order and spelling of perf evlist -v. It also shows two
 * things that perf leaves out: the TRANSACTION bit of sample_type, and config3 and config4.
 *
 * abi/print_attr.c writes a similar line for dumps; this one serves headers and `evlist`, and
 * differs in the sign between name and value and in the order of sample_type.
 */
#include <errno.h>
#include <inttypes.h>

#include "abi/attr_names.h"
#include "perfdata/event_name.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The order of the rows is the order of the output: perf's own tables are not sorted by bit. */
struct bit_name {
	uint64_t bit;
	const char *name;
};

static const struct bit_name sample_type_bits[] = {
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
	{ SEAM_SAMPLE_IDENTIFIER, "IDENTIFIER" },
	{ SEAM_SAMPLE_REGS_INTR, "REGS_INTR" },
	{ SEAM_SAMPLE_DATA_SRC, "DATA_SRC" },
	{ SEAM_SAMPLE_WEIGHT, "WEIGHT" },
	{ SEAM_SAMPLE_TRANSACTION, "TRANSACTION" },
	{ SEAM_SAMPLE_PHYS_ADDR, "PHYS_ADDR" },
	{ SEAM_SAMPLE_AUX, "AUX" },
	{ SEAM_SAMPLE_CGROUP, "CGROUP" },
	{ SEAM_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE" },
	{ SEAM_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE" },
	{ SEAM_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT" },
};

static const struct bit_name read_format_bits[] = {
	{ SEAM_FORMAT_TOTAL_TIME_ENABLED, "TOTAL_TIME_ENABLED" },
	{ SEAM_FORMAT_TOTAL_TIME_RUNNING, "TOTAL_TIME_RUNNING" },
	{ SEAM_FORMAT_ID, "ID" },
	{ SEAM_FORMAT_GROUP, "GROUP" },
	{ SEAM_FORMAT_LOST, "LOST" },
};

static const struct bit_name branch_bits[] = {
	{ 1u << 0, "USER" },       { 1u << 1, "KERNEL" },     { 1u << 2, "HV" },
	{ 1u << 3, "ANY" },        { 1u << 4, "ANY_CALL" },   { 1u << 5, "ANY_RETURN" },
	{ 1u << 6, "IND_CALL" },   { 1u << 7, "ABORT_TX" },   { 1u << 8, "IN_TX" },
	{ 1u << 9, "NO_TX" },      { 1u << 10, "COND" },      { 1u << 11, "CALL_STACK" },
	{ 1u << 12, "IND_JUMP" },  { 1u << 13, "CALL" },      { 1u << 14, "NO_FLAGS" },
	{ 1u << 15, "NO_CYCLES" }, { 1u << 16, "TYPE_SAVE" }, { 1u << 17, "HW_INDEX" },
	{ 1u << 18, "PRIV_SAVE" }, { 1u << 19, "COUNTERS" },
};

static const char *const cache_ids[] = { "L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE" };
static const char *const cache_op_ids[] = { "READ", "WRITE", "PREFETCH" };
static const char *const cache_result_ids[] = { "ACCESS", "MISS" };

/* Writes "NAME: " with a comma in front of all but the first. assign stands between name and value:
 * ": " or " = ". */
struct fields {
	struct buf *out;
	const char *assign;
	bool started;
};

static void event_field(struct fields *f, const char *name)
{
	buf_printf(f->out, "%s%s%s", f->started ? ", " : "", name, f->assign);
	f->started = true;
}

static void event_field_u64(struct fields *f, const char *name, uint64_t v)
{
	if (!v)
		return;
	event_field(f, name);
	buf_printf(f->out, "%" PRIu64, v);
}

static void event_field_hex(struct fields *f, const char *name, uint64_t v)
{
	if (!v)
		return;
	event_field(f, name);
	buf_printf(f->out, "0x%" PRIx64, v);
}

static void event_field_bits(struct fields *f, const char *name, uint64_t v,
                             const struct bit_name *bits, size_t n)
{
	bool first = true;

	if (!v)
		return;
	event_field(f, name);
	for (size_t i = 0; i < n; i++) {
		if (!(v & bits[i].bit))
			continue;
		buf_printf(f->out, "%s%s", first ? "" : "|", bits[i].name);
		first = false;
		v &= ~bits[i].bit;
	}
	if (v) /* bits from the future */
		buf_printf(f->out, "%s0x%" PRIx64, first ? "" : "|", v);
}

static void event_attr_type(const struct seam_attr *a, struct fields *f)
{
	event_field(f, "type");
	buf_printf(f->out, "%" PRIu32, a->type);
	if (a->type < ATTR_TYPES)
		buf_printf(f->out, " (PERF_TYPE_%s)", attr_type_names[a->type]);
}

/* A cache event's config has three bytes: which cache, which operation, hit or miss. */
static void event_attr_cache(uint32_t config, struct buf *out)
{
	uint32_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache < N_OF(cache_ids) && op < N_OF(cache_op_ids) && result < N_OF(cache_result_ids))
		buf_printf(out,
		           " (PERF_COUNT_HW_CACHE_RESULT_%s | PERF_COUNT_HW_CACHE_OP_%s | "
		           "PERF_COUNT_HW_CACHE_%s)",
		           cache_result_ids[result], cache_op_ids[op], cache_ids[cache]);
}

/* config of hardware events has the PMU's type in its upper half on hybrid machines, so only the
 * lower half is looked up. */
static void event_attr_config(const struct seam_attr *a, struct fields *f)
{
	uint32_t config = (uint32_t)a->config;

	event_field(f, "config");
	buf_printf(f->out, a->config ? "0x%" PRIx64 : "%" PRIx64, a->config);
	if (a->type == SEAM_TYPE_HARDWARE && config < ATTR_HARDWARE)
		buf_printf(f->out, " (PERF_COUNT_HW_%s)", attr_hardware_names[config]);
	else if (a->type == SEAM_TYPE_SOFTWARE && a->config < ATTR_SOFTWARE)
		buf_printf(f->out, " (PERF_COUNT_SW_%s)", attr_software_names[config]);
	else if (a->type == SEAM_TYPE_HW_CACHE)
		event_attr_cache(config, f->out);
}

static void event_attr_flags(const struct seam_attr *a, struct fields *f)
{
	for (unsigned i = 0; i < ATTR_FLAGS; i++) {
		if (attr_flag_names[i])
			event_field_u64(f, attr_flag_names[i],
			                a->flags >> i & (i == SEAM_ATTR_PRECISE_IP_SHIFT ? 3 : 1));
	}
	event_field_hex(f, "unknown_flags", a->flags >> ATTR_FLAGS << ATTR_FLAGS);
}

/* The second half of the attr's fields, behind the flags, in the order of perf evlist -v. Fields
 * that are 0 are left out. */
static void event_attr_rest(const struct seam_attr *a, struct fields *f)
{
	event_field_u64(f, "{ wakeup_events, wakeup_watermark }", a->wakeup);
	event_field_u64(f, "bp_type", a->bp_type);
	event_field_hex(f, "{ bp_addr, config1 }", a->config1);
	event_field_hex(f, "{ bp_len, config2 }", a->config2);
	event_field_bits(f, "branch_sample_type", a->branch_sample_type, branch_bits,
	                 N_OF(branch_bits));
	event_field_hex(f, "sample_regs_user", a->sample_regs_user);
	event_field_u64(f, "sample_stack_user", a->sample_stack_user);
	if (a->clockid) {
		event_field(f, "clockid");
		buf_printf(f->out, "%" PRId32, a->clockid);
	}
	event_field_hex(f, "sample_regs_intr", a->sample_regs_intr);
	event_field_u64(f, "aux_watermark", a->aux_watermark);
	event_field_u64(f, "sample_max_stack", a->sample_max_stack);
	event_field_u64(f, "aux_sample_size", a->aux_sample_size);
	event_field_u64(f, "sig_data", a->sig_data);
	event_field_u64(f, "aux_start_paused", a->aux_action & 1);
	event_field_u64(f, "aux_pause", a->aux_action >> 1 & 1);
	event_field_u64(f, "aux_resume", a->aux_action >> 2 & 1);
	event_field_hex(f, "config3", a->config3);
	event_field_hex(f, "config4", a->config4);
}

/* Appends all fields that are not 0, and type and config always. -ENOMEM. */
int event_attr_text(const struct seam_attr *a, const char *assign, struct buf *out)
{
	struct fields f = { .out = out, .assign = assign };

	event_attr_type(a, &f);
	event_field_u64(&f, "size", a->size);
	event_attr_config(a, &f);
	event_field_u64(&f, "{ sample_period, sample_freq }", a->sample_period);
	event_field_bits(&f, "sample_type", a->sample_type, sample_type_bits,
	                 N_OF(sample_type_bits));
	event_field_bits(&f, "read_format", a->read_format, read_format_bits,
	                 N_OF(read_format_bits));
	event_attr_flags(a, &f);
	event_attr_rest(a, &f);
	return out->failed ? -ENOMEM : 0;
}
