// SPDX-License-Identifier: MIT
/*
 * print_user.c: the text of perf's own records. Only their least sizes have been checked, so every
 * count meets the cursor here: what is not in the record is not printed, and that is said.
 *
 * perf has no fixed rule for these: a record's fields grew with its versions, and a shorter record
 * of an older version is sound. print_end says at the end whether anything was missing. Hostile
 * counts cost no more than the record is long, because every loop ends at the first failed read.
 */
#include "abi/printer.h"
#include "base/shown.h"

#include <string.h>

/* Ends a record's text; says so when the record ended before its own counts did. */
static void print_end(struct printer *p)
{
	if (p->body.failed)
		print_text(p->out, "... the record ends before what it announces\n");
}

/* A string in a field of n bytes, or what is left of them. Characters that a terminal would obey
 * are escaped. A NUL ends the text, not the field. */
static void print_string(struct printer *p, size_t n)
{
	const unsigned char *s;

	if (n > cursor_left(&p->body))
		n = cursor_left(&p->body);
	s = cursor_bytes(&p->body, n);
	shown_put(p->out, (const char *)s, strnlen((const char *)s, n));
}

/* The attr of a pipe's HEADER_ATTR. An attr that is too short leaves an empty line. */
void print_attr(struct printer *p)
{
	struct seam_attr attr;

	if (seam_attr_decode(p->body.at, cursor_left(&p->body), p->body.swap, &attr, NULL) >= 0) {
		print_text(p->out, ", ");
		print_attr_fields(p->out, &attr);
	}
	print_text(p->out, "\n");
}

void print_event_type(struct printer *p)
{
	buf_printf(p->out, " id: %llu name: ", (unsigned long long)cursor_u64(&p->body));
	print_string(p, cursor_left(&p->body));
	print_text(p->out, "\n");
}

void print_tracing_data(struct printer *p)
{
	buf_printf(p->out, " size: %u\n", cursor_u32(&p->body));
}

void print_build_id(struct printer *p)
{
	int pid = (int)cursor_u32(&p->body);
	const unsigned char *id = cursor_bytes(&p->body, 24);
	/* The size is believed only if misc says that it is there: older perfs wrote no size, and
	 * each of their build-ids has 20 bytes. */
	unsigned n = p->record->misc & SEAM_MISC_BUILD_ID_SIZE && id[20] <= 20 ? id[20] : 20;

	buf_printf(p->out, " pid: %d build-id: ", pid);
	for (unsigned i = 0; i < n; i++)
		buf_printf(p->out, "%02x", id[i]);
	print_text(p->out, " ");
	print_string(p, cursor_left(&p->body));
	print_text(p->out, "\n");
}

/* Prints which event and CPU or task each id belongs to. Records of a guest have a second array
 * behind the first, of machine pid and vcpu. */
void print_id_index(struct printer *p)
{
	uint64_t n = cursor_u64(&p->body);
	/* Behind the entries may be as many pairs of machine pid and vcpu. */
	bool guest = n <= cursor_left(&p->body) / 48;
	/* The cursor moves over the first array while `more` reads the second one beside it. */
	struct cursor more = p->body;

	if (guest)
		cursor_bytes(&more, n * 32);
	buf_printf(p->out, " nr: %llu\n", (unsigned long long)n);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t id = cursor_u64(&p->body), idx = cursor_u64(&p->body);
		int64_t cpu = (int64_t)cursor_u64(&p->body), tid = (int64_t)cursor_u64(&p->body);

		if (p->body.failed)
			break;
		buf_printf(p->out, " ... id: %llu  idx: %llu  cpu: %lld  tid: %lld",
		           (unsigned long long)id, (unsigned long long)idx, (long long)cpu,
		           (long long)tid);
		if (guest) {
			int64_t machine = (int64_t)cursor_u64(&more);

			buf_printf(p->out, "  machine_pid: %lld  vcpu: %lld", (long long)machine,
			           (long long)cursor_u64(&more));
		}
		print_text(p->out, "\n");
	}
	print_end(p);
}

void print_auxtrace_info(struct printer *p)
{
	buf_printf(p->out, " type: %u\n", cursor_u32(&p->body));
}

void print_auxtrace(struct printer *p)
{
	struct buf *out = p->out;
	uint32_t idx;
	int tid;

	print_text(out, " size: ");
	print_hex(out, cursor_u64(&p->body));
	print_text(out, "  offset: ");
	print_hex(out, cursor_u64(&p->body));
	print_text(out, "  ref: ");
	print_hex(out, cursor_u64(&p->body));
	idx = cursor_u32(&p->body);
	tid = (int)cursor_u32(&p->body);
	buf_printf(out, "  idx: %u  tid: %d  cpu: %d\n", idx, tid, (int)cursor_u32(&p->body));
}

/* Prints an error of a trace decoder. Older formats have no time (fmt 0) or no virtual machine (fmt
 * 1), so these are read only where the format has them. */
void print_auxtrace_error(struct printer *p)
{
	uint32_t type = cursor_u32(&p->body), code = cursor_u32(&p->body);
	int cpu = (int)cursor_u32(&p->body), pid = (int)cursor_u32(&p->body);
	int tid = (int)cursor_u32(&p->body);
	uint32_t fmt = cursor_u32(&p->body);
	uint64_t ip = cursor_u64(&p->body), time = fmt ? cursor_u64(&p->body) : 0;
	/* The message has 64 bytes in every format; machine pid and vcpu stand behind it. */
	struct cursor vm = p->body;

	buf_printf(p->out, " %serror type %u time %llu.%09llu",
	           type == 1 ? "instruction trace " : "", type,
	           (unsigned long long)(time / 1000000000),
	           (unsigned long long)(time % 1000000000));
	cursor_bytes(&vm, 64);
	if (fmt >= 2 && cursor_left(&vm) >= 8) {
		int machine = (int)cursor_u32(&vm);

		buf_printf(p->out, " machine_pid %d vcpu %d", machine, (int)cursor_u32(&vm));
	}
	buf_printf(p->out, " cpu %d pid %d tid %d ip ", cpu, pid, tid);
	print_hex(p->out, ip);
	buf_printf(p->out, " code %u: ", code);
	print_string(p, 64);
	print_text(p->out, "\n");
}

/* The comms are passed over: they are empty, or repeat what COMM records say. */
void print_thread_map(struct printer *p)
{
	uint64_t n = cursor_u64(&p->body);

	buf_printf(p->out, " nr: %llu thread%s: ", (unsigned long long)n, n > 1 ? "s" : "");
	for (uint64_t i = 0; i < n; i++) {
		int64_t pid = (int64_t)cursor_u64(&p->body);

		if (!cursor_bytes(&p->body, 16)) /* comm: empty, or that of pid */
			break;
		buf_printf(p->out, "%s%lld", i ? ", " : "", (long long)pid);
	}
	print_text(p->out, "\n");
	print_end(p);
}

/* CPUs in ascending order as "0-3,8": print_cpu_list_put each, print_cpu_list_end. */
/* first and last: the range that is still growing; open says that there is one. any: a comma is
 * needed. */
struct cpu_list {
	struct buf *out;
	int64_t first, last;
	bool any, open;
};

static void print_cpu_list_end(struct cpu_list *l)
{
	if (!l->open)
		return;
	print_text(l->out, l->any ? "," : "");
	buf_put_signed(l->out, l->first);
	if (l->last > l->first) {
		print_text(l->out, "-");
		buf_put_signed(l->out, l->last);
	}
	l->any = true;
	l->open = false;
}

/* Ranges that touch become one. */
static void print_cpu_list_put(struct cpu_list *l, int64_t first, int64_t last)
{
	if (l->open && first == l->last + 1) {
		l->last = last;
		return;
	}
	print_cpu_list_end(l);
	l->first = first;
	l->last = last;
	l->open = true;
}

/* CPUs as bits, in words of 4 or of 8 bytes; a record of the second kind has padding in front. */
static void print_cpu_mask(struct cursor *c, struct cpu_list *list)
{
	unsigned n = cursor_u16(c), width = cursor_u16(c);

	if (width == 8)
		cursor_bytes(c, 4); /* padding */
	for (unsigned word = 0; word < n && !c->failed; word++) {
		uint64_t mask = width == 8 ? cursor_u64(c) : cursor_u32(c);

		for (; mask; mask &= mask - 1) {
			int64_t cpu =
			        (int64_t)word * (width == 8 ? 64 : 32) + __builtin_ctzll(mask);

			print_cpu_list_put(list, cpu, cpu);
		}
	}
}

/* The part that CPU_MAP and EVENT_UPDATE share: u16 type, and a list, a mask or a range. The types
 * are those of perf's PERF_CPU_MAP__*: 0 a list, 1 a mask, 2 a range. */
static void print_cpus(struct printer *p)
{
	struct cpu_list list = { .out = p->out };
	struct cursor *c = &p->body;
	unsigned type = cursor_u16(c), n;

	switch (type) {
	case 0:
		n = cursor_u16(c);
		for (unsigned i = 0; i < n && !c->failed; i++) {
			int16_t cpu = (int16_t)cursor_u16(c);

			if (!c->failed)
				print_cpu_list_put(&list, cpu, cpu);
		}
		break;
	case 1:
		print_cpu_mask(c, &list);
		break;
	case 2:
		if (cursor_u8(c)) /* any CPU: perf's map begins with -1 */
			print_cpu_list_put(&list, -1, -1);
		cursor_u8(c);
		n = cursor_u16(c);
		print_cpu_list_end(&list);
		print_cpu_list_put(&list, n, cursor_u16(c));
		break;
	default:
		buf_printf(p->out, "unknown type %u", type);
	}
	print_cpu_list_end(&list);
	print_text(p->out, "\n");
}

void print_cpu_map(struct printer *p)
{
	print_text(p->out, ": ");
	print_cpus(p);
	print_end(p);
}

/* Prints how `perf stat record` was asked to count: one line per tag. A tag that is not known is
 * printed by its number. */
void print_stat_config(struct printer *p)
{
	static const char *const tags[] = { "aggr_mode", "interval", "scale", "aggr_level" };
	uint64_t n = cursor_u64(&p->body);

	print_text(p->out, "\n");
	for (uint64_t i = 0; i < n; i++) {
		uint64_t tag = cursor_u64(&p->body), val = cursor_u64(&p->body);

		if (p->body.failed)
			break;
		if (tag < sizeof(tags) / sizeof(*tags))
			buf_printf(p->out, "... %-9s %llu\n", tags[tag], (unsigned long long)val);
		else
			buf_printf(p->out, "... tag %llu: %llu\n", (unsigned long long)tag,
			           (unsigned long long)val);
	}
	print_end(p);
}

void print_stat(struct printer *p)
{
	uint64_t id = cursor_u64(&p->body);
	int cpu = (int)cursor_u32(&p->body), thread = (int)cursor_u32(&p->body);
	uint64_t value = cursor_u64(&p->body), enabled = cursor_u64(&p->body);

	buf_printf(p->out, "\n... id %llu, cpu %d, thread %d\n", (unsigned long long)id, cpu,
	           thread);
	buf_printf(p->out, "... value %llu, enabled %llu, running %llu\n",
	           (unsigned long long)value, (unsigned long long)enabled,
	           (unsigned long long)cursor_u64(&p->body));
}

/* time is that of the round, in nanoseconds. */
void print_stat_round(struct printer *p)
{
	uint64_t type = cursor_u64(&p->body);

	buf_printf(p->out, "\n... time %llu, type %s\n", (unsigned long long)cursor_u64(&p->body),
	           type == 0   ? "INTERVAL"
	           : type == 1 ? "FINAL"
	                       : "unknown");
}

/* Prints what perf says about an event after it was announced: its unit, scale, name or CPUs. Which
 * of them is the first word of the record. */
void print_event_update(struct printer *p)
{
	uint64_t type = cursor_u64(&p->body), bits;
	double scale;

	buf_printf(p->out, "\n... id:    %llu\n", (unsigned long long)cursor_u64(&p->body));
	switch (type) {
	case 0:
		print_text(p->out, "... unit:  ");
		print_string(p, cursor_left(&p->body));
		print_text(p->out, "\n");
		break;
	case 1:
		bits = cursor_u64(&p->body);
		memcpy(&scale, &bits, sizeof(scale));
		buf_printf(p->out, "... scale: %f\n", scale);
		break;
	case 2:
		print_text(p->out, "... name:  ");
		print_string(p, cursor_left(&p->body));
		print_text(p->out, "\n");
		break;
	case 3:
		print_text(p->out, "... ");
		print_cpus(p);
		break;
	default:
		print_text(p->out, "... unknown type\n");
	}
	print_end(p);
}

/* Prints a TIME_CONV record: how cycles of the CPU become times of the kernel's clock. */
void print_time_conv(struct printer *p)
{
	static const char *const lines[] = { "Time Shift      ", "Time Multiplier ",
		                             "Time Zero       ", "Time Cycles     ",
		                             "Time Mask       " };
	/* Before Linux 5.10 the record ended behind Time Zero: its size says which form it has. */
	unsigned n = cursor_left(&p->body) >= 48 ? 5 : 3;

	print_text(p->out, "\n");
	for (unsigned i = 0; i < n; i++) {
		buf_printf(p->out, i < 4 ? "... %s%llu\n" : "... %s%#llx\n", lines[i],
		           (unsigned long long)cursor_u64(&p->body));
	}
	if (n < 5)
		return;
	buf_printf(p->out, "... Cap Time Zero   %u\n", cursor_u8(&p->body));
	buf_printf(p->out, "... Cap Time Short  %u\n", cursor_u8(&p->body));
}

/* Prints a HEADER_FEATURE record of a pipe. Only features that hold one string are shown as text;
 * of others the size is given. */
void print_feature(struct printer *p)
{
	/* By number of the header's feature. These hold a u32 length and a string of that
	 * length. */
	static const char *const strings[] = {
		[3] = "hostname", [4] = "os release", [5] = "perf version",
		[6] = "arch",     [8] = "cpudesc",    [9] = "cpuid"
	};
	uint64_t feature = cursor_u64(&p->body);
	uint32_t n;

	if (feature >= sizeof(strings) / sizeof(*strings) || !strings[feature]) {
		buf_printf(p->out, ", feature %llu, %zu bytes\n", (unsigned long long)feature,
		           cursor_left(&p->body));
		return;
	}
	n = cursor_u32(&p->body);
	buf_printf(p->out, ", # %s : ", strings[feature]);
	print_string(p, n);
	print_text(p->out, "\n");
}

/* How many compressed bytes the record holds. COMPRESSED2 says so itself, because its data is
 * padded; the older COMPRESSED has data up to its end. */
void print_compressed(struct printer *p)
{
	uint64_t n = cursor_left(&p->body);

	if (p->record->type == SEAM_RECORD_COMPRESSED2)
		n = cursor_u64(&p->body);
	buf_printf(p->out, ": %llu bytes\n", (unsigned long long)n);
	if (p->record->type == SEAM_RECORD_COMPRESSED2)
		cursor_bytes(&p->body, n);
	print_end(p);
}

/* Prints the keys and values that a BPF program carries about itself. Both are fields of fixed size
 * in the record and need not end in a NUL. */
void print_bpf_metadata(struct printer *p)
{
	uint64_t n;

	print_text(p->out, " prog ");
	print_string(p, 512);
	n = cursor_u64(&p->body);
	print_text(p->out, "\n");
	for (uint64_t i = 0; i < n; i++) {
		const char *key = (const char *)cursor_bytes(&p->body, 64);

		/* A value that would pass the end is not read: then print_end says so. */
		if (cursor_left(&p->body) < 256) {
			cursor_fail(&p->body);
			break;
		}
		buf_printf(p->out, "  entry %llu: %20.64s = ", (unsigned long long)i, key);
		print_string(p, 256);
		print_text(p->out, "\n");
	}
	print_end(p);
}

/* As /proc/schedstat has the line. */
void print_schedstat(struct printer *p)
{
	bool domain = p->record->type == SEAM_RECORD_SCHEDSTAT_DOMAIN;
	/* How many counts a domain has depends on the kernel; 16384 words fill the largest
	 * record. */
	unsigned cpu, number, most = domain ? 16384 : 9; /* counts; 9 and then padding */

	cursor_u64(&p->body); /* timestamp */
	cpu = cursor_u32(&p->body);
	cursor_u16(&p->body); /* version */
	number = cursor_u16(&p->body);
	buf_printf(p->out, domain ? "\ndomain%u " : "\ncpu%u ", domain ? number : cpu);
	/* All counts have 32 bits, but the times of a CPU, which follow its six counts. */
	for (unsigned i = 0; i < most && cursor_left(&p->body) >= (domain || i < 6 ? 4 : 8); i++)
		buf_printf(p->out, "%llu ",
		           (unsigned long long)(domain || i < 6 ? cursor_u32(&p->body)
		                                                : cursor_u64(&p->body)));
	print_text(p->out, "\n");
}
