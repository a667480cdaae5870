// SPDX-License-Identifier: MIT
/*
 * kwalk_hotspot.c: what only a look at a HotSpot's memory tells: where it keeps what, once for each
 * build; and which methods are inlined where a frame of compiled code is, once for each place. The
 * programs in the kernel have told of the outer method and its nmethod, with the number that no
 * other nmethod of the process has: what is read counts only if that is the same behind it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "abi/runtime_code.h"
#include "base/array.h"
#include "base/map.h"
#include "capture/runtime/kwalk_memory.h"
#include "runtimes/codes.h"
#include "runtimes/hotspot.h"

#define PLACES_MOST (1u << 20) /* places whose methods are kept */
#define BUILDS_MOST 64u
#define TRIES_MOST 16u /* of a process, to find what it decides for itself */

/* A build that was met. Addresses are those it was linked for. */
struct hotspot_build {
	const struct runtime_object *object;
	int failed;
	uint64_t address[HOTSPOT_ADDRESSES];
	struct hotspot_layout layout;
};
_Static_assert(HOTSPOT_CLASSES <= RUNTIME_ADDRESSES, "what is published has room");

struct hotspots {
	struct hotspot_build builds[BUILDS_MOST];
	size_t n_builds;
	/* hash of a place -> 1 + the index of its first frame; the last one has more == 0 */
	struct map places;
	struct hotspot_known {
		uint64_t key;
		uint32_t at, more;
	} * known;
	size_t n_known, room;
	struct runtime_frame frames[KWALK_SPLICED_MAX];
};

/* Whose memory is read. */
struct hotspot_of {
	const struct kwalk *kwalk;
	uint32_t pid;
};

static int hotspot_read_process(void *ctx, uint64_t address, void *to, size_t n)
{
	const struct hotspot_of *of = ctx;

	return kwalk_read_process(of->kwalk, of->pid, address, to, n);
}

static struct hotspots *hotspots_get(struct kwalk *l)
{
	if (!l->hotspots)
		l->hotspots = calloc(1, sizeof(*l->hotspots));
	return l->hotspots;
}

void hotspot_close(struct kwalk *l)
{
	if (!l->hotspots)
		return;
	map_free(&l->hotspots->places);
	free(l->hotspots->known);
	free(l->hotspots);
}

static struct hotspot_build *hotspot_build(struct hotspots *h, const struct runtime_object *object)
{
	for (size_t i = 0; i < h->n_builds; i++)
		if (h->builds[i].object == object)
			return &h->builds[i];
	return NULL;
}

/* Of a build that was not met yet all is read from the first process that runs it. -EAGAIN: that
 * has only begun. */
static int hotspot_meet(struct hotspots *h, const struct hotspot_memory *memory,
                        const struct runtime_object *object, uint64_t bias,
                        const struct runtime_object *of, struct hotspot_build **ret)
{
	struct hotspot_build new = { .object = object };

	*ret = hotspot_build(h, object);
	if (*ret)
		return 0;
	memcpy(new.address, of->address, HOTSPOT_CLASSES * sizeof(*new.address));
	new.failed = hotspot_describe(memory, new.address, &new.layout);
	if (new.failed == -EAGAIN || h->n_builds == BUILDS_MOST)
		return -EAGAIN;
	for (size_t i = 0; i < HOTSPOT_ADDRESSES; i++)
		new.address[i] -= new.address[i] ? bias : 0;
	*ret = &h->builds[h->n_builds++];
	**ret = new;
	return 0;
}

/* What each process decides for itself, when it has loaded the classes. */
static void hotspot_of_process(const struct hotspot_memory *memory, const struct hotspot_build *b,
                               uint64_t bias, struct hotspot_layout *layout)
{
	uint64_t address[HOTSPOT_ADDRESSES];

	for (size_t i = 0; i < HOTSPOT_ADDRESSES; i++)
		address[i] = b->address[i] ? b->address[i] + bias : 0;
	hotspot_find_chunks(memory, address, layout);
}

/* What was published of a process, if it is the same program. */
static bool hotspot_published(struct kwalk *l, uint32_t pid, struct runtime_process *p,
                              struct hotspot_layout *layout)
{
	if (bpf_map_lookup_elem(l->runtimes, &pid, p) < 0 || p->of.kind != RUNTIME_HOTSPOT)
		return false;
	memcpy(layout, p->of.layout, sizeof(*layout));
	return true;
}

/*
 * Completes what is published of a process: its addresses are the process's, bias what an address
 * has more than as linked. False: it has only begun, and will be asked for again when it has mapped
 * room for its code.
 */
bool hotspot_publish(struct kwalk *l, uint32_t pid, const struct runtime_object *object,
                     uint64_t bias, struct runtime_process *p)
{
	struct hotspot_of process = { l, pid };
	struct hotspot_memory memory = { &process, hotspot_read_process };
	struct runtime_object *of = &p->of;
	struct hotspots *h = hotspots_get(l);
	struct hotspot_build *b;
	struct hotspot_layout layout;
	struct runtime_process last;

	if (!h || hotspot_meet(h, &memory, object, bias, of, &b) < 0)
		return false;
	of->known = b->failed >= 0;
	for (size_t i = 0; i < HOTSPOT_CLASSES; i++)
		of->address[i] = b->address[i] ? b->address[i] + bias : 0;
	if (!hotspot_published(l, pid, &last, &layout) || last.execs != p->execs ||
	    !layout.chunks.known) {
		layout = b->layout;
		layout.chunks.build = (uint32_t)(b - h->builds);
		if (of->known)
			hotspot_of_process(&memory, b, bias, &layout);
	}
	memcpy(of->layout, &layout, sizeof(layout));
	return true;
}

/* A stack says that outer frames wait on the heap: of a process that had not loaded the classes
 * when it was published, which it has by now. */
void hotspot_away(struct kwalk *l, uint32_t pid)
{
	struct hotspot_of process = { l, pid };
	struct hotspot_memory memory = { &process, hotspot_read_process };
	struct runtime_process p, now;
	struct hotspot_layout layout, other;
	const struct hotspot_build *b;

	if (!l->hotspots || !hotspot_published(l, pid, &p, &layout) || layout.chunks.known ||
	    layout.chunks.tries == TRIES_MOST || layout.chunks.build >= l->hotspots->n_builds)
		return;
	layout.chunks.tries++;
	b = &l->hotspots->builds[layout.chunks.build];
	hotspot_of_process(&memory, b, p.of.address[HOTSPOT_HEAPS] - b->address[HOTSPOT_HEAPS],
	                   &layout);
	memcpy(p.of.layout, &layout, sizeof(layout));
	if (hotspot_published(l, pid, &now, &other) && now.execs == p.execs &&
	    now.losses == p.losses)
		bpf_map_update_elem(l->runtimes, &pid, &p, BPF_EXIST);
}

/* ---- inlined methods ---- */

/* Learns a method and says its name. 0 and its key; -errno. */
static int hotspot_learn(struct kwalk *l, const struct hotspot_layout *layout,
                         const struct hotspot_memory *memory, uint32_t pid, uint64_t time,
                         uint64_t method, uint64_t *key)
{
	struct hotspot_method m;
	struct codes_told told;
	struct seam_ksymbol symbol = { .len = RUNTIME_CODE_SIZE };
	int r = hotspot_method(layout, memory, method, &m);

	if (r < 0)
		return r;
	told = (struct codes_told){ .kind = RUNTIME_HOTSPOT,
		                    .key = m.key ^ (uint64_t)pid << 32,
		                    .file = { m.file, m.file_bytes, 0, m.file_cut },
		                    .name = { m.name, m.name_bytes, 0, m.name_cut },
		                    .scope = { m.scope, m.scope_bytes, 0, m.scope_cut },
		                    .lines = m.lines,
		                    .n_lines = m.n_lines,
		                    .lines_form = m.lines_form };
	*key = told.key;
	r = codes_learn(l->codes, &told, &symbol.name, &symbol.addr);
	if (r <= 0)
		return r;
	l->runtime_functions++;
	return l->tell_symbol(l, pid, time, &symbol);
}

/* The key of a place: keys that are equal have equal frames. */
static uint64_t hotspot_place_key(uint32_t pid, const struct runtime_frame *f)
{
	uint64_t words[] = { pid, f[0].key, (uint64_t)f[0].at << 32 | f[1].at, f[1].key };
	uint64_t hash = 0x9e3779b97f4a7c15ULL;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		hash = (hash ^ words[i]) * 0xff51afd7ed558ccdULL;
		hash ^= hash >> 32;
	}
	return hash;
}

/* Reads which methods run at a place. Returns the index of the first; -errno. */
static int64_t hotspot_ask(struct kwalk *l, uint32_t pid, uint64_t time,
                           const struct runtime_frame *f)
{
	struct hotspots *h = l->hotspots;
	struct hotspot_of process = { l, pid };
	struct hotspot_memory memory = { &process, hotspot_read_process };
	struct hotspot_place places[HOTSPOT_INLINED];
	struct runtime_process of;
	struct hotspot_layout layout;
	size_t first = h->n_known;
	int n, r;

	r = bpf_map_lookup_elem(l->runtimes, &pid, &of);
	if (r < 0 || of.of.kind != RUNTIME_HOTSPOT || !of.of.known)
		return -ESRCH;
	memcpy(&layout, of.of.layout, sizeof(layout));
	n = hotspot_inlined(&layout, &memory, f[0].key, f[0].at, f[1].at, places);
	if (n < 0)
		return n;
	r = ARRAY_ROOM(&h->known, &h->room, first + (size_t)n);
	for (int i = 0; r >= 0 && i < n; i++) {
		struct hotspot_known *k = &h->known[first + (size_t)i];

		*k = (struct hotspot_known){ f[1].key, places[i].bci, (uint32_t)(n - 1 - i) };
		if (i < n - 1) /* of the outer one the programs have told */
			r = hotspot_learn(l, &layout, &memory, pid, time, places[i].method,
			                  &k->key);
	}
	if (r < 0)
		return r;
	if (!hotspot_code_is(&layout, &memory, f[0].key, f[0].at))
		return -ESTALE;
	h->n_known += (size_t)n;
	return (int64_t)first;
}

/* Of a place that was never met all is read, and kept, also that nothing is known of it. */
static int64_t hotspot_place(struct kwalk *l, uint32_t pid, uint64_t time,
                             const struct runtime_frame *f)
{
	uint64_t key = hotspot_place_key(pid, f), known;
	int64_t at;

	if (map_get(&l->hotspots->places, key, &known))
		return (int64_t)known - 1;
	at = l->hotspots->places.n < PLACES_MOST ? hotspot_ask(l, pid, time, f) : -ENOSPC;
	if (at < 0)
		l->hotspot_unread++;
	if (at != -ENOSPC)
		map_put(&l->hotspots->places, key, at < 0 ? 0 : (uint64_t)at + 1);
	return at < 0 ? -1 : at;
}

/*
 * Puts the methods that compiled frames run in their place: p's frames come back, or others. Where
 * they are not known the outer method stands alone, and *unread says so.
 */
struct runtime_frame *hotspot_expand(struct kwalk *l, struct kwalk_runtime *p, bool *unread)
{
	struct runtime_frame *from = (void *)(p + 1), *to;
	size_t n = 0;

	if (!hotspots_get(l))
		return from;
	to = l->hotspots->frames;
	for (size_t i = 0; i < p->n && n + HOTSPOT_INLINED + 2 < KWALK_SPLICED_MAX; i++) {
		const struct hotspot_known *k;
		int64_t at;

		if (from[i].what != RUNTIME_FRAME_COMPILED || i + 1 == p->n) {
			to[n++] = from[i];
			continue;
		}
		at = hotspot_place(l, p->pid, l->splice_time, &from[i]);
		i++;
		if (at < 0) {
			*unread = true;
			to[n] = from[i];
			to[n++].at = HOTSPOT_NO_BCI;
			continue;
		}
		k = &l->hotspots->known[at];
		do {
			to[n] = from[i];
			to[n].key = k->key;
			to[n++].at = k->at;
		} while (k++->more);
	}
	p->n = (uint32_t)n;
	return to;
}
