/* SPDX-License-Identifier: MIT */
/*
 * hotspot_method.bpf.h: from a HotSpot's Method to its key and to what is told of it. The key is
 * made of the method's and its class's names and of where all of it is, at each sample: so it stays
 * right where classes are unloaded.
 */
#ifndef SEAM_CAPTURE_RUNTIME_HOTSPOT_METHOD_BPF_H
#define SEAM_CAPTURE_RUNTIME_HOTSPOT_METHOD_BPF_H

#include "capture/runtime/hotspot_map.bpf.h"

/* Reads a Symbol into what is told. */
INLINE long hotspot_text(struct walk *c, __u64 symbol, struct kwalk_code_text *text,
                         const __u32 first, const __u32 most, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u16 length = 0;

	if (!symbol || walk_read(c, symbol + AT(text_length), &length, 2, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	return runtime_text(c, symbol + AT(text_body), length, 0, text, first, most, kind);
}

/* The same of one that need not be told: by one read. */
INLINE long hotspot_piece(struct walk *c, __u64 symbol, const __u32 most)
{
	struct runtime_walk *p = c->runtime;
	__u32 first = AT(text_body), at = (-first & 7) + AT(text_length);

	if (runtime_piece(p, symbol, first))
		return 1;
	return runtime_piece_text(c, *(volatile __u16 *)((char *)p->piece + (at & 62)), 0, most);
}

/* The text of a number in the class's pool. */
INLINE long hotspot_pool(struct walk *c, __u32 number, __u64 *ret, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u32 length = 0;

	if (walk_read(c, HS(p)->pool + AT(pool_length), &length, 4, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	if (!number || number >= length)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (walk_read(c, HS(p)->pool + AT(pool_bytes) + (__u64)number * 8, ret, 8, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	*ret &= ~1ull;
	return 0;
}

#define KONST8(field) PART8(HS(p)->konst_bytes, AT(field))
#define KONST4(field) PART4(HS(p)->konst_bytes, AT(field))
#define KONST2(field) PART2(HS(p)->konst_bytes, AT(field))

/* Reads the ConstMethod of a method, and finds its pool and class. */
INLINE long hotspot_konst(struct walk *c, __u64 method, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u32 bytes = AT(const_bytes);

	if (method && ANEW(HS(p)->konst_of) == method)
		return 0;
	HS(p)->konst_of = 0;
	if (!method || walk_read(c, method + AT(method_const), &HS(p)->konst, 8, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	FORGET(bytes);
	if (bytes > sizeof(HS(p)->konst_bytes))
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (!HS(p)->konst || walk_read(c, HS(p)->konst, HS(p)->konst_bytes, bytes, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	HS(p)->pool = KONST8(const_pool);
	HS(p)->konst_of = method;
	return 0;
}

/* The file's name and the lines, when they are told. Without them it is told, too. */
INLINE long hotspot_tell(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u32 begin = AT(const_bytes) + KONST2(const_code), bytes = KONST4(const_words) * 8;
	__u16 file = 0;
	__u64 symbol;

	if (walk_read(c, HS(p)->pool + AT(pool_source), &file, 2, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	p->told.file.bytes = 0;
	if (file && (hotspot_pool(c, file, &symbol, kind) ||
	             hotspot_text(c, symbol, &p->told.file, 0, KWALK_CODE_FILE, kind)))
		return 1;
	bytes = KONST2(const_flags) & 1 && bytes > begin ? bytes - begin : 0;
	if (bytes > KWALK_CODE_LINES)
		bytes = KWALK_CODE_LINES;
	return runtime_tell(c, HS(p)->konst + begin, bytes,
	                    AT(version) < 20 ? HOTSPOT_LINES_17 : HOTSPOT_LINES, kind);
}

/* Where the names of a method's class and of itself are: by what stands in konst_bytes. */
INLINE long hotspot_symbols(struct walk *c, __u64 *class_name, __u64 *name, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u32 bytes = AT(pool_bytes), number = KONST2(const_name);

	FORGET(bytes);
	if (bytes > sizeof(HS(p)->pool_bytes))
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (walk_read(c, HS(p)->pool, HS(p)->pool_bytes, bytes, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	if (!number || number >= PART4(HS(p)->pool_bytes, AT(pool_length)))
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	HS(p)->class = PART8(HS(p)->pool_bytes, AT(pool_class));
	if (walk_read(c, HS(p)->class + AT(class_name), class_name, 8, kind) ||
	    walk_read(c, HS(p)->pool + AT(pool_bytes) + (__u64)number * 8, name, 8, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	*name &= ~1ull;
	return 0;
}

/* The key of a method, made of what tells it from any other. 0, and it is in p->told.key. */
INLINE long hotspot_key(struct walk *c, __u64 method, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u64 key, class_name = 0, name = 0;

	if (hotspot_konst(c, method, kind) || hotspot_symbols(c, &class_name, &name, kind))
		return 1;
	p->hash = runtime_mix(config.seed, p->out.pid);
	p->hash = runtime_mix(p->hash, method);
	p->hash = runtime_mix(p->hash, HS(p)->konst);
	p->hash = runtime_mix(p->hash, HS(p)->pool);
	p->hash = runtime_mix(p->hash, HS(p)->class);
	key = runtime_mix(p->hash, (__u64)KONST4(const_words) << 32 | KONST2(const_code) << 16 |
	                                   KONST2(const_name));
	if (kind == WALK_NOW) {
		p->hash = key;
		if (!hotspot_piece(c, class_name, KWALK_CODE_SCOPE) &&
		    !hotspot_piece(c, name, KWALK_CODE_NAME)) {
			p->told.key = p->hash;
			if (runtime_told(p))
				return 0;
		}
	}
	p->hash = key;
	if (hotspot_text(c, class_name, &p->told.scope, KWALK_CODE_FILE + KWALK_CODE_NAME,
	                 KWALK_CODE_SCOPE, kind) ||
	    hotspot_text(c, name, &p->told.name, KWALK_CODE_FILE, KWALK_CODE_NAME, kind))
		return 1;
	key = p->told.key = p->hash;
	if (runtime_told(p))
		return 0;
	if (hotspot_tell(c, kind))
		return 1;
	p->told.key = key;
	return 0;
}

/* What compiled code is known by: HotSpot numbers its nmethods, and gives no number twice. 0: it is
 * not compiled, or has no number. */
INLINE __u64 hotspot_identity(struct runtime_walk *p, __u64 method)
{
	__u32 what = ANEW(HS(p)->what), id = ANEW(HS(p)->id);
	__u64 is;

	if ((what != HOTSPOT_BLOB_METHOD && what != HOTSPOT_BLOB_NATIVE) || !id || ANEW(p->sleeps))
		return 0;
	is = runtime_mix(ANEW(HS(p)->whose), ANEW(HS(p)->blob));
	is = runtime_mix(is, method);
	return runtime_mix(is, (__u64)id << 32 | what) | 1;
}

/* The same, once in a walk, and of compiled code that was told as good as never again. */
INLINE long hotspot_method(struct walk *c, __u64 method, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct runtime_met *m = runtime_met(p, method);
	__u64 is;

	if (m->code) {
		p->told.key = m->key;
		return 0;
	}
	is = kind == WALK_NOW ? hotspot_identity(p, method) : 0;
	if (!runtime_is_known(p, is)) {
		if (hotspot_key(c, method, kind))
			return 1;
		runtime_know(p, is, 0);
	}
	runtime_meet(p, runtime_met(p, method), method);
	return 0;
}

/* What was put last belongs to the native frame that is being walked. */
INLINE void hotspot_put(struct walk *c, __u64 key, __u32 at, __u32 what)
{
	struct runtime_walk *p = c->runtime;
	__u32 n = p->out.n;

	runtime_put(p, key, at, what);
	FORGET(n);
	n &= KWALK_RUNTIME_ROOM - 1;
	p->frames[n].native = (__u16)(c->w->n - 1);
}

ONCE int hotspot_method_now(struct walker *w, struct runtime_walk *p, __u64 method)
{
	struct walk c = { .w = w, .runtime = p };

	return w && p ? (int)hotspot_method(&c, method, WALK_NOW) : 1;
}

/* A frame of a method; of a compiled one, with what the recorder finds inlined methods by. */
INLINE void hotspot_name(struct walk *c, __u64 method, __u32 at, const int kind)
{
	struct runtime_walk *p = c->runtime;
	int compiled = ANEW(HS(p)->what) == HOTSPOT_BLOB_METHOD;

	if (runtime_full(p, kind))
		return;
	if (!p->out.end)
		p->out.end = KWALK_RUNTIME_COMPLETE;
	if (kind == WALK_NOW ? hotspot_method_now(c->w, p, method)
	                     : hotspot_method(c, method, kind))
		return;
	if (compiled)
		hotspot_put(c, HS(p)->blob, HS(p)->id, RUNTIME_FRAME_COMPILED);
	hotspot_put(c, p->told.key, at, RUNTIME_FRAME_CODE);
	hotspot_put(c, 0, 0, RUNTIME_FRAME_LOOP);
}

/* ---- code of no method ---- */

#define HOTSPOT_STUB_NAME 48u /* bytes of its name at most */

/* Looks for the end of such a name: p->word. */
static long hotspot_letter(__u32 i, void *ctx)
{
	struct runtime_walk *p = ((struct walk *)ctx)->runtime;
	char *text = (char *)p->told.text + KWALK_CODE_FILE + 1;

	p->word = i;
	return i >= HOTSPOT_STUB_NAME || !text[i];
}

/* The key of a blob of HotSpot's own, which is made of its name: "[StubRoutines (final stubs)]". */
INLINE long hotspot_stub_key(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	char *text = (char *)p->told.text + KWALK_CODE_FILE;
	__u32 n, words;

	if (walk_read(c, HS(p)->name, text + 1, HOTSPOT_STUB_NAME, kind))
		return 1;
	p->word = 0;
	bpf_loop(HOTSPOT_STUB_NAME + 1, hotspot_letter, c, 0);
	n = ANEW(p->word);
	FORGET(n);
	if (!n || n > HOTSPOT_STUB_NAME)
		return 1;
	text[0] = '[';
	text[n + 1] = ']';
	n += 2;
	p->told.text[KWALK_CODE_FILE / 8 + (n >> 3 & 15)] &= (1ull << (n & 7) * 8) - 1;
	p->told.name = (struct kwalk_code_text){ .bytes = (__u16)n };
	p->told.file.bytes = p->told.scope.bytes = 0;
	p->hash = runtime_mix(config.seed, RUNTIME_KIND);
	p->word = KWALK_CODE_FILE / 8;
	words = (n + 7) >> 3;
	bpf_loop(words, runtime_mix_word, c, 0);
	p->told.key = p->hash;
	if (!runtime_told(p))
		runtime_tell_filled(p, 0, RUNTIME_LINES_GIVEN);
	p->told.key = p->hash;
	return 0;
}

/* A frame in code of no method: with its name, if that can be read at once. */
INLINE void hotspot_name_stub(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct runtime_met *m = runtime_met(p, HS(p)->blob);

	if (runtime_full(p, kind))
		return;
	if (m->code) {
		p->told.key = m->key;
	} else {
		if (hotspot_stub_key(c, kind))
			return;
		runtime_meet(p, runtime_met(p, HS(p)->blob), HS(p)->blob);
	}
	if (!p->out.end)
		p->out.end = KWALK_RUNTIME_COMPLETE;
	hotspot_put(c, p->told.key, 0, RUNTIME_FRAME_CODE);
	hotspot_put(c, 0, 0, RUNTIME_FRAME_LOOP);
}

ONCE int hotspot_name_stub_now(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };

	if (w && p)
		hotspot_name_stub(&c, WALK_NOW);
	return 0;
}

#endif
