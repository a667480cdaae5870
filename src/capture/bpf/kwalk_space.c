// SPDX-License-Identifier: MIT
/*
 * kwalk_space.c: what is mapped executable in each process, and was.
 *
 * The programs use what is mapped now. The recorder, which walks what they could not, is asked for
 * the time of a sample, which is a little in the past. So three things are kept of a process:
 *
 *	at        what is mapped now, by address; no two overlap
 *	replaced  pieces of mappings that newer ones took away, with the time when they did
 *	before    whole lists, as they were when the process executed another program
 *
 * The last two are bounded, and forgotten when walks are past their time (walked_ns).
 *
 * Records of different CPUs come in no order, so every mapping has its time: of two that overlap
 * the newer one is right, whichever came first.
 *
 * Invariant: if memory is out, something is unknown: a stack ends there and says so. A space that
 * changed is in the list of those to be published (dirty) until kwalk_publish has done so.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "capture/bpf/kwalk_parts.h"

/* The space of a process; NULL: it is not known, and was not to be made, or memory is out. It stays
 * where it is until it is freed. */
struct kwalk_space *kwalk_space_get(struct kwalk_spaces *s, uint32_t pid, bool make)
{
	uint64_t known, *slot;
	struct kwalk_space *space;

	if (map_get(&s->by_pid, pid, &known))
		return (struct kwalk_space *)(uintptr_t)known;
	if (!make)
		return NULL;
	space = calloc(1, sizeof(*space));
	slot = space ? map_slot(&s->by_pid, pid, NULL) : NULL;
	if (!slot) {
		free(space);
		return NULL;
	}
	space->pid = pid;
	space->all = s;
	*slot = (uintptr_t)space;
	return space;
}

/* Notes that the programs have an older picture of this process. */
void kwalk_space_touch(struct kwalk_space *s)
{
	if (s->dirty)
		return;
	s->dirty = true;
	s->next_dirty = s->all->dirty;
	s->all->dirty = s;
}

void kwalk_space_free(struct kwalk_space *s)
{
	for (size_t i = 0; i < s->n_before; i++)
		free(s->before[i].at);
	buf_free(&s->replaced);
	free(s->before);
	free(s->at);
	free(s);
}

void kwalk_spaces_free(struct kwalk_spaces *s)
{
	uint64_t pid, space;
	size_t i = 0;

	while (map_next(&s->by_pid, &i, &pid, &space))
		kwalk_space_free((struct kwalk_space *)(uintptr_t)space);
	map_free(&s->by_pid);
}

/* Drops the mappings that are not younger than a time. */
void kwalk_space_clear(struct kwalk_space *s, uint64_t before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].since_ns > before_ns)
			s->at[kept++] = s->at[i];
	s->n = kept;
	kwalk_space_touch(s);
}

/* Forgets the n oldest lists. */
static void kwalk_images_forget(struct kwalk_space *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(s->before[i].at);
	s->n_before -= n;
	memmove(s->before, s->before + n, s->n_before * sizeof(*s->before));
}

void kwalk_space_forget(struct kwalk_space *s)
{
	kwalk_images_forget(s, s->n_before);
	buf_clear(&s->replaced);
	kwalk_space_clear(s, UINT64_MAX);
}

/* If memory is out it is not remembered: a sample of that time ends at its first frame and says
 * so. */
static void kwalk_images_add(struct kwalk_space *s, uint64_t until_ns)
{
	struct kwalk_vma *copy = malloc((s->n + 1) * sizeof(*copy));

	if (!copy || ARRAY_ROOM(&s->before, &s->before_capacity, s->n_before + 1) < 0) {
		free(copy);
		return;
	}
	if (s->n)
		memcpy(copy, s->at, s->n * sizeof(*copy));
	s->before[s->n_before++] = (struct kwalk_image){ copy, s->n, until_ns };
}

/* Of the reader, who does not take the lock for it. */
static uint64_t space_walked_ns(const struct kwalk_space *s)
{
	return __atomic_load_n(&s->all->walked_ns, __ATOMIC_RELAXED);
}

/* What was mapped until then is kept as a whole for samples that are still to be walked. A mapping
 * that is younger than the exec is the new program's: its record came before the exec's. */
void kwalk_space_exec(struct kwalk_space *s, uint64_t at_ns)
{
	uint64_t walked_ns = space_walked_ns(s);
	size_t old = 0;

	while (old < s->n_before &&
	       (s->before[old].until_ns < walked_ns || s->n_before - old >= KWALK_IMAGES))
		old++;
	if (old)
		kwalk_images_forget(s, old);
	kwalk_images_add(s, at_ns);
	kwalk_space_clear(s, at_ns);
	s->left_ns = 0;
}

static int kwalk_space_room(struct kwalk_space *s, size_t n)
{
	return ARRAY_ROOM(&s->at, &s->capacity, n);
}

/* The caller has made room. */
static void kwalk_space_insert(struct kwalk_space *s, size_t i, const struct kwalk_vma *m)
{
	memmove(s->at + i + 1, s->at + i, (s->n - i) * sizeof(*s->at));
	s->at[i] = *m;
	s->n++;
}

/* The index of the first mapping that begins after an address. */
static size_t kwalk_vma_after(const struct kwalk_vma *at, size_t n, uint64_t pc)
{
	size_t i = 0;

	while (n) {
		size_t half = n / 2;

		if (at[i + half].start <= pc) {
			i += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return i;
}

/* What is left of an older mapping to the left and right of a newer one. */
static void kwalk_space_cut(struct kwalk_space *s, size_t i, const struct kwalk_vma *m)
{
	struct kwalk_vma old = s->at[i], *left = &s->at[i];

	if (old.start < m->start && old.end > m->end) {
		kwalk_space_insert(s, i + 1, &old);
		s->at[i].end = m->start;
		left = &s->at[i + 1];
	} else if (old.start < m->start) {
		left->end = m->start;
		return;
	}
	left->pgoff += m->end - left->start;
	left->vaddr += m->end - left->start;
	left->start = m->end;
}

/* What m takes away of a mapping is remembered for samples that were taken before. If memory is out
 * it is not, and these samples end there. */
static void kwalk_replaced_add(struct kwalk_space *s, const struct kwalk_vma *old,
                               const struct kwalk_vma *m)
{
	const struct kwalk_replaced *r = (const void *)s->replaced.bytes;
	struct kwalk_replaced add = { *old, m->since_ns };
	size_t n = s->replaced.n / sizeof(*r), past = 0;
	uint64_t walked_ns = space_walked_ns(s);

	if (add.was.start < m->start) {
		add.was.vaddr += m->start - add.was.start;
		add.was.pgoff += m->start - add.was.start;
		add.was.start = m->start;
	}
	if (add.was.end > m->end)
		add.was.end = m->end;
	/* What is past the walks is dropped when it is more than half: so moving costs little per
	 * record. */
	while (past < n && r[past].until_ns < walked_ns)
		past++;
	if (n - past >= KWALK_REPLACED)
		past = n - KWALK_REPLACED / 2;
	if (past > n / 2) {
		s->replaced.n = (n - past) * sizeof(*r);
		memmove(s->replaced.bytes, r + past, s->replaced.n);
	}
	if (buf_put(&s->replaced, &add, sizeof(add)) < 0)
		s->replaced.failed = false;
}

/* From the newest on: of two that overlap the newer one is right. */
static const struct kwalk_vma *kwalk_replaced_find(const struct kwalk_space *s, uint64_t pc,
                                                   uint64_t time_ns)
{
	const struct kwalk_replaced *r = (const void *)s->replaced.bytes;

	for (size_t i = s->replaced.n / sizeof(*r); i; i--)
		if (pc >= r[i - 1].was.start && pc < r[i - 1].was.end &&
		    time_ns >= r[i - 1].was.since_ns && time_ns < r[i - 1].until_ns)
			return &r[i - 1].was;
	return NULL;
}

/* Mappings have the time of their record, because records of several CPUs come in no order. */
int kwalk_space_put(struct kwalk_space *s, const struct kwalk_vma *m)
{
	size_t i = kwalk_vma_after(s->at, s->n, m->start);

	if (kwalk_space_room(s, s->n + 2) < 0)
		return -ENOMEM;
	if (i && s->at[i - 1].end > m->start)
		i--;
	/* A newer mapping is there already: this record is late. */
	for (size_t j = i; j < s->n && s->at[j].start < m->end; j++)
		if (s->at[j].since_ns > m->since_ns)
			return 0;
	while (i < s->n && s->at[i].start < m->end) {
		kwalk_replaced_add(s, &s->at[i], m);
		if (s->at[i].start >= m->start && s->at[i].end <= m->end) {
			memmove(s->at + i, s->at + i + 1, (--s->n - i) * sizeof(*s->at));
			continue;
		}
		kwalk_space_cut(s, i, m);
		if (s->at[i].end <= m->start)
			i++;
		if (i < s->n && s->at[i].start >= m->end)
			break;
	}
	kwalk_space_insert(s, i, m);
	kwalk_space_touch(s);
	return 0;
}

/* Whether a mapping is a part of an older one, and as far as walks can tell the same. */
static bool kwalk_vma_continues(const struct kwalk_vma *old, const struct kwalk_vma *m)
{
	return old->start <= m->start && old->end >= m->end && old->blob == m->blob &&
	       old->later == m->later && old->may_guess == m->may_guess &&
	       old->keeps_fp == m->keeps_fp &&
	       (!m->blob || old->vaddr + (m->start - old->start) == m->vaddr);
}

/* What was read from /proc is the present only; the times of mappings are kept from what was known
 * before. */
int kwalk_space_replace(struct kwalk_space *s, const struct kwalk_vma *at, size_t n,
                        uint64_t seen_ns)
{
	struct kwalk_vma *old = s->at;
	size_t n_old = s->n, i = 0;
	struct kwalk_space now = { .capacity = 0 };

	if (kwalk_space_room(&now, n) < 0)
		return -ENOMEM;
	/* Both lists are in order of address and are gone through side by side. */
	for (size_t j = 0; j < n; j++) {
		now.at[j] = at[j];
		for (; i < n_old && old[i].end <= at[j].start; i++)
			;
		if (i < n_old && kwalk_vma_continues(&old[i], &at[j]))
			now.at[j].since_ns = old[i].since_ns;
	}
	/* What is gone, or has another age now, is remembered until seen_ns. */
	for (size_t j = i = 0; i < n_old; i++) {
		struct kwalk_vma whole = old[i];

		while (j < n && now.at[j].start < old[i].start)
			j++;
		whole.since_ns = seen_ns;
		if (old[i].since_ns < seen_ns &&
		    (j == n || now.at[j].start != old[i].start || now.at[j].end != old[i].end ||
		     now.at[j].since_ns != old[i].since_ns))
			kwalk_replaced_add(s, &old[i], &whole);
	}
	s->at = now.at;
	s->capacity = now.capacity;
	s->n = n;
	free(old);
	kwalk_space_touch(s);
	return 0;
}

/* A child's space after fork. The past is not copied: the child has none. */
int kwalk_space_copy(struct kwalk_space *to, const struct kwalk_space *from)
{
	if (kwalk_space_room(to, from->n) < 0)
		return -ENOMEM;
	if (from->n)
		memcpy(to->at, from->at, from->n * sizeof(*from->at));
	to->n = from->n;
	to->left_ns = from->left_ns;
	kwalk_space_touch(to);
	return 0;
}

static const struct kwalk_vma *kwalk_vma_search(const struct kwalk_vma *at, size_t n, uint64_t pc)
{
	size_t i = kwalk_vma_after(at, n, pc);

	return i && pc < at[i - 1].end ? &at[i - 1] : NULL;
}

/* Finds what was mapped there at a time, among what is still known of it; NULL: nothing. */
static const struct kwalk_vma *kwalk_space_find(const struct kwalk_space *s, uint64_t pc,
                                                uint64_t time_ns)
{
	const struct kwalk_vma *at = s->at, *found;
	size_t n = s->n;

	/* Backwards through the lists, to the one that held at that time. */
	for (size_t i = s->n_before; i && time_ns < s->before[i - 1].until_ns; i--) {
		at = s->before[i - 1].at;
		n = s->before[i - 1].n;
	}
	found = kwalk_vma_search(at, n, pc);
	return found && found->since_ns <= time_ns ? found : kwalk_replaced_find(s, pc, time_ns);
}

/* A table has come into the arena or gone: all who map its object must be published anew. */
void kwalk_spaces_touch(struct kwalk_spaces *s, const void *blob)
{
	uint64_t pid, value;
	size_t i = 0;

	while (map_next(&s->by_pid, &i, &pid, &value)) {
		struct kwalk_space *space = (struct kwalk_space *)(uintptr_t)value;
		size_t j = 0;

		while (j < space->n && space->at[j].blob != blob)
			j++;
		if (j < space->n)
			kwalk_space_touch(space);
	}
}

const struct kwalk_vma *kwalk_spaces_find(struct kwalk_spaces *s, uint32_t pid, uint64_t pc,
                                          uint64_t time_ns)
{
	struct kwalk_space *space = kwalk_space_get(s, pid, false);

	return space ? kwalk_space_find(space, pc, time_ns) : NULL;
}
