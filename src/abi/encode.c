// SPDX-License-Identifier: MIT
/*
 * encode.c: see encode.h. Invariant: on failure the buffer is as long as it was; a record that was
 * begun is either finished whole or taken back.
 *
 * capture/ and recorder/ make the records with it that the kernel does not give (what was mapped
 * before the recording began), convert/ makes new ones of old ones. Records of the kernel are
 * written as they came, without passing here. What is too long or contradicts its attr is refused
 * when the record is whole, so the functions that append fields have no errors of their own; buf
 * remembers a failed allocation.
 */
#include "abi/encode.h"

#include <errno.h>

#include "abi/events.h"

#define ENCODE_SIZE_MAX 65528u /* the largest multiple of 8 that a u16 holds */

/* The size is 0 until encode_end knows it. */
size_t encode_begin(struct buf *out, uint32_t type, uint16_t misc)
{
	size_t start = out->n;

	buf_put_u32(out, type);
	buf_put_u16(out, misc);
	buf_put_u16(out, 0);
	return start;
}

/* The kernel aligns each record to 8 bytes, and readers rely on it. */
static void encode_pad(struct buf *out, size_t start)
{
	buf_put_zeros(out, (8 - (out->n - start) % 8) % 8);
}

/* Takes the record back where it cannot be finished. */
int encode_end(struct buf *out, size_t start)
{
	uint16_t size;

	encode_pad(out, start);
	if (out->failed || out->n - start > ENCODE_SIZE_MAX) {
		out->n = start;
		return out->failed ? -ENOMEM : -E2BIG;
	}
	size = (uint16_t)(out->n - start);
	memcpy(out->bytes + start + 6, &size, sizeof(size));
	return 0;
}

/* Appends the fields of a sample_id trailer, in their order. */
static void encode_trailer(struct buf *out, uint64_t bits, const struct seam_id *id)
{
	if (bits & SEAM_SAMPLE_TID) {
		buf_put_u32(out, id->pid);
		buf_put_u32(out, id->tid);
	}
	if (bits & SEAM_SAMPLE_TIME)
		buf_put_u64(out, id->time_ns);
	if (bits & SEAM_SAMPLE_ID)
		buf_put_u64(out, id->id);
	if (bits & SEAM_SAMPLE_STREAM_ID)
		buf_put_u64(out, id->stream_id);
	if (bits & SEAM_SAMPLE_CPU) {
		buf_put_u32(out, id->cpu);
		buf_put_u32(out, 0);
	}
	if (bits & SEAM_SAMPLE_IDENTIFIER)
		buf_put_u64(out, id->id);
}

int encode_end_id(struct buf *out, size_t start, const struct seam_attr *attr,
                  const struct seam_id *id)
/* The body is padded first, because the trailer is aligned to 8 bytes. */
{
	static const struct seam_id none;

	encode_pad(out, start);
	if (attr && attr->flags & SEAM_ATTR_SAMPLE_ID_ALL)
		encode_trailer(out, attr->sample_type, id ? id : &none);
	return encode_end(out, start);
}

/* The values do not fit the attr: removes the record that was begun. -EINVAL. */
static int encode_refuse(struct buf *out, size_t start)
{
	out->n = start;
	return -EINVAL;
}

/* Appends an array of words in this machine's byte order. An array that no record can hold is
 * replaced by zeros of a length that encode_end refuses, so one check there is enough. */
static void encode_u64s(struct buf *out, const struct seam_u64s *words)
{
	unsigned char *p;

	if (words->n > ENCODE_SIZE_MAX / 8) { /* encode_end refuses it by its size */
		buf_put_zeros(out, ENCODE_SIZE_MAX + 8);
		return;
	}
	p = buf_reserve(out, words->n * 8);
	if (!p || !words->n)
		return;
	if (!words->swap)
		/* The words come from a record of another byte order when a recording of another
		 * machine is converted; then each is turned round. */
		memcpy(p, words->bytes, words->n * 8);
	for (uint64_t i = 0; words->swap && i < words->n; i++) {
		uint64_t v = seam_u64s_at(words, i);

		memcpy(p + i * 8, &v, 8);
	}
	out->n += words->n * 8;
}

/* The same for bytes: a length that no record can hold becomes one that encode_end refuses. */
static void encode_bytes(struct buf *out, const struct seam_bytes *b)
{
	if (b->n > ENCODE_SIZE_MAX)
		buf_put_zeros(out, ENCODE_SIZE_MAX + 8);
	else
		buf_put(out, b->bytes, b->n);
}

/* Writes as many bytes as attr->size says: an older size cuts the newer fields off, a larger one is
 * filled with zeros. On -ENOMEM the buffer is as long as before. */
int encode_attr(struct buf *out, const struct seam_attr *attr)
{
	/* An attr of this version has a name for each byte up to SEAM_ATTR_SIZE; later bytes are
	 * zeros, which is what a kernel takes for "not asked for". */
	struct seam_attr a = *attr;
	size_t start = out->n;

	_Static_assert(offsetof(struct seam_attr, reserved) == SEAM_ATTR_SIZE,
	               "what is known of it");
	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	               "bit-fields: turn flags and aux_action round, as seam_attr_decode does");
	if (!a.size)
		a.size = SEAM_ATTR_SIZE;
	if (a.size < SEAM_ATTR_SIZE_MIN)
		return -EINVAL;
	buf_put(out, &a, a.size < SEAM_ATTR_SIZE ? a.size : SEAM_ATTR_SIZE);
	if (a.size > SEAM_ATTR_SIZE)
		buf_put_zeros(out, a.size - SEAM_ATTR_SIZE);
	if (out->failed)
		out->n = start;
	return out->failed ? -ENOMEM : 0;
}

/* Writes the fields of a sample that have a fixed size and stand first, as far as sample_type asks
 * for them, in the order of the ABI. */
static void encode_sample_fixed(struct buf *out, uint64_t type, const struct seam_sample *s)
{
	if (type & SEAM_SAMPLE_IDENTIFIER)
		buf_put_u64(out, s->id.id);
	if (type & SEAM_SAMPLE_IP)
		buf_put_u64(out, s->ip);
	if (type & SEAM_SAMPLE_TID) {
		buf_put_u32(out, s->id.pid);
		buf_put_u32(out, s->id.tid);
	}
	if (type & SEAM_SAMPLE_TIME)
		buf_put_u64(out, s->id.time_ns);
	if (type & SEAM_SAMPLE_ADDR)
		buf_put_u64(out, s->addr);
	if (type & SEAM_SAMPLE_ID)
		buf_put_u64(out, s->id.id);
	if (type & SEAM_SAMPLE_STREAM_ID)
		buf_put_u64(out, s->id.stream_id);
	if (type & SEAM_SAMPLE_CPU) {
		buf_put_u32(out, s->id.cpu);
		buf_put_u32(out, 0);
	}
	if (type & SEAM_SAMPLE_PERIOD)
		buf_put_u64(out, s->period);
}

/* Writes counter values in the layout that sample_record reads them in. */
static void encode_read(struct buf *out, uint64_t format, const struct seam_read *read)
{
	if (!(format & SEAM_FORMAT_GROUP)) { /* values holds the times too */
		encode_u64s(out, &read->values);
		return;
	}
	buf_put_u64(out, read->n);
	if (format & SEAM_FORMAT_TOTAL_TIME_ENABLED)
		buf_put_u64(out, read->time_enabled);
	if (format & SEAM_FORMAT_TOTAL_TIME_RUNNING)
		buf_put_u64(out, read->time_running);
	encode_u64s(out, &read->values);
}

/* Writes the branch stack: its count, the word hw_idx if the event has one, the entries, and then
 * the counters of all entries in a row. */
static void encode_branches(struct buf *out, const struct layout *l,
                            const struct seam_branch_stack *b)
{
	buf_put_u64(out, b->n);
	if (l->branch_hw_idx &&
	    (b->n || b->has_hw_idx)) /* the kernel leaves it out of an empty one */
		buf_put_u64(out, b->hw_idx);
	encode_u64s(out, &b->entries);
	encode_u64s(out, &b->counters);
}

/* Nobody can read registers of an ABI that is not known, as their number is not known. Such a set
 * is written as "none". */
static void encode_regs(struct buf *out, const struct seam_regs *regs)
{
	bool known = regs->abi <= SEAM_REGS_ABI_MAX;

	buf_put_u64(out, known ? regs->abi : 0);
	if (regs->abi && known)
		encode_u64s(out, &regs->values);
}

/* Writes a stack copy: the room that it has, its bytes, zeros up to that room, and how many of the
 * bytes are real. The kernel leaves the last word out where the room is 0. */
static void encode_stack(struct buf *out, const struct seam_sample *s)
{
	uint64_t size = (s->stack_user_size + 7) / 8 * 8;

	buf_put_u64(out, size);
	if (!size)
		return;
	encode_bytes(out, &s->stack_user);
	if (size <= ENCODE_SIZE_MAX)
		buf_put_zeros(out, size - s->stack_user.n);
	else
		buf_put_zeros(out, ENCODE_SIZE_MAX + 8);
	buf_put_u64(out, s->stack_user.n);
}

/* Whether the arrays of a sample are as long as its counts and the attr say. A wrong length would
 * shift every later field of the record, and a reader would take one field for another. */
static bool encode_fits(const struct layout *l, const struct seam_sample *s)
{
	uint64_t type = l->sample_type, format = l->read_format;
	unsigned stride = 1 + !!(format & SEAM_FORMAT_ID) + !!(format & SEAM_FORMAT_LOST);
	unsigned times = !!(format & SEAM_FORMAT_TOTAL_TIME_ENABLED) +
	                 !!(format & SEAM_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t words = format & SEAM_FORMAT_GROUP ? s->read.n * stride : stride + times;

	if (type & SEAM_SAMPLE_READ && s->read.values.n != words)
		return false;
	if (type & SEAM_SAMPLE_BRANCH_STACK &&
	    (s->branches.entries.n != s->branches.n * 3 ||
	     s->branches.counters.n != (l->branch_counters ? s->branches.n : 0)))
		return false;
	if (type & SEAM_SAMPLE_REGS_USER && s->regs_user.abi &&
	    s->regs_user.abi <= SEAM_REGS_ABI_MAX &&
	    s->regs_user.values.n != (uint64_t)__builtin_popcountll(l->regs_user))
		return false;
	if (type & SEAM_SAMPLE_REGS_INTR && s->regs_intr.abi &&
	    s->regs_intr.abi <= SEAM_REGS_ABI_MAX &&
	    s->regs_intr.values.n != (uint64_t)__builtin_popcountll(l->regs_intr))
		return false;
	return s->stack_user.n <= s->stack_user_size;
}

/* Writes the fields that follow the branch stack, as far as sample_type asks for them, in the order
 * of the ABI. */
static void encode_sample_rest(struct buf *out, uint64_t type, const struct seam_sample *s)
{
	if (type & SEAM_SAMPLE_REGS_USER)
		encode_regs(out, &s->regs_user);
	if (type & SEAM_SAMPLE_STACK_USER)
		encode_stack(out, s);
	if (type & SEAM_SAMPLE_WEIGHT)
		buf_put_u64(out, s->weight);
	else if (type & SEAM_SAMPLE_WEIGHT_STRUCT)
		buf_put_u64(out, (uint32_t)s->weight | (uint64_t)s->weight2 << 32 |
		                         (uint64_t)s->weight3 << 48);
	if (type & SEAM_SAMPLE_DATA_SRC)
		buf_put_u64(out, s->data_src);
	if (type & SEAM_SAMPLE_TRANSACTION)
		buf_put_u64(out, s->transaction);
	if (type & SEAM_SAMPLE_REGS_INTR)
		encode_regs(out, &s->regs_intr);
	if (type & SEAM_SAMPLE_PHYS_ADDR)
		buf_put_u64(out, s->phys_addr);
	if (type & SEAM_SAMPLE_CGROUP)
		buf_put_u64(out, s->cgroup);
	if (type & SEAM_SAMPLE_DATA_PAGE_SIZE)
		buf_put_u64(out, s->data_page_size);
	if (type & SEAM_SAMPLE_CODE_PAGE_SIZE)
		buf_put_u64(out, s->code_page_size);
	if (type & SEAM_SAMPLE_AUX) {
		buf_put_u64(out, s->aux.n);
		encode_bytes(out, &s->aux);
	}
}

/* Writes one whole SAMPLE record. -EINVAL, with the buffer as it was: the arrays of the sample do
 * not have the lengths that its counts and the attr promise. */
int encode_sample(struct buf *out, const struct seam_attr *attr, uint16_t misc,
                  const struct seam_sample *s)
{
	const struct layout l = layout_of(attr);
	uint64_t type = l.sample_type;
	size_t start = encode_begin(out, SEAM_RECORD_SAMPLE, misc);

	if (!encode_fits(&l, s))
		return encode_refuse(out, start);
	encode_sample_fixed(out, type, s);
	if (type & SEAM_SAMPLE_READ)
		encode_read(out, l.read_format, &s->read);
	if (type & SEAM_SAMPLE_CALLCHAIN) {
		buf_put_u64(out, s->callchain.n);
		encode_u64s(out, &s->callchain);
	}
	if (type & SEAM_SAMPLE_RAW) {
		/* The size of raw data includes its padding, so that the next field is aligned. */
		uint32_t pad = (uint32_t)(8 - (s->raw.n + 4) % 8) % 8;

		buf_put_u32(out, (uint32_t)s->raw.n + pad);
		encode_bytes(out, &s->raw);
		buf_put_zeros(out, pad);
	}
	if (type & SEAM_SAMPLE_BRANCH_STACK)
		encode_branches(out, &l, &s->branches);
	encode_sample_rest(out, type, s);
	return encode_end(out, start);
}

int encode_deferred(struct buf *out, const struct seam_attr *attr, uint16_t misc,
                    const struct seam_callchain_deferred *deferred, const struct seam_id *id)
{
	size_t start = encode_begin(out, SEAM_RECORD_CALLCHAIN_DEFERRED, misc);

	buf_put_u64(out, deferred->cookie);
	buf_put_u64(out, deferred->ips.n);
	encode_u64s(out, &deferred->ips);
	return encode_end_id(out, start, attr, id);
}

/* The part that MMAP and MMAP2 share. */
static void encode_range(struct buf *out, const struct seam_mmap *mmap)
{
	buf_put_u32(out, mmap->pid);
	buf_put_u32(out, mmap->tid);
	buf_put_u64(out, mmap->addr);
	buf_put_u64(out, mmap->len);
	buf_put_u64(out, mmap->pgoff);
}

static void encode_string(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text) + 1);
}

int encode_mmap(struct buf *out, const struct seam_attr *attr, uint16_t misc,
                const struct seam_mmap *mmap, const struct seam_id *id)
{
	size_t start = encode_begin(out, SEAM_RECORD_MMAP, misc);

	encode_range(out, mmap);
	encode_string(out, mmap->filename);
	return encode_end_id(out, start, attr, id);
}

/* Writes an MMAP2 record with either the build-id or the device and inode. -EINVAL: the build-id is
 * longer than the field. */
int encode_mmap2(struct buf *out, const struct seam_attr *attr, uint16_t misc,
                 const struct seam_mmap *mmap, const struct seam_id *id)
{
	unsigned bit = mmap->has_build_id ? SEAM_MISC_MMAP_BUILD_ID : 0;
	size_t start = encode_begin(out, SEAM_RECORD_MMAP2,
	                            (uint16_t)((misc & ~SEAM_MISC_MMAP_BUILD_ID) | bit));

	if (mmap->build_id_size > sizeof(mmap->build_id))
		return encode_refuse(out, start);
	encode_range(out, mmap);
	if (mmap->has_build_id) {
		/* One byte of size and three that are reserved; the size is put in afterwards
		 * because buf has no function for a byte. */
		buf_put_u32(out, 0);
		if (!out->failed)
			out->bytes[out->n - 4] = mmap->build_id_size;
		buf_put(out, mmap->build_id, mmap->build_id_size);
		buf_put_zeros(out, sizeof(mmap->build_id) - mmap->build_id_size);
	} else {
		buf_put_u32(out, mmap->maj);
		buf_put_u32(out, mmap->min);
		buf_put_u64(out, mmap->ino);
		buf_put_u64(out, mmap->ino_generation);
	}
	buf_put_u32(out, mmap->prot);
	buf_put_u32(out, mmap->flags);
	encode_string(out, mmap->filename);
	return encode_end_id(out, start, attr, id);
}

int encode_comm(struct buf *out, const struct seam_attr *attr, uint16_t misc,
                const struct seam_comm *comm, const struct seam_id *id)
{
	unsigned bit = comm->exec ? SEAM_MISC_COMM_EXEC : 0;
	size_t start = encode_begin(out, SEAM_RECORD_COMM,
	                            (uint16_t)((misc & ~SEAM_MISC_COMM_EXEC) | bit));

	buf_put_u32(out, comm->pid);
	buf_put_u32(out, comm->tid);
	encode_string(out, comm->comm);
	return encode_end_id(out, start, attr, id);
}

int encode_cgroup(struct buf *out, const struct seam_attr *attr, uint64_t cgroup, const char *path,
                  const struct seam_id *id)
{
	size_t start = encode_begin(out, SEAM_RECORD_CGROUP, 0);

	buf_put_u64(out, cgroup);
	encode_string(out, path);
	return encode_end_id(out, start, attr, id);
}

int encode_task(struct buf *out, const struct seam_attr *attr, uint32_t type, uint16_t misc,
                const struct seam_task *task, const struct seam_id *id)
{
	size_t start = encode_begin(out, type, misc);

	if (type != SEAM_RECORD_FORK && type != SEAM_RECORD_EXIT)
		return encode_refuse(out, start);
	buf_put_u32(out, task->pid);
	buf_put_u32(out, task->ppid);
	buf_put_u32(out, task->tid);
	buf_put_u32(out, task->ptid);
	buf_put_u64(out, task->time_ns);
	return encode_end_id(out, start, attr, id);
}

int encode_lost(struct buf *out, const struct seam_attr *attr, uint32_t type, uint16_t misc,
                const struct seam_lost *lost, const struct seam_id *id)
{
	size_t start = encode_begin(out, type, misc);

	if (type != SEAM_RECORD_LOST && type != SEAM_RECORD_LOST_SAMPLES)
		return encode_refuse(out, start);
	if (type == SEAM_RECORD_LOST)
		buf_put_u64(out, lost->id);
	buf_put_u64(out, lost->lost);
	return encode_end_id(out, start, attr, id);
}

int encode_ksymbol(struct buf *out, const struct seam_attr *attr, uint16_t misc,
                   const struct seam_ksymbol *ksymbol, const struct seam_id *id)
{
	size_t start = encode_begin(out, SEAM_RECORD_KSYMBOL, misc);

	buf_put_u64(out, ksymbol->addr);
	buf_put_u32(out, ksymbol->len);
	buf_put_u16(out, ksymbol->ksym_type);
	buf_put_u16(out, ksymbol->unregister);
	encode_string(out, ksymbol->name);
	return encode_end_id(out, start, attr, id);
}
