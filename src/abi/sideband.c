// SPDX-License-Identifier: MIT
/*
 * sideband.c: decoders of every kernel record that is not a sample. They check what the record says
 * of its own lengths, also where no member of seam_decoded takes the values: whoever prints such a
 * record later may rely on it.
 *
 * Invariant: called with a body of at least the type's least size (records.def), less the header.
 * Strings stay in the record: they are valid as long as its bytes are, and end in a NUL that was
 * found within it.
 */
#include "abi/decode.h"

/* All fields of such a record lie within its least size, so nothing is left to check. */
int sideband_fixed(struct decode *d)
{
	return 0;
}

/* perf's own records are not checked here: the reader and the printers know their contents. */
int sideband_user(struct decode *d)
{
	return 0;
}

/* A string up to its NUL, which must be in the record. What follows it is padding. */
static int sideband_string(struct decode *d, const char *what, const char **ret)
{
	*ret = cursor_string(&d->body);
	return *ret ? 0 : decode_bad(d, "%s does not end in the record", what);
}

static void sideband_mmap_range(struct cursor *c, struct seam_mmap *m)
{
	m->pid = cursor_u32(c);
	m->tid = cursor_u32(c);
	m->addr = cursor_u64(c);
	m->len = cursor_u64(c);
	m->pgoff = cursor_u64(c);
}

int sideband_mmap(struct decode *d)
{
	struct seam_mmap *m = &d->ret->mmap;

	sideband_mmap_range(&d->body, m);
	return sideband_string(d, "filename", &m->filename);
}

/*
 * Whether an MMAP2 holds a build-id. Its bit in misc alone does not tell: the kernel sets the bit
 * in a header that it then uses again for the next event (seen on 6.18). So when somebody else
 * records with build-ids, the bit is set in records of events that did not ask for any, and these
 * hold maj, min and inode. The attr tells the two apart. Where no attr asks for build-ids (perf
 * inject writes such files), only a size of 20 bytes (SHA-1) or 16 bytes is believed: no disk has
 * the major number 20 or 16.
 */
static bool sideband_has_build_id(const struct decode *d)
{
	struct cursor c = d->body;
	uint32_t size;

	if (!(d->record->misc & SEAM_MISC_MMAP_BUILD_ID))
		return false;
	if (d->ret->event && d->ret->event->attr.flags & SEAM_ATTR_BUILD_ID)
		return true;
	for (size_t i = 0; !d->ret->event && i < seam_events_count(d->events); i++)
		if (seam_events_at(d->events, i)->attr.flags & SEAM_ATTR_BUILD_ID)
			return true;
	size = cursor_u8(&c);
	return size == 20 || size == 16;
}

/* Reads an MMAP2 record. The same 24 bytes hold either a build-id or device and inode;
 * sideband_has_build_id tells which. */
int sideband_mmap2(struct decode *d)
{
	struct seam_mmap *m = &d->ret->mmap;
	struct cursor *c = &d->body;

	sideband_mmap_range(c, m);
	m->has_build_id = sideband_has_build_id(d);
	if (m->has_build_id) {
		m->build_id_size = cursor_u8(c);
		if (m->build_id_size > sizeof(m->build_id))
			return decode_bad(d, "build-id of %u bytes, at most %zu fit",
			                  m->build_id_size, sizeof(m->build_id));
		cursor_bytes(c, 3); /* reserved */
		memcpy(m->build_id, cursor_bytes(c, sizeof(m->build_id)), m->build_id_size);
	} else {
		m->maj = cursor_u32(c);
		m->min = cursor_u32(c);
		m->ino = cursor_u64(c);
		m->ino_generation = cursor_u64(c);
	}
	m->has_prot = true;
	m->prot = cursor_u32(c);
	m->flags = cursor_u32(c);
	return sideband_string(d, "filename", &m->filename);
}

/* The exec bit tells a new program from a thread that renamed itself. */
int sideband_comm(struct decode *d)
{
	struct seam_comm *comm = &d->ret->comm;

	comm->pid = cursor_u32(&d->body);
	comm->tid = cursor_u32(&d->body);
	comm->exec = d->record->misc & SEAM_MISC_COMM_EXEC;
	return sideband_string(d, "comm", &comm->comm);
}

/* FORK and EXIT have the same fields. */
int sideband_task(struct decode *d)
{
	struct seam_task *task = &d->ret->task;

	task->pid = cursor_u32(&d->body);
	task->ppid = cursor_u32(&d->body);
	task->tid = cursor_u32(&d->body);
	task->ptid = cursor_u32(&d->body);
	task->time_ns = cursor_u64(&d->body);
	return 0;
}

/* LOST names the event that lost records; LOST_SAMPLES has its id in the trailer. */
int sideband_lost(struct decode *d)
{
	struct seam_lost *lost = &d->ret->lost;

	if (d->record->type == SEAM_RECORD_LOST)
		lost->id = cursor_u64(&d->body);
	lost->lost = cursor_u64(&d->body);
	return 0;
}

/* A user part of a callchain: the sample with the same cookie waits for it. The addresses stay in
 * the record. */
int sideband_deferred(struct decode *d)
{
	struct seam_callchain_deferred *def = &d->ret->deferred;
	size_t room;

	def->cookie = cursor_u64(&d->body);
	def->ips.n = cursor_u64(&d->body);
	def->ips.swap = d->body.swap;
	room = cursor_left(&d->body) / 8;
	def->ips.bytes = cursor_array(&d->body, def->ips.n, 8);
	if (!def->ips.bytes)
		return decode_bad(d, "nr is %llu, room for %zu", (unsigned long long)def->ips.n,
		                  room);
	return 0;
}

/* unregister: the symbol is gone, and its address may be given to another. */
int sideband_ksymbol(struct decode *d)
{
	struct seam_ksymbol *k = &d->ret->ksymbol;

	k->addr = cursor_u64(&d->body);
	k->len = cursor_u32(&d->body);
	k->ksym_type = cursor_u16(&d->body);
	k->unregister = cursor_u16(&d->body) & 1;
	return sideband_string(d, "name", &k->name);
}

int sideband_namespaces(struct decode *d)
{
	size_t room;
	uint64_t n;

	cursor_u64(&d->body); /* pid, tid */
	n = cursor_u64(&d->body);
	room = cursor_left(&d->body) / 16;
	if (!cursor_array(&d->body, n, 16)) /* dev, inode */
		return decode_bad(d, "%llu namespaces, room for %zu", (unsigned long long)n, room);
	return 0;
}

int sideband_cgroup(struct decode *d)
{
	const char *path;

	cursor_u64(&d->body); /* id */
	return sideband_string(d, "path", &path);
}

/* The lengths are those of the code before and after the change; both pieces follow. */
int sideband_text_poke(struct decode *d)
{
	unsigned old, new;
	size_t room;

	cursor_u64(&d->body); /* addr */
	old = cursor_u16(&d->body);
	new = cursor_u16(&d->body);
	room = cursor_left(&d->body);
	if (!cursor_bytes(&d->body, old + new))
		return decode_bad(d, "%u old and %u new bytes, room for %zu", old, new, room);
	return 0;
}

/* The values of a READ record follow the event's read_format; an unknown event's are not judged. */
int sideband_read(struct decode *d)
{
	struct seam_read read;

	if (!d->ret->event)
		return 0;
	cursor_u64(&d->body); /* pid, tid */
	return decode_read(d, events_layout(d->ret->event)->read_format, &read);
}
