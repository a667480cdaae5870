// SPDX-License-Identifier: MIT
/*
 * resolver.c: see resolver.h. Knows the way from an address to a name; remembers one u64 per
 * address for whoever asks (a frame's id, a line of text).
 *
 * The way: an address of a space and a time -> the mapping there (proc/) -> its object among the
 * symbols (symbol/) -> the symbol, and whether the frame below was stopped there. Source lines are
 * a second way from the object on (lines.c), which few ask for, because it costs more.
 *
 * A return address lies behind the call. Where the call is the last instruction of its function,
 * that is in the next one, or behind the mapping; so a caller's name is looked up one byte before.
 * But an address may stand in a caller's place that no call has put there, the first byte of a
 * function: then that function is meant (resolver_place_begins).
 *
 * Invariant: a resolver is of one thread. Those that share symbols and lines have entries of their
 * own, and ask for lines one at a time. A place is always given; what is not known of it is 0.
 */
#include "resolve/resolver.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "abi/runtime.h"
#include "abi/runtime_code.h"
#include "base/array.h"
#include "base/map.h"
#include "base/pages.h"
#include "samples/jit.h"
#include "tables/kernel_disk.h"
#include "resolve/alike.h"
#include "resolve/interrupted.h"
#include "resolve/lines_jit.h"
#include "unwind/walk.h"

struct resolver_entry {
	uint64_t addr;
	uint32_t space;
	uint32_t caller; /* 0, 1 */
	uint64_t value;
};

/* In place of a space: what follows is a kind of mappings (alike.h). Numbers of user address spaces
 * leave this bit free (recording.h). */
#define RESOLVER_ALIKE (RECORDING_KERNEL >> 1)

struct resolver {
	const struct recording *rec;
	struct symbol_cache *symbols;
	bool shared;                    /* symbols and lines are another's */
	struct symbol_object **objects; /* by proc_object's id; NULL: not asked for yet */
	size_t n_objects;               /* a stream brings more */
	size_t made;                    /* mappings of which it is known if they are jitdumps */
	struct resolver_entry *entries; /* open addressing; addr and space both 0: free */
	size_t n, capacity;
	uint64_t zero;         /* the slot of address 0 of no space */
	struct lines *lines;   /* NULL: not wanted */
	bool lent;             /* lines outlive this */
	struct lines_jit *jit; /* of code in no file; jit_own, unless it is another's */
	struct lines_jit jit_own;
	pthread_mutex_t *asking;  /* held by who asks lines, of all that share them */
	pthread_mutex_t asks;     /* is asking, unless they are another's */
	const char *release;      /* of the recorded kernel; the reader's */
	struct map whole;         /* space -> 1, or 2 where all its executable memory is known */
	struct map lines_objects; /* struct symbol_object * -> struct lines_object * */
	struct alike alike;
};

/* A JIT compiler maps its jit-PID.dump, by which the recording knows where it is. Mappings that
 * came since the last call are looked at; each is looked at once. */
static int resolver_jitdumps(struct resolver *p)
{
	const struct proc_mapping *m;
	uint32_t pid;
	int r = 0;

	for (; r >= 0 && (m = proc_made_at(p->rec->procs, p->made, &pid)); p->made++) {
		if (m->object->kind == PROC_KIND_FILE && jit_is_dump(m->object->path))
			r = symbol_jitdump(p->symbols, pid, m->object->path);
	}
	return r;
}

/* A stream brings objects while it is read. */
static int resolver_more_objects(struct resolver *p)
{
	return ARRAY_ROOM_ZEROED(&p->objects, &p->n_objects, proc_objects(p->rec->procs) + 1);
}

/* Makes a resolver without symbols; resolver_new and resolver_share give it its own or
 * another's. */
static int resolver_start(struct resolver **ret, const struct recording *rec)
{
	struct resolver *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->rec = rec;
	pthread_mutex_init(&p->asks, NULL);
	p->asking = &p->asks;
	p->jit = &p->jit_own;
	p->alike.procs = rec->procs;
	p->capacity = 1024;
	p->entries = calloc(p->capacity, sizeof(*p->entries));
	if (!p->entries || resolver_more_objects(p) < 0) {
		resolver_free(p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

/* Fills what opts leaves open from the recording: the kernel's build-id and place, its release, who
 * owned which process. opts may be NULL. -ENOMEM. */
int resolver_new(struct resolver **ret, const struct recording *rec, const struct symbol_opts *opts)
{
	struct symbol_opts o = { .sz = sizeof(o) };
	/* Also before the symbols are there: resolver_free takes a half-made one. */
	struct resolver *p;
	int r = resolver_start(&p, rec);

	if (r < 0)
		return r;
	if (opts)
		o = *opts;
	/* Files of this machine are not those of a recording of another one. */
	o.foreign |= rec->foreign;
	o.search.file_identity = &rec->identity;
	if (!o.keep.get)
		o.keep = kernel_disk();
	/* With it a running process may be asked for what no file has (perf maps, the vdso). */
	o.running = rec->running;
	o.jit_timed = rec->jit_timed;
	o.began = recording_began;
	o.began_ctx = rec;
	o.owner = recording_owner;
	if (!o.kernel_build_id.size && proc_kernel(rec->procs)) {
		const struct proc_object *kernel = proc_kernel(rec->procs)->object;

		o.kernel_build_id.size = kernel->build_id_size;
		memcpy(o.kernel_build_id.bytes, kernel->build_id, sizeof(kernel->build_id));
	}
	o.kernel_not_said = !recording_says_kernel(rec);
	if (proc_kernel(rec->procs))
		o.kernel_text = proc_kernel(rec->procs)->pgoff;
	p->release = rec->reader ? seam_reader_feature_string(rec->reader, SEAM_FEATURE_OSRELEASE)
	                         : NULL;
	if (!o.search.kernel_release)
		o.search.kernel_release = p->release;
	r = symbol_new(&p->symbols, &o);
	if (r >= 0)
		r = resolver_jitdumps(p);
	if (r < 0) {
		resolver_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

/* The jitdumps that the other one found are in the symbols already. */
int resolver_share(struct resolver **ret, const struct resolver *with)
{
	int r = resolver_start(ret, with->rec);

	if (r < 0)
		return r;
	(*ret)->symbols = with->symbols;
	(*ret)->lines = with->lines;
	(*ret)->asking = with->asking;
	(*ret)->jit = with->jit;
	(*ret)->made = with->made;
	(*ret)->shared = true;
	return 0;
}

/* Lines that were lent must not ask the recording any more. */
void resolver_free(struct resolver *p)
{
	if (!p)
		return;
	if (!p->shared) {
		symbol_free(p->symbols);
		if (p->lent)
			lines_renew(p->lines, NULL);
		else
			lines_free(p->lines);
	}
	lines_jit_free(&p->jit_own);
	map_free(&p->whole);
	map_free(&p->lines_objects);
	alike_free(&p->alike);
	pthread_mutex_destroy(&p->asks);
	free(p->objects);
	free(p->entries);
	free(p);
}

/* The caller frees them: reasons for missing names are asked of them when the resolver is gone.
 * resolver_free leaves them alone then. */
struct symbol_cache *resolver_take_symbols(struct resolver *p)
{
	struct symbol_cache *symbols = p->symbols;

	p->symbols = NULL;
	return symbols;
}

size_t resolver_count(const struct resolver *p)
{
	return p->n;
}

/* The table stays as large as it was: a stream that filled it will fill it again. */
void resolver_forget(struct resolver *p)
{
	memset(p->entries, 0, p->capacity * sizeof(*p->entries));
	p->n = 0;
	p->zero = 0;
}

/* Address 0 of no space is an entry like others, so it has a slot of its own (zero). */
static bool resolver_is_free(const struct resolver_entry *e)
{
	return !e->addr && !e->space && !e->caller;
}

/* The entry of a key, or the free one where it would be. There is always a free one
 * (resolver_slot). */
static struct resolver_entry *resolver_probe(struct resolver_entry *entries, size_t capacity,
                                             uint32_t space, uint64_t addr, uint32_t caller)
{
	size_t mask = capacity - 1;
	size_t i = map_mix(addr ^ (uint64_t)space << 40 ^ (uint64_t)caller << 63) & mask;

	while (!resolver_is_free(&entries[i]) &&
	       (entries[i].addr != addr || entries[i].space != space ||
	        entries[i].caller != caller))
		i = (i + 1) & mask;
	return &entries[i];
}

static int resolver_grow(struct resolver *p)
{
	size_t capacity = p->capacity * 2;
	struct resolver_entry *entries = pages_zeroed(capacity, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < p->capacity; i++) {
		const struct resolver_entry *e = &p->entries[i];

		if (!resolver_is_free(e))
			*resolver_probe(entries, capacity, e->space, e->addr, e->caller) = *e;
	}
	free(p->entries);
	p->entries = entries;
	p->capacity = capacity;
	return 0;
}

/*
 * A slot that the caller may fill (0 when new) for an address of a space as recording_spaces gives
 * it. NULL: out of memory. Lives until the next call. One thread.
 */
static uint64_t *resolver_slot(struct resolver *p, uint32_t space, uint64_t addr, bool caller)
{
	struct resolver_entry *e;

	if (!addr && !space && !caller)
		return &p->zero;
	/* At most three quarters are taken, so that searches stay short. */
	if ((p->n + 1) * 4 > p->capacity * 3 && resolver_grow(p) < 0)
		return NULL;
	e = resolver_probe(p->entries, p->capacity, space, addr, caller);
	if (resolver_is_free(e)) {
		*e = (struct resolver_entry){ .addr = addr, .space = space, .caller = caller };
		p->n++;
	}
	return &e->value;
}

/* The slot of a frame. Guests are one space, as nothing is known of them. */
uint64_t *resolver_frame_slot(struct resolver *p, uint32_t space, const struct frame_at *at)
{
	uint64_t mark = at->guessed ? WALK_GUESSED : 0;

	return resolver_slot(p, at->guest ? UINT32_MAX : space, at->addr | mark, at->caller);
}

/* Of an interpreter's function nothing is mapped. */
int resolver_alike(struct resolver *p, uint32_t space, const struct frame_at *at,
                   struct alike_place *ret)
{
	int r;

	if (at->guest || !at->user || space & RECORDING_KERNEL || runtime_code_is(at->addr))
		return 0;
	r = alike_find(&p->alike, space, at->addr, ret);
	/* A caller's address at the beginning of a mapping may belong to the one before. */
	return r > 0 ? ret->kind < RESOLVER_ALIKE && (!at->caller || ret->offset) : r;
}

/* Where nothing but the mapping decides what is at an address, the slot is that of its offset in
 * all mappings that are alike. */
uint64_t *resolver_place_slot(struct resolver *p, uint32_t space, const struct frame_at *at)
{
	uint64_t mark = at->guessed ? WALK_GUESSED : 0;
	struct alike_place place;
	int r = resolver_alike(p, space, at, &place);

	if (r < 0)
		return NULL;
	if (!r)
		return resolver_frame_slot(p, space, at);
	return resolver_slot(p, RESOLVER_ALIKE | place.kind, place.offset | mark, at->caller);
}

/* By what the symbols know a recorded object. */
static struct symbol_key resolver_key(const struct proc_object *o)
{
	struct symbol_key key = { .kind = (enum symbol_kind)o->kind,
		                  .path = o->path,
		                  .pid = o->pid };

	_Static_assert((int)SYMBOL_KINDS == (int)PROC_KINDS, "one order for both");
	key.build_id.size = o->build_id_size;
	memcpy(key.build_id.bytes, o->build_id, sizeof(key.build_id.bytes));
	return key;
}

/* An object is asked of the symbols once; both kinds of objects are numbered alike. */
static int resolver_object(struct resolver *p, const struct proc_object *o,
                           struct symbol_object **ret)
{
	int r = resolver_more_objects(p);

	if (r < 0)
		return r;
	if (!p->objects[o->id]) {
		const struct symbol_key key = resolver_key(o);

		r = symbol_object(p->symbols, &key, &p->objects[o->id]);
	}
	*ret = p->objects[o->id];
	return r;
}

void resolver_load(const struct resolver *p, const struct proc_object *o)
{
	const struct symbol_key key = resolver_key(o);
	struct symbol_object *object;

	if (symbol_object(p->symbols, &key, &object) >= 0)
		symbol_object_ready(object);
}

const struct recording *resolver_recording(const struct resolver *p)
{
	return p->rec;
}

/* The kernel's symbols, or NULL: the recording has no kernel mapping. */
struct symbol_object *resolver_kernel(struct resolver *p)
{
	const struct proc_mapping *kernel = proc_kernel(p->rec->procs);
	struct symbol_object *object = NULL;

	return kernel && resolver_object(p, kernel->object, &object) >= 0 ? object : NULL;
}

/* The recorded mapping of the kernel ends with its text; the code that starts it up lies behind, in
 * the same image. */
#define KERNEL_IMAGE_MAX (1ULL << 30)

/* The mapping at an address; of the kernel also where only its image can be. The recording's time
 * matters for modules, which come and go. */
static const struct proc_mapping *resolver_mapping(const struct resolver *p, uint32_t space,
                                                   uint64_t time_ns, uint64_t addr)
{
	const struct proc_mapping *m;

	if (!(space & RECORDING_KERNEL))
		return proc_space_find(p->rec->procs, space, addr);
	m = proc_find_kernel(p->rec->procs, time_ns, addr);
	if (m)
		return m;
	m = proc_kernel(p->rec->procs);
	/* The image begins at the start of its GiB: behind that come the modules. */
	return m && addr >= m->start && addr < (m->start | (KERNEL_IMAGE_MAX - 1)) ? m : NULL;
}

/* Whether a caller's address is the first byte of code that no call has put on the stack. 1 and its
 * symbol; 0: no; -ENOMEM. */
static int resolver_place_begins(const struct place *place, const struct symbol_place *at,
                                 uint64_t addr, struct symbol *ret)
{
	const struct symbol *before = &place->symbol;
	int r;

	if (before->name && before->addr + 1 < before->start + before->size)
		return 0; /* inside of a function */
	r = symbol_resolve(place->object, at, addr, ret);
	if (r < 0 || !ret->name || ret->addr != ret->start)
		return r < 0 ? r : 0;
	/* Functions with padding in front of them have a symbol for it ("__pfx_name"); an address
	 * behind such padding is the function's first byte. */
	return interrupted_begins(ret->raw, place->kernel) ||
	       (place->kernel && before->raw && !strncmp(before->raw, "__pfx_", 6));
}

/* Fills place with the name of an address in place->mapping, and with what this address is in the
 * object. -ENOMEM. */
static int resolver_place_resolve(struct place *place, uint64_t addr, bool caller)
{
	const struct proc_mapping *m = place->mapping;
	const struct symbol_place at = { .start = m->start, .end = m->end, .pgoff = m->pgoff };
	/* At the mapping's first byte there is no byte before. */
	uint64_t step = caller && addr > m->start;
	struct symbol begins;
	int r = symbol_resolve(place->object, &at, addr - step, &place->symbol);

	if (r >= 0 && step && addr < m->end)
		r = resolver_place_begins(place, &at, addr, &begins);
	else if (r > 0)
		r = 0;
	if (r < 0)
		return r;
	if (r) {
		place->symbol = begins;
		step = 0;
	}
	place->looked_up = addr - step;
	place->address = place->symbol.addr + step;
	/* The symbols' numbering is not known without the file, so the mapping's is used. */
	if (place->symbol.state == SYMBOL_NO_FILE || place->symbol.state == SYMBOL_OTHER_BUILD_ID)
		place->address = place->kernel ? addr : addr - m->start + m->pgoff;
	return 0;
}

/* Finds out whether the frame below this one was stopped. Of user code, names that are known say
 * so, and the unwind information of any other frame that a signal put there. -ENOMEM. */
static int resolver_place_stops(struct place *place)
{
	int r = 0;

	if (place->kernel)
		/* raw: names as the symbol table has them, which is how the lists spell them. */
		place->stops = interrupted_kernel(place->symbol.raw);
	else
		place->stops = place->symbol.name && interrupted_user(place->symbol.raw);
	if (!place->kernel && !place->stops)
		r = symbol_is_signal_frame(place->object, &place->symbol);
	place->stops |= r > 0;
	return r < 0 ? r : 0;
}

/* caller: addr is a return address, so the name is that of the call before it. *ret is always a
 * place; where nothing is mapped its mapping is NULL. */
int resolver_find(struct resolver *p, uint32_t space, uint64_t time_ns, uint64_t addr, bool caller,
                  struct place *ret)
{
	struct place place = { .address = addr,
		               .looked_up = addr,
		               .kernel = space & RECORDING_KERNEL };
	const struct proc_mapping *m;
	int r;

	r = resolver_jitdumps(p);
	if (r < 0)
		return r;
	m = resolver_mapping(p, space, time_ns, addr);
	if (!m && caller) /* a call at the very end of a mapping */
		m = resolver_mapping(p, space, time_ns, addr - 1);
	if (m) {
		place.mapping = m;
		r = resolver_object(p, m->object, &place.object);
		if (r >= 0)
			r = resolver_place_resolve(&place, addr, caller);
		if (r >= 0)
			r = resolver_place_stops(&place);
		if (r < 0)
			return r;
	}
	*ret = place;
	return 0;
}

/* Only of user code in files: what a frame stops is said by the name of its function. */
bool resolver_lasts(const struct place *place, uint64_t *before, uint64_t *after)
{
	const struct proc_mapping *m = place->mapping;

	if (!m || m->object->kind != PROC_KIND_FILE || place->kernel || place->stops ||
	    !symbol_lasts(place->object, &place->symbol, before, after))
		return false;
	if (*before > place->looked_up - m->start)
		*before = place->looked_up - m->start;
	if (*after > m->end - place->looked_up)
		*after = m->end - place->looked_up;
	return true;
}

/* Whether executable memory is known to be there. */
static bool resolver_is_code(const struct resolver *p, uint32_t space, uint64_t addr)
{
	const struct proc_mapping *m = proc_space_find(p->rec->procs, space, addr);

	return m && !m->data;
}

/* Whether an address of a stack cannot be code: its space is known as a whole, and no executable
 * mapping holds it. Where records of mappings are missing the answer is no. */
bool resolver_is_data(struct resolver *p, uint32_t space, const struct frame_at *at)
{
	uint64_t whole = 0;

	if (!at->user || at->guest || space & RECORDING_KERNEL)
		return false;
	if (resolver_is_code(p, space, at->addr) ||
	    (at->caller && resolver_is_code(p, space, at->addr - 1)))
		return false;
	map_get(&p->whole, space, &whole);
	if (!whole) {
		/* The answer holds for the whole recording, so it is looked for once. */
		whole = proc_space_is_whole(p->rec->procs, space) ? 2 : 1;
		map_put(&p->whole, space, whole); /* else it is looked for again */
	}
	return whole == 2;
}

/* Only files have named variables; in any other mapping the address is looked up as code. */
int resolver_find_data(struct resolver *p, uint32_t space, uint64_t time_ns, uint64_t addr,
                       struct place *ret)
/* The key asks for data symbols: the same file as code is another object. */
{
	const struct proc_mapping *m = resolver_mapping(p, space, time_ns, addr);
	const struct proc_object *o = m ? m->object : NULL;
	struct place place = { .address = addr, .looked_up = addr };
	struct symbol_key key = { .kind = SYMBOL_KIND_FILE, .data = true };
	struct symbol_place at;
	int r;

	if (!o || o->kind != PROC_KIND_FILE)
		return resolver_find(p, space, time_ns, addr, false, ret);
	key.path = o->path;
	key.build_id.size = o->build_id_size;
	memcpy(key.build_id.bytes, o->build_id, sizeof(key.build_id.bytes));
	r = symbol_object(p->symbols, &key, &place.object);
	if (r < 0)
		return r;
	place.mapping = m;
	at = (struct symbol_place){ .start = m->start, .end = m->end, .pgoff = m->pgoff };
	r = symbol_resolve(place.object, &at, addr, &place.symbol);
	place.address = place.symbol.addr;
	*ret = place;
	return r < 0 ? r : 0;
}

/* ---- source lines ---- */

/* Source lines are wanted from here on. opts may be NULL: then as the symbols are looked for. */
int resolver_lines_start(struct resolver *p, const struct lines_opts *opts,
                         const struct symbol_opts *symbols)
{
	struct lines_opts o = { .sz = sizeof(o) };

	if (opts) {
		o = *opts;
	} else if (symbols) {
		o.search = symbols->search;
		o.no_demangle = symbols->no_demangle;
		o.parameters = symbols->parameters;
	}
	if (!o.search.kernel_release)
		o.search.kernel_release = p->release;
	o.search.file_identity = &p->rec->identity;
	return lines_new(&p->lines, &o);
}

void resolver_lines_lend(struct resolver *p, struct lines *lines, const struct lines_opts *opts)
{
	struct image_search search = opts->search;

	if (!search.kernel_release)
		search.kernel_release = p->release;
	search.file_identity = &p->rec->identity;
	lines_renew(lines, &search);
	p->lines = lines;
	p->lent = true;
}

/* Whether the place's file is the one that was recorded, and which address it is in the file's own
 * numbering. Files of the kernel and its modules are found by build-id, whatever named their
 * symbols; the recording knows where they were loaded. */
static bool resolver_place_source(const struct place *place, enum lines_terms *terms,
                                  uint64_t *vaddr)
{
	enum symbol_state state = place->symbol.state;
	const struct symbol_key *key = place->object ? symbol_object_key(place->object) : NULL;

	if (!key)
		return false;
	switch (key->kind) {
	case SYMBOL_KIND_FILE:
		*terms = LINES_FILE;
		*vaddr = place->symbol.addr;
		return state == SYMBOL_NAMED || state == SYMBOL_OUTSIDE ||
		       state == SYMBOL_NO_SYMBOLS;
	case SYMBOL_KIND_KERNEL:
		*terms = LINES_KERNEL;
		*vaddr = place->looked_up - place->mapping->pgoff;
		return place->mapping->pgoff;
	case SYMBOL_KIND_MODULE:
		*terms = LINES_MODULE;
		*vaddr = place->looked_up - place->mapping->start;
		return key->build_id.size && !place->mapping->pgoff;
	default:
		return false;
	}
}

/* Code that is in no file, so that only a jitdump can tell its lines. */
static bool resolver_place_is_jit(const struct place *place)
{
	return place->mapping && (place->mapping->object->kind == PROC_KIND_ANON ||
	                          place->mapping->object->kind == PROC_KIND_JIT);
}

/* An interpreter's function: the address says the line, and the name ends with the file's. *ret
 * stays NULL where the line is not known. */
static int resolver_lines_code(struct resolver *p, const struct place *place,
                               struct lines_object **ret, uint64_t *ret_vaddr)
{
	const char *name = place->mapping->object->path, *file = runtime_function_file(name);
	uint32_t line = runtime_code_line(place->looked_up);
	int r;

	if (!file || !line)
		return 0;
	r = lines_object(p->lines, LINES_JIT, runtime_object_name(runtime_of_function(name)), NULL,
	                 ret);
	*ret_vaddr = place->looked_up;
	return r < 0 ? r : lines_tell(*ret, place->looked_up, file, line);
}

#define PLACES_NO_LINES 1u /* in place of a pointer: asked for, and there is nothing to be known */

/* The answer is kept per object of symbols, so that the file's debugging information is searched
 * for once. */
/* *ret NULL: there is nothing to be known of its lines. -ENOMEM. */
int resolver_lines_object(struct resolver *p, const struct place *place, struct lines_object **ret,
                          uint64_t *ret_vaddr)
{
	const struct symbol_key *key;
	enum lines_terms terms;
	uint64_t *slot;
	int r;

	*ret = NULL;
	if (p->lines && place->mapping && place->mapping->object->kind == PROC_KIND_RUNTIME)
		return resolver_lines_code(p, place, ret, ret_vaddr);
	if (p->lines && resolver_place_is_jit(place))
		return lines_jit_find(p->jit, p->lines, p->symbols, place->mapping,
		                      place->looked_up, ret, ret_vaddr);
	if (!p->lines || !resolver_place_source(place, &terms, ret_vaddr))
		return 0;
	key = symbol_object_key(place->object);
	slot = map_slot(&p->lines_objects, (uintptr_t)place->object, NULL);
	if (!slot)
		return -ENOMEM;
	if (!*slot) {
		r = lines_object(p->lines, terms, key->path, &key->build_id, ret);
		if (r < 0)
			return r;
		*slot = lines_known(*ret) ? (uintptr_t)*ret : PLACES_NO_LINES;
	}
	*ret = *slot == PLACES_NO_LINES ? NULL : (struct lines_object *)(uintptr_t)*slot;
	return 0;
}

/* The lines of a place, at once. The lock is for those that share the lines. */
int resolver_source(struct resolver *p, const struct place *place, struct lines_at *ret)
{
	struct lines_object *object;
	uint64_t vaddr;
	int r;

	*ret = (struct lines_at){ 0 };
	if (!p->lines)
		return 0;
	pthread_mutex_lock(p->asking);
	r = resolver_lines_object(p, place, &object, &vaddr);
	if (r >= 0 && object)
		r = lines_find(object, vaddr, ret);
	pthread_mutex_unlock(p->asking);
	return r;
}

/* Looks up all that lines_want noted. */
int resolver_lines_resolve(struct resolver *p)
{
	return p->lines ? lines_resolve(p->lines) : 0;
}

int resolver_lines_resolve_some(struct resolver *p)
{
	return p->lines ? lines_resolve_some(p->lines) : 0;
}
