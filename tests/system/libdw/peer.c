// SPDX-License-Identifier: MIT
// peer.c: see peer.h. A Dwfl for each address space, as its mappings were at the sample.
#include "peer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/image.h"

static const Dwfl_Callbacks dwfl_callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static void peer_report(struct peer *p, uint64_t pc)
{
	const struct proc_mapping *m = proc_space_find(p->procs, p->sample->space, pc);
	const struct tables_object *object;
	struct image_build_id id;
	uint64_t base = 0, vaddr;
	const char *path;

	if (!m || dwfl_addrmodule(p->dwfl, pc))
		return;
	path = m->object->path;
	if (m->object->kind == PROC_KIND_VDSO && p->vdso[0]) {
		path = p->vdso;
		base = m->start;
	} else if (m->object->kind == PROC_KIND_FILE) {
		id.size = m->object->build_id_size;
		memcpy(id.bytes, m->object->build_id, sizeof(id.bytes));
		if (tables_get(p->tables, path, &id, &object) < 0 || !object->n_segments ||
		    image_segments_mapped(object->segments, object->n_segments, m->pgoff,
		                          m->end - m->start, &vaddr) < 0)
			return;
		base = UINT64_MAX;
		for (size_t i = 0; i < object->n_segments; i++)
			if (object->segments[i].vaddr < base)
				base = object->segments[i].vaddr;
		base = (base & ~4095ULL) + m->start - vaddr;
	} else {
		return;
	}
	dwfl_report_elf(p->dwfl, path, path, -1, base, false);
}

static pid_t peer_next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	if (*thread)
		return 0;
	*thread = arg;
	return dwfl_pid(dwfl);
}

static bool peer_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *arg)
{
	const struct peer_sample *s = ((const struct peer *)arg)->sample;

	(void)dwfl;
	if (address < s->start || address - s->start > s->n_stack ||
	    s->n_stack - (address - s->start) < 8)
		return false;
	memcpy(ret, s->stack + (address - s->start), 8);
	return true;
}

static bool peer_registers(Dwfl_Thread *thread, void *arg)
{
	const struct peer *p = arg;
	Dwarf_Word values[PEER_REGISTERS];

	for (unsigned i = 0; i < PEER_REGISTERS; i++)
		values[i] = p->sample->registers[i];
	return dwfl_thread_state_registers(thread, 0, PEER_REGISTERS, values);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = peer_next_thread,
	.memory_read = peer_read,
	.set_initial_registers = peer_registers,
};

static int peer_frame(Dwfl_Frame *frame, void *arg)
{
	struct peer *p = arg;
	bool exact;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &exact) || p->n == PEER_FRAMES)
		return DWARF_CB_ABORT;
	peer_report(p, pc - !exact);
	p->sps[p->n] = p->fps[p->n] = 0;
	dwfl_frame_reg(frame, 7, &p->sps[p->n]);
	dwfl_frame_reg(frame, 6, &p->fps[p->n]);
	p->frames[p->n++] = pc;
	return DWARF_CB_OK;
}

bool peer_walk(struct peer *p, const struct peer_sample *s)
{
	uint64_t *slot = map_slot(&p->dwfls, (uint64_t)s->pid << 32 | s->space, NULL);

	p->sample = s;
	p->n = 0;
	p->dwfl = (Dwfl *)(uintptr_t)*slot;
	if (!p->dwfl) {
		p->dwfl = dwfl_begin(&dwfl_callbacks);
		*slot = (uintptr_t)p->dwfl;
		buf_put(&p->all, &p->dwfl, sizeof(p->dwfl));
		peer_report(p, s->registers[16]);
		if (!dwfl_attach_state(p->dwfl, NULL, (pid_t)s->pid, &thread_callbacks, p))
			return false;
	}
	peer_report(p, s->registers[16]);
	return dwfl_getthread_frames(p->dwfl, (pid_t)s->pid, peer_frame, p) == 0;
}

enum peer_why peer_why(const struct peer *p, const uint64_t *frames, size_t n)
{
	size_t k = 0;

	while (k < n && k < p->n && frames[k] == p->frames[k])
		k++;
	if (k == p->n)
		return PEER_STOPS;
	return k && p->fps[k - 1] && p->sps[k] == p->fps[k - 1] + 16 ? PEER_GUESSES : PEER_DIFFERS;
}

void peer_open(struct peer *p, const struct proc_table *procs, struct tables *tables)
{
	const unsigned char *bytes;
	size_t n;
	int fd;

	*p = (struct peer){ .procs = procs, .tables = tables };
	if (image_own_vdso(&bytes, &n) <= 0)
		return;
	strcpy(p->vdso, "/tmp/seam-vdso-XXXXXX");
	fd = mkstemp(p->vdso);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		p->vdso[0] = 0;
	if (fd >= 0)
		close(fd);
}

void peer_free(struct peer *p)
{
	Dwfl **all = (Dwfl **)(void *)p->all.bytes;

	for (size_t i = 0; i < p->all.n / sizeof(*all); i++)
		dwfl_end(all[i]);
	buf_free(&p->all);
	map_free(&p->dwfls);
	if (p->vdso[0])
		unlink(p->vdso);
}
