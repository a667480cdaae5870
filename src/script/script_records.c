// SPDX-License-Identifier: MIT
// script_records.c: see script_records.h. Few lines per recording: printf is fast enough here.
#include "script/script_records.h"
#include "base/shown.h"

/* As in mman.h; the numbers are those of the recorded machine, and these are the same on all. */
#define PROT_R 1u
#define PROT_W 2u
#define PROT_X 4u
#define MAP_IS_SHARED 1u

/* Writes the line of a mapping: address, length, offset, the file's identity, protection and
 * path. */
/* Protection is not in MMAP records, so perf shows 'x' or 'r' there. */
static int script_mmap(const struct seam_decoded *d, struct buf *out)
{
	const struct seam_mmap *m = &d->mmap;
	unsigned long long addr = m->addr, len = m->len, pgoff = m->pgoff;

	if (d->record->type == SEAM_RECORD_MMAP)
		return shown_printf(out, "PERF_RECORD_MMAP %d/%d: [%#llx(%#llx) @ %#llx]: %c %s\n",
		                    (int)m->pid, (int)m->tid, addr, len, pgoff,
		                    d->record->misc & SEAM_MISC_MMAP_DATA ? 'r' : 'x', m->filename);
	shown_printf(out, "PERF_RECORD_MMAP2 %d/%d: [%#llx(%#llx) @ %#llx ", (int)m->pid,
	             (int)m->tid, addr, len, pgoff);
	if (m->has_build_id) {
		buf_put_text(out, "<");
		for (unsigned i = 0; i < m->build_id_size; i++)
			shown_printf(out, "%02x", m->build_id[i]);
		buf_put_text(out, ">");
	} else {
		shown_printf(out, "%02x:%02x %llu %llu", m->maj, m->min, (unsigned long long)m->ino,
		             (unsigned long long)m->ino_generation);
	}
	return shown_printf(out, "]: %c%c%c%c %s\n", m->prot & PROT_R ? 'r' : '-',
	                    m->prot & PROT_W ? 'w' : '-', m->prot & PROT_X ? 'x' : '-',
	                    m->flags & MAP_IS_SHARED ? 's' : 'p', m->filename);
}

/* A record without a form of its own is written as its name. */
int script_record(const struct seam_decoded *d, struct buf *out)
{
	switch (d->record->type) {
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
		return script_mmap(d, out);
	case SEAM_RECORD_COMM:
		return shown_printf(out, "PERF_RECORD_COMM%s: %s:%d/%d\n",
		                    d->comm.exec ? " exec" : "", d->comm.comm, (int)d->comm.pid,
		                    (int)d->comm.tid);
	case SEAM_RECORD_FORK:
	case SEAM_RECORD_EXIT:
		return shown_printf(out, "PERF_RECORD_%s(%d:%d):(%d:%d)\n",
		                    d->record->type == SEAM_RECORD_FORK ? "FORK" : "EXIT",
		                    (int)d->task.pid, (int)d->task.tid, (int)d->task.ppid,
		                    (int)d->task.ptid);
	case SEAM_RECORD_LOST:
	case SEAM_RECORD_LOST_SAMPLES:
		return shown_printf(out, "PERF_RECORD_%s lost %llu\n",
		                    seam_record_name(d->record->type),
		                    (unsigned long long)d->lost.lost);
	default:
		return shown_printf(out, "PERF_RECORD_%s\n", seam_record_name(d->record->type));
	}
}
