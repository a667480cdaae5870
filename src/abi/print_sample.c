// SPDX-License-Identifier: MIT
/* print_sample.c: the text of a SAMPLE and of a CALLCHAIN_DEFERRED, in the form of perf report -D.
 * The functions that take a branch or a marker apart serve print_json.c and script/ as well. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/printer.h"
#include "base/digits.h"
#include "base/shown.h"

#define SAMPLE_BRANCH_CALL_STACK (1ULL << 11) /* of branch_sample_type */

/* Callchains hold such markers among the addresses to say in which context the next addresses were
 * taken. */
const char *print_context_name(uint64_t ip)
{
	switch (ip) {
	case SEAM_CONTEXT_HV:
		return "PERF_CONTEXT_HV";
	case SEAM_CONTEXT_KERNEL:
		return "PERF_CONTEXT_KERNEL";
	case SEAM_CONTEXT_USER:
		return "PERF_CONTEXT_USER";
	case SEAM_CONTEXT_USER_DEFERRED:
		return "PERF_CONTEXT_USER_DEFERRED";
	case SEAM_CONTEXT_GUEST:
		return "PERF_CONTEXT_GUEST";
	case SEAM_CONTEXT_GUEST_KERNEL:
		return "PERF_CONTEXT_GUEST_KERNEL";
	case SEAM_CONTEXT_GUEST_USER:
		return "PERF_CONTEXT_GUEST_USER";
	default:
		return NULL;
	}
}

/* "..... %2llu: " */
static void print_index(struct buf *out, uint64_t i)
{
	print_text(out, i < 10 ? ".....  " : "..... ");
	buf_put_decimal(out, i);
	print_text(out, ": ");
}

/* Writes "..... %2llu: %016llx" and then the character `end`. Most lines of a dump are of this
 * form. */
static void print_indexed(struct buf *out, uint64_t i, uint64_t v, char end)
{
	char *p = buf_reserve(out, 8 + DIGITS_MAX + 17), *start = p;

	if (!p)
		return;
	memcpy(p, ".....   ", 8);
	p = digits_decimal(p + (i < 10 ? 7 : 6), i);
	memcpy(p, ": ", 2);
	digits_put_hex16(p + 2, v);
	p[18] = end;
	out->n += (size_t)(p - start) + 19;
}

/* Prints the count, then one line per entry. Entries are taken for markers only if the caller says
 * so: the user addresses of a deferred record hold none. */
static void print_chain(struct buf *out, const struct seam_u64s *chain, bool may_have_markers)
{
	print_text(out, "... FP chain: nr:");
	buf_put_decimal(out, chain->n);
	print_text(out, "\n");
	for (uint64_t i = 0; i < chain->n; i++) {
		uint64_t ip = seam_u64s_at(chain, i);
		const char *name =
		        may_have_markers && ip >= SEAM_CONTEXT_MAX ? print_context_name(ip) : NULL;

		print_indexed(out, i, ip, name ? ' ' : '\n');
		if (name) {
			print_text(out, "(");
			print_text(out, name);
			print_text(out, ")\n");
		}
	}
	if (may_have_markers && chain->n >= 2 &&
	    seam_u64s_at(chain, chain->n - 2) == SEAM_CONTEXT_USER_DEFERRED)
		print_text(out, "...... (deferred)\n");
}

/* C bit-fields: on big-endian machines each field starts at the other end of the word. Returns the
 * flags with each field where a little-endian machine has it. The widths are those of struct
 * perf_branch_entry. */
uint64_t print_branch_flags(const struct seam_branch_stack *b, uint64_t i)
{
	static const unsigned char widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3, 31 };
	bool big_endian = b->entries.swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	uint64_t v = seam_u64s_at(&b->entries, i * 3 + 2), r = 0;
	unsigned at = 0;

	if (!big_endian)
		return v;
	for (size_t f = 0; f < sizeof(widths); at += widths[f++])
		r |= (v >> (64 - at - widths[f]) & ((1ULL << widths[f]) - 1)) << at;
	return r;
}

/* Type 15 says that the type is in another field, which has eight names so far. */
static const char *print_branch_type(uint64_t flags)
{
	static const char *const types[16] = { "",       "COND",      "UNCOND",   "IND",
		                               "CALL",   "IND_CALL",  "RET",      "SYSCALL",
		                               "SYSRET", "COND_CALL", "COND_RET", "ERET",
		                               "IRQ",    "SERROR",    "NO_TX",    NULL };
	static const char *const extended[8] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
		"ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5"
	};
	unsigned type = flags >> 20 & 15, more = flags >> 26 & 15;

	if (type < 15)
		return types[type];
	return more < 8 ? extended[more] : "";
}

/* Prints one entry of a branch stack: from, to, and what the flags say. The bit positions are those
 * of struct perf_branch_entry. */
static void print_branch(struct buf *out, const struct seam_branch_stack *b, uint64_t i)
{
	static const char *const spec[4] = { "", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH",
		                             "SPEC_CORRECT_PATH" };
	uint64_t flags = print_branch_flags(b, i);

	print_index(out, i);
	print_hex16(out, seam_u64s_at(&b->entries, i * 3));
	print_text(out, " -> ");
	print_hex16(out, seam_u64s_at(&b->entries, i * 3 + 1));
	print_text(out, " ");
	buf_put_decimal(out, flags >> 4 & 0xffff);
	print_text(out, " cycles ");
	print_text(out, flags & 1 ? "M" : " ");
	print_text(out, flags & 2 ? "P" : " ");
	print_text(out, flags & 8 ? "A" : " ");
	print_text(out, flags & 4 ? "T" : " ");
	buf_printf(out, " %x ", (unsigned)(flags >> 33));
	print_text(out, print_branch_type(flags));
	print_text(out, " ");
	print_text(out, spec[flags >> 24 & 3]);
	print_text(out, "\n");
}

/* One branch as script prints it. The separators are perf's, and so is the order of P before M. */
void print_branch_short(struct buf *out, const struct seam_branch_stack *b, uint64_t i)
{
	static const char *const spec[4] = { "-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH",
		                             "SPEC_CORRECT_PATH" };
	uint64_t flags = print_branch_flags(b, i);

	buf_printf(out, "0x%llx/0x%llx/%s/%c/%c/%llu/%s/%s",
	           (unsigned long long)seam_u64s_at(&b->entries, i * 3),
	           (unsigned long long)seam_u64s_at(&b->entries, i * 3 + 1),
	           flags & 2   ? "P"
	           : flags & 1 ? "M"
	                       : "-",
	           flags & 4 ? 'X' : '-', flags & 8 ? 'A' : '-',
	           (unsigned long long)(flags >> 4 & 0xffff), print_branch_type(flags),
	           spec[flags >> 24 & 3]);
}

/* A branch stack used as a call stack: the innermost target, then where each call came from. Such a
 * stack has one more line than branches. */
static void print_branch_calls(struct buf *out, const struct seam_branch_stack *b)
{
	print_text(out, "... branch callstack: nr:");
	buf_put_decimal(out, b->n + 1);
	print_text(out, "\n");
	for (uint64_t i = 0; i < b->n; i++) {
		if (!i) {
			print_index(out, 0);
			print_hex16(out, seam_u64s_at(&b->entries, 1));
			print_text(out, "\n");
		}
		print_index(out, i + 1);
		print_hex16(out, seam_u64s_at(&b->entries, i * 3));
		print_text(out, "\n");
	}
}

/* Prints the branch stack as a call stack if the event asked for that, otherwise entry by entry;
 * then the branch counters, if there are any. */
static void print_branches(struct buf *out, const struct seam_sample *s)
{
	const struct seam_branch_stack *b = &s->branches;

	if (s->event->attr.branch_sample_type & SAMPLE_BRANCH_CALL_STACK) {
		print_branch_calls(out, b);
	} else {
		print_text(out, "... branch stack: nr:");
		buf_put_decimal(out, b->n);
		print_text(out, "\n");
		for (uint64_t i = 0; i < b->n; i++)
			print_branch(out, b, i);
	}
	if (b->counters.n)
		print_text(out, "... branch stack counters: nr:");
	if (b->counters.n)
		buf_put_decimal(out, b->counters.n);
	for (uint64_t i = 0; i < b->counters.n; i++) {
		print_text(out, "\n");
		print_index(out, i);
		print_hex16(out, seam_u64s_at(&b->counters, i));
	}
	if (b->counters.n)
		print_text(out, "\n");
}

/* Prints one line per register, with its name on the recording's architecture, or its number when
 * the architecture is not known. Prints nothing if the kernel took no registers. */
static void print_regs(struct printer *p, const char *what, const struct seam_regs *regs)
{
	static const char *const abi[] = { "none", "32-bit", "64-bit" };
	uint64_t mask = regs->mask;

	if (!regs->abi)
		return;
	buf_printf(p->out, "... %s regs: mask 0x%llx ABI %s\n", what, (unsigned long long)mask,
	           regs->abi < 3 ? abi[regs->abi] : "unknown");
	for (uint64_t i = 0; i < regs->values.n; i++, mask &= mask - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(mask);
		const char *name = print_reg_name(p->opts ? p->opts->arch : NULL, reg);

		if (name)
			buf_printf(p->out, ".... %-5s 0x", name);
		else
			buf_printf(p->out, ".... reg%-2u 0x", reg);
		print_hex16(p->out, seam_u64s_at(&regs->values, i));
		print_text(p->out, "\n");
	}
}

/* One line of counter values; its id stands first although the record has it last. */
static void print_read_value(struct buf *out, const struct seam_read *read, uint64_t i)
{
	struct seam_read_value v = seam_read_at(read, i);

	print_text(out, "..... id ");
	print_hex16(out, v.id);
	print_text(out, ", value ");
	print_hex16(out, v.value);
	if (read->format & SEAM_FORMAT_LOST) {
		print_text(out, ", lost ");
		buf_put_decimal(out, v.lost);
	}
	print_text(out, "\n");
}

/* Prints the counter values of a sample of an event with SEAM_SAMPLE_READ: the times that its
 * format has, then each value. */
static void print_sample_read(struct buf *out, const struct seam_read *read)
{
	print_text(out, "... sample_read:\n");
	if (read->format & SEAM_FORMAT_TOTAL_TIME_ENABLED) {
		print_text(out, "...... time enabled ");
		print_hex16(out, read->time_enabled);
		print_text(out, "\n");
	}
	if (read->format & SEAM_FORMAT_TOTAL_TIME_RUNNING) {
		print_text(out, "...... time running ");
		print_hex16(out, read->time_running);
		print_text(out, "\n");
	}
	if (read->format & SEAM_FORMAT_GROUP) {
		print_text(out, ".... group nr ");
		buf_put_decimal(out, read->n);
		print_text(out, "\n");
	}
	for (uint64_t i = 0; i < read->n; i++)
		print_read_value(out, read, i);
}

/* The largest unit that divides the size evenly: "4K", "2M". "N/A" for 0: the kernel could not
 * look. The text is in *text, which the caller has. */
static const char *print_page_size(uint64_t bytes, char text[32])
{
	static const char *const units[] = { "", "K", "M", "G", "T", "P" };
	unsigned unit = 0;

	if (!bytes)
		return "N/A";
	while (unit < 5 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, 32, "%llu%s", (unsigned long long)bytes, units[unit]);
	return text;
}

int print_trace(const struct printer *p, const struct seam_sample *s, struct buf *ret)
{
	if (!p->opts || !p->opts->trace || s->event->attr.type != SEAM_TYPE_TRACEPOINT)
		return -ENOENT;
	return p->opts->trace(p->opts->ctx, s, ret);
}

/* Nothing where the caller asked for no text of tracepoints. */
static void print_trace_line(const struct printer *p, const struct seam_sample *s)
{
	struct buf text = { 0 };
	int r = print_trace(p, s, &text);

	if (r >= 0)
		shown_printf(p->out, "... %strace: %s\n", r ? "" : "no ", buf_text(&text));
	buf_free(&text);
}

/* The rare fields. Only those that the event asked for, in perf's order. */
static void print_sample_data(struct printer *p, uint64_t type, const struct seam_sample *s)
{
	struct buf *out = p->out;
	char size[32];

	if (type & SEAM_SAMPLE_STACK_USER && s->stack_user.bytes)
		buf_printf(out, "... ustack: size %zu, offset 0x%zx\n", s->stack_user.n,
		           (size_t)(s->stack_user.bytes - p->record->bytes - 8));
	if (type & SEAM_SAMPLE_WEIGHT)
		buf_printf(out, "... weight: %llu\n", (unsigned long long)s->weight);
	else if (type & SEAM_SAMPLE_WEIGHT_STRUCT)
		buf_printf(out, "... weight: %llu,0x%x,0x%x\n", (unsigned long long)s->weight,
		           s->weight2, s->weight3);
	if (type & SEAM_SAMPLE_DATA_SRC)
		buf_printf(out, " . data_src: 0x%llx\n", (unsigned long long)s->data_src);
	if (type & SEAM_SAMPLE_PHYS_ADDR)
		buf_printf(out, " .. phys_addr: 0x%llx\n", (unsigned long long)s->phys_addr);
	if (type & SEAM_SAMPLE_DATA_PAGE_SIZE)
		buf_printf(out, " .. data page size: %s\n",
		           print_page_size(s->data_page_size, size));
	if (type & SEAM_SAMPLE_CODE_PAGE_SIZE)
		buf_printf(out, " .. code page size: %s\n",
		           print_page_size(s->code_page_size, size));
	if (type & SEAM_SAMPLE_TRANSACTION)
		buf_printf(out, "... transaction: %llx\n", (unsigned long long)s->transaction);
	if (type & SEAM_SAMPLE_CGROUP)
		buf_printf(out, "... cgroup: %llu\n", (unsigned long long)s->cgroup);
	if (type & SEAM_SAMPLE_RAW) {
		buf_printf(out, "... raw: %zu bytes\n", s->raw.n);
		print_trace_line(p, s);
	}
	if (type & SEAM_SAMPLE_AUX)
		buf_printf(out, "... aux: %zu bytes\n", s->aux.n);
}

/* "(IP, 0x2): pid/tid: ": perf prints misc with "0x0" where the number is 0. */
static void print_who(struct printer *p, const struct seam_id *id)
{
	print_text(p->out, "(IP, ");
	if (p->record->misc)
		print_hex(p->out, p->record->misc);
	else
		print_text(p->out, "0x0");
	print_text(p->out, "): ");
	buf_put_signed(p->out, (int32_t)id->pid);
	print_text(p->out, "/");
	buf_put_signed(p->out, (int32_t)id->tid);
	print_text(p->out, ": ");
}

/* The text of one sample: its task, address and period on the first line, then only the parts that
 * its event asks for. */
void print_sample(struct printer *p)
{
	const struct seam_sample *s = &p->d->sample;
	uint64_t type = events_layout(s->event)->sample_type;
	struct buf *out = p->out;

	print_who(p, &s->id);
	print_hex(out, s->ip);
	print_text(out, " period: ");
	buf_put_decimal(out, s->period);
	print_text(out, " addr: ");
	print_hex(out, s->addr);
	print_text(out, "\n");
	if (type & SEAM_SAMPLE_CALLCHAIN)
		print_chain(out, &s->callchain, true);
	if (type & SEAM_SAMPLE_BRANCH_STACK)
		print_branches(out, s);
	if (type & SEAM_SAMPLE_REGS_USER)
		print_regs(p, "user", &s->regs_user);
	if (type & SEAM_SAMPLE_REGS_INTR)
		print_regs(p, "intr", &s->regs_intr);
	print_sample_data(p, type, s);
	if (type & SEAM_SAMPLE_READ)
		print_sample_read(out, &s->read);
}

/* The addresses of a deferred record stand alone: no marker is among them. */
void print_deferred(struct printer *p)
{
	const struct seam_callchain_deferred *def = &p->d->deferred;

	print_who(p, &p->d->id);
	print_hex(p->out, def->cookie);
	print_text(p->out, "\n");
	print_chain(p->out, &def->ips, false);
}
