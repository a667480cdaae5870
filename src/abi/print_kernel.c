// SPDX-License-Identifier: MIT
/*
 * print_kernel.c: the text of the kernel's records other than samples, in the form of perf report
 * -D. All have passed seam_record_decode: their lengths are sound.
 *
 * Each function gets a printer whose body begins behind the header. It writes what follows the
 * type's name on the record's first line, and the newline. The odd spaces are perf's, so that the
 * two outputs can be compared.
 */
#include "abi/decode.h"
#include "abi/printer.h"
#include "base/shown.h"

#include <sys/mman.h>

/* Also for records that have no fields: their text is the end of the line. */
void print_fixed(struct printer *p)
{
	uint32_t type = p->record->type;

	if (type == SEAM_RECORD_THROTTLE || type == SEAM_RECORD_UNTHROTTLE) {
		uint64_t time = cursor_u64(&p->body), id = cursor_u64(&p->body);

		shown_printf(p->out, " time: %llu id: %llu stream_id: %llu",
		             (unsigned long long)time, (unsigned long long)id,
		             (unsigned long long)cursor_u64(&p->body));
	}
	print_text(p->out, "\n");
}

/* Two ids, signed as in perf. */
static void print_pair(struct buf *out, uint32_t a, const char *between, uint32_t b)
{
	buf_put_signed(out, (int32_t)a);
	print_text(out, between);
	buf_put_signed(out, (int32_t)b);
}

/* " pid/tid: [addr(len) @ pgoff": MMAP and MMAP2 begin alike. */
static void print_range(struct printer *p, const struct seam_mmap *m)
{
	struct buf *out = p->out;

	print_text(out, " ");
	print_pair(out, m->pid, "/", m->tid);
	print_text(out, ": [");
	print_hex(out, m->addr);
	print_text(out, "(");
	print_hex(out, m->len);
	print_text(out, ") @ ");
	print_hex(out, m->pgoff);
}

void print_mmap(struct printer *p)
{
	const struct seam_mmap *m = &p->d->mmap;

	print_range(p, m);
	/* The kernel reports mappings without code only with attr.mmap_data, and marks them in
	 * misc. */
	print_text(p->out, p->record->misc & SEAM_MISC_MMAP_DATA ? "]: r " : "]: x ");
	shown_put_text(p->out, m->filename);
	print_text(p->out, "\n");
}

/* Prints either the build-id or device, inode and generation, and then protection and sharing as
 * /proc/PID/maps shows them. */
void print_mmap2(struct printer *p)
{
	const struct seam_mmap *m = &p->d->mmap;
	struct buf *out = p->out;

	print_range(p, m);
	if (m->has_build_id) {
		print_text(out, " <");
		print_hex_bytes(out, m->build_id, m->build_id_size);
		print_text(out, ">");
	} else {
		shown_printf(out, " %02x:%02x %llu %llu", m->maj, m->min,
		             (unsigned long long)m->ino, (unsigned long long)m->ino_generation);
	}
	print_text(out, m->prot & PROT_READ ? "]: r" : "]: -");
	print_text(out, m->prot & PROT_WRITE ? "w" : "-");
	print_text(out, m->prot & PROT_EXEC ? "x" : "-");
	print_text(out, m->flags & MAP_SHARED ? "s " : "p ");
	shown_put_text(out, m->filename);
	print_text(out, "\n");
}

void print_comm(struct printer *p)
{
	const struct seam_comm *c = &p->d->comm;

	print_text(p->out, c->exec ? " exec: " : ": ");
	shown_put_text(p->out, c->comm);
	print_text(p->out, ":");
	print_pair(p->out, c->pid, "/", c->tid);
	print_text(p->out, "\n");
}

void print_task(struct printer *p)
{
	const struct seam_task *t = &p->d->task;

	print_text(p->out, "(");
	print_pair(p->out, t->pid, ":", t->tid);
	print_text(p->out, "):(");
	print_pair(p->out, t->ppid, ":", t->ptid);
	print_text(p->out, ")\n");
}

void print_lost(struct printer *p)
{
	shown_printf(p->out, ": id:%lld: lost:%llu\n", (long long)p->d->lost.id,
	             (unsigned long long)p->d->lost.lost);
}

/* The BPF bit says that a filter program dropped the samples; nothing was lost. */
void print_lost_samples(struct printer *p)
{
	shown_printf(p->out, ": id:%llu: lost samples :%llu%s\n", (unsigned long long)p->d->id.id,
	             (unsigned long long)p->d->lost.lost,
	             p->record->misc & SEAM_MISC_LOST_SAMPLES_BPF ? " (BPF)" : "");
}

/* Prints the first value of a READ record with its times. A record whose event is unknown, or whose
 * values cannot be read, ends after pid and tid. */
void print_read(struct printer *p)
{
	const struct seam_event *event = p->d->event;
	int pid = (int)cursor_u32(&p->body), tid = (int)cursor_u32(&p->body);
	/* The values are read from the body again: seam_decoded has no member for READ. */
	struct decode d = { .record = p->record, .body = p->body };
	struct seam_read_value v;
	struct seam_read read;

	shown_printf(p->out, ": %d %d", pid, tid);
	if (!event || decode_read(&d, events_layout(event)->read_format, &read) < 0 || !read.n) {
		print_text(p->out, "\n");
		return;
	}
	v = seam_read_at(&read, 0);
	shown_printf(p->out, " %s %llu\n", event->name ? event->name : "",
	             (unsigned long long)v.value);
	if (read.format & SEAM_FORMAT_TOTAL_TIME_ENABLED)
		shown_printf(p->out, "... time enabled : %llu\n",
		             (unsigned long long)read.time_enabled);
	if (read.format & SEAM_FORMAT_TOTAL_TIME_RUNNING)
		shown_printf(p->out, "... time running : %llu\n",
		             (unsigned long long)read.time_running);
	if (read.format & SEAM_FORMAT_ID)
		shown_printf(p->out, "... id           : %llu\n", (unsigned long long)v.id);
	if (read.format & SEAM_FORMAT_LOST)
		shown_printf(p->out, "... lost         : %llu\n", (unsigned long long)v.lost);
}

void print_aux(struct printer *p)
{
	uint64_t offset = cursor_u64(&p->body), size = cursor_u64(&p->body);
	uint64_t flags = cursor_u64(&p->body);

	print_text(p->out, " offset: ");
	print_hex(p->out, offset);
	print_text(p->out, " size: ");
	print_hex(p->out, size);
	print_text(p->out, " flags: ");
	print_hex(p->out, flags);
	/* Truncated, overwritten, partial, collision. */
	shown_printf(p->out, " [%s%s%s%s]\n", flags & 1 ? "T" : "", flags & 2 ? "O" : "",
	             flags & 4 ? "P" : "", flags & 8 ? "C" : "");
}

void print_itrace_start(struct printer *p)
{
	uint32_t pid = cursor_u32(&p->body);

	shown_printf(p->out, " pid: %u tid: %u\n", pid, cursor_u32(&p->body));
}

void print_switch(struct printer *p)
{
	/* The bits mean something only where the task goes out; a task that comes in has none. */
	bool out = p->record->misc & SEAM_MISC_SWITCH_OUT;
	bool preempt = p->record->misc & SEAM_MISC_SWITCH_OUT_PREEMPT;
	int pid;

	shown_printf(p->out, " %s", !out ? "IN         " : preempt ? "OUT preempt" : "OUT        ");
	if (p->record->type == SEAM_RECORD_SWITCH_CPU_WIDE) {
		pid = (int)cursor_u32(&p->body);
		/* Going out, the record names the task that comes next; coming in, the one that ran
		 * before. */
		shown_printf(p->out, "  %s pid/tid: %5d/%-5d", out ? "next" : "prev", pid,
		             (int)cursor_u32(&p->body));
	}
	print_text(p->out, "\n");
}

/* Prints device and inode of each namespace, four to a line. It stops where the record ends,
 * whatever the count says. */
void print_namespaces(struct printer *p)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	int pid = (int)cursor_u32(&p->body), tid = (int)cursor_u32(&p->body);
	uint64_t n = cursor_u64(&p->body);

	shown_printf(p->out, " %d/%d - nr_namespaces: %llu\n\t\t[", pid, tid,
	             (unsigned long long)n);
	for (uint64_t i = 0; i < n && !p->body.failed; i++) {
		uint64_t dev = cursor_u64(&p->body), ino = cursor_u64(&p->body);

		if (i && i % 4 == 0)
			print_text(p->out, "\n\t\t ");
		shown_printf(p->out, "%llu/%s: %llu/%#llx%s", (unsigned long long)i,
		             i < sizeof(names) / sizeof(*names) ? names[i] : "UNKNOWN",
		             (unsigned long long)dev, (unsigned long long)ino,
		             i + 1 < n ? ", " : "");
	}
	print_text(p->out, "]\n");
}

void print_ksymbol(struct printer *p)
{
	const struct seam_ksymbol *k = &p->d->ksymbol;

	cursor_bytes(&p->body, 14); /* up to flags, of which only one bit has a meaning */
	shown_printf(p->out, " addr %llx len %u type %u flags 0x%x name %s\n",
	             (unsigned long long)k->addr, k->len, k->ksym_type, cursor_u16(&p->body),
	             k->name);
}

void print_bpf_event(struct printer *p)
{
	unsigned type = cursor_u16(&p->body), flags = cursor_u16(&p->body);

	shown_printf(p->out, " type %u, flags %u, id %u\n", type, flags, cursor_u32(&p->body));
}

void print_cgroup(struct printer *p)
{
	uint64_t id = cursor_u64(&p->body);

	shown_printf(p->out, " cgroup: %llu %s\n", (unsigned long long)id, cursor_string(&p->body));
}

/* The bytes before or after a change of the kernel's code, 16 a line. */
static void print_poked(struct printer *p, const char *which, unsigned n)
{
	const unsigned char *bytes = cursor_bytes(&p->body, n);

	for (unsigned i = 0; bytes && i < n; i++) {
		if (i % 16 == 0)
			shown_printf(p->out, "%s            %s bytes:", i ? "\n" : "", which);
		shown_printf(p->out, " %02x", bytes[i]);
	}
	if (n)
		print_text(p->out, "\n");
}

void print_text_poke(struct printer *p)
{
	uint64_t addr = cursor_u64(&p->body);
	unsigned old = cursor_u16(&p->body), new = cursor_u16(&p->body);

	shown_printf(p->out, " %llx  old len %u new len %u\n", (unsigned long long)addr, old, new);
	print_poked(p, "Old", old);
	print_poked(p, "New", new);
}

void print_aux_output_hw_id(struct printer *p)
{
	print_text(p->out, " hw_id: ");
	print_hex(p->out, cursor_u64(&p->body));
	print_text(p->out, "\n");
}
