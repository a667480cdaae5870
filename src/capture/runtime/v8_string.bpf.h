/* SPDX-License-Identifier: MIT */
/*
 * v8_string.bpf.h: the characters of V8's strings, which may be in many pieces, as Latin-1's or
 * UTF-16's bytes in what is told.
 */
#ifndef SEAM_CAPTURE_RUNTIME_V8_STRING_BPF_H
#define SEAM_CAPTURE_RUNTIME_V8_STRING_BPF_H

#include "capture/runtime/v8_object.bpf.h"

#define V8_ONE_BYTE 8u
#define V8_SHAPE 7u
#define V8_SEQUENTIAL 0u
#define V8_CONS 1u
#define V8_EXTERNAL 2u
#define V8_SLICED 3u
#define V8_THIN 5u
#define V8_STRING_STEPS 64 /* pieces, and what leads to them */
#define V8_TEXT_MOST 512u  /* bytes; a power of two */
#define V8_UNCACHED 0x10u
#define V8_CHARACTERS 16
#define V8_CHARACTERS_MOST (1u << 29)
#define V8_NO_FILE 0x6f6d796e6f6e613cull /* <anonymous> */
#define V8_NO_FILE_END 0x3e7375ull
#define V8_NO_NAME 0x6f6d796e6f6e6128ull /* (anonymous) */
#define V8_NO_NAME_END 0x297375ull

/* Reads a string's first two words, and of what its shape has behind them no more than there is, as
 * it may be the last object of a chunk of V8's heap: v8->string and v8->type. */
INLINE long v8_string_read(struct walk *c, __u64 string, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 shape, *behind = &v->string[2];

	if (v8_object(c, string, v->string, 16, kind) || v8_type(c, ANEW(v->string[0]), kind))
		return 1;
	shape = 1u << (ANEW(v->type) & V8_SHAPE);
	if (ANEW(v->type) >= V8_STRING || shape & 1u << V8_SEQUENTIAL)
		return 0;
	if (shape & 1u << V8_THIN ? walk_read(c, string - V8_TAG + 16, behind, 8, kind)
	                          : walk_read(c, string - V8_TAG + 16, behind, 16, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	return 0;
}

/* Whether it is a string, of how many characters: 0, and they are in v8->characters. 1: the walk
 * has ended; 2: it is none, v8->type says what it is. */
INLINE long v8_string(struct walk *c, __u64 string, const int kind)
{
	struct v8 *v = V8(c->runtime);

	v->characters = 0;
	if (v8_object(c, string, v->string, 16, kind) || v8_type(c, ANEW(v->string[0]), kind))
		return 1;
	if (ANEW(v->type) >= V8_STRING)
		return 2;
	v->characters = ANEW(v->string[1]) >> 32;
	if (ANEW(v->characters) > V8_CHARACTERS_MOST)
		v->characters = 0;
	return 0;
}

/* Appends the characters of a string that is in one piece, as many as are wanted and have room.
 * Those of another width than the first piece's are left out, and all behind them. 1: it ends. */
INLINE long v8_piece(struct walk *c, __u64 text, __u64 length, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u32 width = ANEW(v->type) & V8_ONE_BYTE ? 1 : 2, at, n;

	if (!ANEW(v->width))
		v->width = width;
	if (!text || ANEW(v->width) != width || ANEW(v->from) >= length)
		return 1;
	length -= ANEW(v->from);
	if (length > ANEW(v->left))
		length = v->left;
	n = (__u32)length * width;
	at = (__u32)v->bytes;
	if (n > V8_TEXT_MOST || n > (__u32)v->room - at)
		n = ((__u32)v->room - at) & ~1u;
	FORGET(n);
	FORGET(at);
	at &= KWALK_CODE_WORDS * 8 - 1;
	if (n > V8_TEXT_MOST ||
	    (n && walk_read(c, text + v->from * width, (char *)p->told.text + at, n, kind)))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	v->bytes += n;
	v->left -= n / width;
	v->from = 0;
	return n < length * width;
}

/* What comes behind the piece that was appended. 1: nothing. */
INLINE long v8_next_piece(struct v8 *v)
{
	__u32 n = (__u32)ANEW(v->n_later);

	if (!ANEW(v->left) || !n || (__u32)v->n_parts - n >= V8_LATER)
		return 1;
	v->n_later = n - 1;
	v->at = v->later[(n - 1) & (V8_LATER - 1)];
	return 0;
}

/* One step through the pieces of the string v8->at: 1 ends it. */
INLINE long v8_text_step(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u64 shape, text = 0;
	__u32 n;

	v->result = 1;
	if (v8_string_read(c, v->at, kind))
		return 1;
	v->result = 0;
	if (ANEW(v->type) >= V8_STRING)
		return 1;
	shape = 1u << (ANEW(v->type) & V8_SHAPE);
	if (shape & (1u << V8_CONS | 1u << V8_SLICED | 1u << V8_THIN)) {
		if (shape & 1u << V8_SLICED)
			v->from += ANEW(v->string[3]) >> V8_SHIFT;
		if (shape & 1u << V8_CONS) {
			n = (__u32)v->n_later;
			v->later[n & (V8_LATER - 1)] = v->string[3];
			v->n_later = n + 1;
			if (n >= ANEW(v->n_parts))
				v->n_parts = n + 1;
		}
		v->at = v->string[2];
		return 0;
	}
	if (shape & 1u << V8_SEQUENTIAL)
		text = v->at - V8_TAG + V8_CHARACTERS;
	if (shape & 1u << V8_EXTERNAL && !(ANEW(v->type) & V8_UNCACHED))
		text = v->string[3];
	if (!(ANEW(v->string[1]) >> 32)) /* an empty piece */
		return v8_next_piece(v);
	if (v8_piece(c, text, ANEW(v->string[1]) >> 32, kind)) {
		v->result = ANEW(p->out.end) == KWALK_RUNTIME_FAULT;
		return 1;
	}
	return v8_next_piece(v);
}

RUNTIME_LOOP(v8_text_step, V8_STRING_STEPS)

/* Puts the string that v8_string found into what is told; of no characters: 11 that stand for it.
 * What is in more or deeper pieces than are followed is cut. */
INLINE long v8_text(struct walk *c, __u64 string, struct kwalk_code_text *text, const __u32 first,
                    const __u32 most, __u64 none, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);
	__u32 n;

	v->at = string;
	v->left = v->characters;
	v->bytes = first;
	v->room = first + most;
	v->from = v->width = v->n_later = v->n_parts = 0;
	if (ANEW(v->left)) {
		v8_text_step_all(c, kind);
		if (ANEW(v->result))
			return 1;
	}
	n = (__u32)ANEW(v->bytes) - first;
	FORGET(n);
	if (!n || n > most) {
		*text = (struct kwalk_code_text){ .bytes = 11, .width = 1 };
		p->told.text[first / 8] = none;
		p->told.text[first / 8 + 1] = none == V8_NO_FILE ? V8_NO_FILE_END : V8_NO_NAME_END;
		p->hash = runtime_mix(p->hash, none);
		return 0;
	}
	text->bytes = (__u16)n;
	text->width = (__u8)v->width;
	text->cut = ANEW(v->left) != 0;
	if (n < most)
		p->told.text[first / 8 + (n >> 3 & (most / 8 - 1))] &= (1ull << (n & 7) * 8) - 1;
	p->hash = runtime_mix(p->hash, v->characters << 8 | v->width);
	p->word = first / 8;
	bpf_loop((n + 7) >> 3, runtime_mix_word, c, 0);
	return 0;
}

#endif
