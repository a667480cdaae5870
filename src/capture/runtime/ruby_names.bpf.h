/* SPDX-License-Identifier: MIT */
/*
 * ruby_names.bpf.h: what Ruby's functions are called: "Class#method" and "Class.method", and blocks
 * in them, as Ruby 3.4's own backtraces have it; other code by its label ("<main>",
 * "<class:Name>"). A class that has no name for good lends none.
 */
#ifndef SEAM_CAPTURE_RUNTIME_RUBY_NAMES_BPF_H
#define SEAM_CAPTURE_RUNTIME_RUBY_NAMES_BPF_H

#include "capture/runtime/runtime.bpf.h"
#include "runtimes/ruby_layout.h"

#define RUBY_TEXT_MOST (1u << 24)
#define RUBY_TYPE 31u /* bits of an object's flags */
#define RUBY_CLASS 2u
#define RUBY_MODULE 3u
#define RUBY_STRING 5u
#define RUBY_ARRAY 7u
#define RUBY_APART (1u << 13)  /* a string's bytes are elsewhere */
#define RUBY_INLINE (1u << 13) /* an array's elements are in it */
#define RUBY_OWN 0xf01fu       /* bits that say of what kind Ruby's own objects are */
#define RUBY_VARIABLES 0x201au /* svar: of a method's call */
#define RUBY_METHOD 0x601au    /* ment: a method as it is in a class */
#define RUBY_CODE 0x701au      /* iseq */
#define RUBY_OF_METHOD 1u      /* ISEQ_TYPE_METHOD */
#define RUBY_OF_C 1u           /* VM_METHOD_TYPE_CFUNC */
#define RUBY_NAMES_PIECE 512u  /* of the table of names: names in each part of it */
#define RUBY_BODY_ROOM 256u    /* a power of two */
#define RUBY_BODY_SIZE 192u
#define RUBY_CLASS_VARIABLES 32u /* that are looked at */
#define RUBY_END 64u             /* bytes that are compared of a name */
#define RUBY_LABEL_MOST 63u      /* what stands before a method's name */
#define RUBY_PATH_MOST 160u      /* the name of a class */

/* A class that this walk has met, and its name: while a method of it runs, both stay. */
struct ruby_class_met {
	__u64 walk, owner, text, bytes;
	__u64 separator; /* 0: it has no name */
};
#define RUBY_CLASSES 8u /* a power of two */
#define RUBY_AHEAD 256u /* bytes, likewise */

struct ruby {
	__u64 context[4]; /* vm_stack, vm_stack_size, cfp, tag */
	__u64 frame, end, tag, guard;
	__u64 iseq, line_pc, ep, method;
	__u64 text, bytes;          /* a string's */
	__u64 before, before_bytes; /* what stands before a method's name in a label */
	__u64 name, name_bytes;
	__u64 owner, file, file_hash, found;
	__u64 name_path, name_attached; /* numbers of the names "__classpath__", "__attached__" */
	__u64 table, table_end, wanted;
	__u32 loops, tags, skip, next, drop, line, flags, names_pid, separator;
	__u32 nameless;  /* a class that had no name was met */
	__u64 epoch, is; /* ruby_known.bpf.h */
	__u32 stays, unused;
	__u64 frame_words[7], env[3], head[8], block[10];
	__u64 walk, jit_code, jit_word; /* the walk that has frames; of a frame of YJIT's code */
	__u64 ahead_at, ahead_bytes, ahead[RUBY_AHEAD / 8]; /* frames that were read at once */
	unsigned char body[RUBY_BODY_ROOM];
	struct ruby_class_met classes[RUBY_CLASSES];
};

_Static_assert(sizeof(struct ruby) <= RUNTIME_OWN_WORDS * 8, "RUNTIME_OWN_WORDS");

#define RUBY(p) ((struct ruby *)(p)->own)
/* Memory that the verifier knows nothing of, read anew each time. */
#define AT(field) ANEW(((struct ruby_layout *)p->process.of.layout)->field)
#define ADDRESS(field) ANEW(p->process.of.address[field])
#define RUBY_BODY(r, at) (*(volatile __u64 *)&(r)->body[(at) & (RUBY_BODY_ROOM - 8)])

/* No object: nil, true, false, a number, a symbol. */
INLINE int ruby_special(__u64 value)
{
	return value < 4096 || value & 7;
}

/* Reads the beginning of one of Ruby's own objects into r->head. 2: it is of another kind. */
INLINE long ruby_is(struct walk *c, __u64 object, __u32 own, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);

	if (ruby_special(object))
		return 2;
	if (walk_read(c, object, r->head, 40, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	return (ANEW(r->head[0]) & RUBY_OWN) == own ? 0 : 2;
}

/* Where a string's bytes are: r->text, r->bytes. 2: it is none. */
INLINE long ruby_string(struct walk *c, __u64 value, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 flags;

	if (ruby_special(value))
		return 2;
	if (walk_read(c, value, r->head, 32, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	flags = ANEW(r->head[0]);
	if ((flags & RUBY_TYPE) != RUBY_STRING)
		return 2;
	r->text = value + AT(string_inline);
	r->bytes = ANEW(r->head[2]);
	if (flags & RUBY_APART)
		r->text = ANEW(r->head[3]);
	else if (!AT(string_length))
		r->bytes = flags >> 14 & 31;
	return ANEW(r->bytes) > RUBY_TEXT_MOST ? 2 : 0;
}

/* An element of an array: r->found. 2: it has no such element, or is none. */
INLINE long ruby_element(struct walk *c, __u64 array, __u64 i, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 flags, at = array + 16, n;

	if (ruby_special(array))
		return 2;
	if (walk_read(c, array, r->head, 40, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	flags = ANEW(r->head[0]);
	n = ANEW(r->head[2]);
	if ((flags & RUBY_TYPE) != RUBY_ARRAY)
		return 2;
	if (flags & RUBY_INLINE)
		n = flags >> 15 & (AT(string_length) ? 127 : 3);
	else
		at = ANEW(r->head[4]);
	if (i >= n)
		return 2;
	return runtime_u64(c, at + i * 8, &r->found, kind);
}

/* The text of a name that stands for its number in the table of all names. */
INLINE long ruby_symbol(struct walk *c, __u64 number, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	long e;

	if (!ADDRESS(RUBY_NAMES))
		return 2;
	if (number > AT(operators))
		number = (__u32)(number >> 4);
	if (runtime_u64(c, ADDRESS(RUBY_NAMES), &r->found, kind))
		return 1;
	e = ruby_element(c, ANEW(r->found), number / RUBY_NAMES_PIECE, kind);
	if (!e)
		e = ruby_element(c, ANEW(r->found), number % RUBY_NAMES_PIECE * 2, kind);
	return e ? e : ruby_string(c, ANEW(r->found), kind);
}

/* ---- classes ---- */

/* Whether a key of a class's table is the one that is looked for; its number may not be known yet.
 * Names of this kind have no mark of a variable or constant. */
INLINE long ruby_key(struct walk *c, __u64 key, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 known = ANEW(r->wanted) ? r->name_attached : r->name_path;
	long e;

	if (known)
		return key == known ? 0 : 2;
	if (key & 14)
		return 2;
	e = ruby_symbol(c, key, kind);
	if (e)
		return e;
	if (ANEW(r->bytes) != (ANEW(r->wanted) ? 12 : 13))
		return 2;
	r->head[0] = r->head[1] = 0;
	if (walk_read(c, r->text, r->head, 12, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	if (ANEW(r->wanted)) {
		if (r->head[0] != 0x6863617474615f5full || r->head[1] != 0x5f5f6465)
			return 2; /* "__attach", "ed__" */
		r->name_attached = key;
	} else {
		if (r->head[0] != 0x707373616c635f5full || r->head[1] != 0x5f687461)
			return 2; /* "__classp", "ath_" */
		r->name_path = key;
	}
	return 0;
}

/* Looks at one entry of a class's table. */
INLINE long ruby_entry(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	long e;

	if (ANEW(r->table) >= ANEW(r->table_end))
		return 1;
	if (walk_read(c, r->table, r->block, 24, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	r->table += 24;
	e = ruby_key(c, ANEW(r->block[1]), kind);
	if (e == 2)
		return 0;
	if (!e)
		r->owner = r->block[2];
	return 1;
}

RUNTIME_LOOP(ruby_entry, RUBY_CLASS_VARIABLES)

/* A value that a class has in its table, until 3.1: r->owner becomes it. */
INLINE long ruby_variable(struct walk *c, __u32 wanted, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 at, of = ANEW(r->owner);

	r->wanted = wanted;
	r->owner = 0;
	if (runtime_u64(c, of + 24, &at, kind) || runtime_u64(c, at + 8, &at, kind))
		return 1;
	if (!at)
		return 2;
	if (walk_read(c, at, r->head, 56, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	r->table = ANEW(r->head[6]) + ANEW(r->head[4]) * 24;
	r->table_end = ANEW(r->head[6]) + ANEW(r->head[5]) * 24;
	ruby_entry_all(c, kind);
	if (ANEW(p->out.end))
		return 1;
	return ruby_special(ANEW(r->owner)) ? 2 : 0;
}

/* What a singleton class is of, and what a class's name is: r->owner becomes it. 2: none. */
INLINE long ruby_attached(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);

	if (!AT(class_path))
		return ruby_variable(c, 1, kind);
	return runtime_u64(c, ANEW(r->owner) + AT(class_attached), &r->owner, kind);
}

INLINE long ruby_path(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 of = ANEW(r->owner);
	unsigned char permanent = 0;

	if (!AT(class_path))
		return ruby_variable(c, 0, kind);
	if (walk_read(c, of + AT(class_permanent), &permanent, 1, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	if (!(permanent & 1))
		return 2;
	return runtime_u64(c, of + AT(class_path), &r->owner, kind);
}

/* Reads a class's flags. 2: it is neither a class nor a module. */
INLINE long ruby_class_flags(struct walk *c, __u64 *flags, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u64 owner = ANEW(RUBY(p)->owner);

	if (ruby_special(owner))
		return 2;
	if (runtime_u64(c, owner, flags, kind))
		return 1;
	return (*flags & RUBY_TYPE) == RUBY_CLASS || (*flags & RUBY_TYPE) == RUBY_MODULE ? 0 : 2;
}

/* Looks for the name of the class r->owner, and what stands between it and a method's. */
INLINE long ruby_class_name(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 flags = 0;
	long e;

	r->separator = '#';
	e = ruby_class_flags(c, &flags, kind);
	if (!e && (flags & RUBY_TYPE) == RUBY_CLASS && flags & AT(class_singleton)) {
		r->separator = '.';
		e = ruby_attached(c, kind);
		if (!e)
			e = ruby_class_flags(c, &flags, kind);
		if (!e && (flags & RUBY_TYPE) == RUBY_CLASS && flags & AT(class_singleton))
			e = 2;
	}
	if (!e)
		e = ruby_path(c, kind);
	return e ? e : ruby_string(c, ANEW(r->owner), kind);
}

/* The name of the class r->owner, and what stands between it and a method's: r->text, r->bytes,
 * r->separator. 2: it has none. The classes of a stack are few. */
INLINE long ruby_class(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 owner = ANEW(r->owner);
	__u32 at = (__u32)(owner >> 3 ^ owner >> 6 ^ owner >> 9);
	struct ruby_class_met *m;
	long e;

	FORGET(at);
	m = &r->classes[at & (RUBY_CLASSES - 1)];
	if (ANEW(m->walk) == ANEW(p->walk) && ANEW(m->owner) == owner) {
		r->text = m->text;
		r->bytes = m->bytes;
		r->separator = (__u32)m->separator;
		r->nameless |= !ANEW(r->separator);
		return ANEW(r->separator) ? 0 : 2;
	}
	e = ruby_class_name(c, kind);
	if (e == 1)
		return 1;
	m->owner = owner;
	m->walk = p->walk;
	m->text = r->text;
	m->bytes = r->bytes;
	m->separator = e ? 0 : r->separator;
	r->nameless |= e != 0;
	return e;
}

/* The method r->method, or what stands for it in a call's variables: its owner, and r->head is it.
 * 2: there is none. */
INLINE long ruby_owner(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	long e = ruby_is(c, ANEW(r->method), RUBY_METHOD, kind);

	if (e == 2 && !ruby_special(ANEW(r->method)) &&
	    (ANEW(r->head[0]) & RUBY_OWN) == RUBY_VARIABLES)
		e = ruby_is(c, ANEW(r->head[1]), RUBY_METHOD, kind);
	if (!e)
		r->owner = r->head[4];
	return e;
}

/* ---- what is told ---- */

/* "block in Class#" is told as a scope; what stands before it in the label is r->before. */
INLINE long ruby_scope(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	unsigned char *to = (unsigned char *)&p->told.text[(KWALK_CODE_FILE + KWALK_CODE_NAME) / 8];
	__u32 before = (__u32)ANEW(r->before_bytes), path = (__u32)ANEW(r->bytes);

	if (ANEW(r->before_bytes) > RUBY_LABEL_MOST || ANEW(r->bytes) > RUBY_PATH_MOST)
		return 2;
	for (__u32 i = 0; i < KWALK_CODE_SCOPE / 8; i++)
		((volatile __u64 *)to)[i] = 0;
	FORGET(before);
	before &= 63;
	if (before && walk_read(c, r->before, to, before, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	FORGET(before);
	before &= 63;
	FORGET(path);
	if (path > RUBY_PATH_MOST)
		return 2;
	if (path && walk_read(c, r->text, to + before, path, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	path += before;
	FORGET(path);
	path &= KWALK_CODE_SCOPE - 1;
	to[path] = (unsigned char)r->separator;
	p->told.scope.bytes = (__u16)(path + 1);
	p->told.scope.width = 0;
	p->told.scope.cut = 0;
	p->hash = runtime_mix(p->hash, path);
	p->word = (KWALK_CODE_FILE + KWALK_CODE_NAME) / 8;
	bpf_loop((path + 8) >> 3, runtime_mix_word, c, 0);
	return 0;
}

/* The name behind the scope, and the key. */
INLINE long ruby_tell(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);

	if (runtime_text(c, ANEW(r->name), ANEW(r->name_bytes), 0, &p->told.name, KWALK_CODE_FILE,
	                 KWALK_CODE_NAME, kind))
		return 1;
	p->told.key = p->hash;
	return runtime_told(p) ? 0 : runtime_tell(c, 0, 0, RUNTIME_LINES_GIVEN, kind);
}

/* The file of the code in r->body: an array has the path, and as a whole. The same text is still in
 * place, as all that has it keeps it alive. */
INLINE long ruby_file(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 file = RUBY_BODY(r, 64), line = RUBY_BODY(r, AT(body_line));
	long e;

	p->told.first_line = AT(body_line_odd) ? (__u32)(line >> 1) : (__u32)line;
	if (file != ANEW(r->file)) {
		p->hash = runtime_mix(config.seed, p->out.pid);
		r->file = 0;
		e = ruby_string(c, file, kind);
		if (e == 2) {
			e = ruby_element(c, file, 1, kind);
			if (!e)
				e = ruby_string(c, ANEW(r->found), kind);
			if (e == 2)
				e = ruby_element(c, file, 0, kind);
			if (!e)
				e = ruby_string(c, ANEW(r->found), kind);
		}
		if (e)
			return e == 1 ? 1 : runtime_end(p, KWALK_RUNTIME_BUILDING);
		if (runtime_text(c, r->text, r->bytes, 0, &p->told.file, 0, KWALK_CODE_FILE, kind))
			return 1;
		r->file = file;
		r->file_hash = p->hash;
	}
	p->hash = runtime_mix(r->file_hash, p->told.first_line);
	return 0;
}

/* Whether the code in r->body is a method's, or in one. */
INLINE long ruby_of_method(struct walk *c, __u32 *type, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u64 local = RUBY_BODY(r, AT(body_local));

	*type = (__u32)RUBY_BODY(r, 0);
	if (local == ANEW(r->iseq))
		return 0;
	if (ruby_is(c, local, RUBY_CODE, kind))
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (walk_read(c, ANEW(r->head[2]), type, 4, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	return 0;
}

/* Whether the label (r->text) ends with the method's name (r->name): by their last bytes. */
INLINE long ruby_ends(struct walk *c, __u32 *ends, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u32 n = ANEW(r->name_bytes) < RUBY_END ? (__u32)r->name_bytes : RUBY_END;

	*ends = 0;
	if (ANEW(r->name_bytes) > ANEW(r->bytes))
		return 0;
	for (__u32 i = 0; i < RUBY_END / 8; i++)
		((volatile __u64 *)r->head)[i] = ((volatile __u64 *)r->block)[i] = 0;
	FORGET(n);
	if (n > RUBY_END)
		return 0;
	if (n && (walk_read(c, r->text + r->bytes - n, r->head, n, kind) ||
	          walk_read(c, r->name + r->name_bytes - n, r->block, n, kind)))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	*ends = 1;
	for (__u32 i = 0; i < RUBY_END / 8; i++)
		if (ANEW(r->head[i]) != ANEW(r->block[i]))
			*ends = 0;
	return 0;
}

/* Tells of the code in r->body. */
INLINE long ruby_name(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	__u32 type = 0, ends = 1;
	long e;

	if (ruby_file(c, kind) || ruby_of_method(c, &type, kind))
		return 1;
	e = ruby_string(c, RUBY_BODY(r, 72), kind);
	if (!e) {
		r->name = r->text;
		r->name_bytes = r->bytes;
		if (RUBY_BODY(r, 72) != RUBY_BODY(r, 80))
			e = ruby_string(c, RUBY_BODY(r, 80), kind);
	}
	if (e)
		return e == 1 ? 1 : runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (RUBY_BODY(r, 72) != RUBY_BODY(r, 80) && ruby_ends(c, &ends, kind))
		return 1;
	/* What an eval runs in a method is told as the method: its label may be any text. */
	r->before = ends ? r->text : r->name;
	r->before_bytes = ends ? ANEW(r->bytes) - ANEW(r->name_bytes) : 0;
	p->told.scope.bytes = 0;
	e = 2;
	if (type == RUBY_OF_METHOD) {
		e = ruby_owner(c, kind);
		if (!e)
			e = ruby_class(c, kind);
		if (!e)
			e = ruby_scope(c, kind);
		if (e == 1)
			return 1;
	}
	if (e) {
		r->name_bytes = ANEW(r->before_bytes) + ANEW(r->name_bytes);
		r->name = r->before;
	}
	return ruby_tell(c, kind);
}

/* Tells of the method r->method, which is written in C; told.key stays 0 if that is not known. */
INLINE long ruby_name_c(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct ruby *r = RUBY(p);
	long e = ruby_owner(c, kind);

	if (!e && walk_read(c, ANEW(r->head[2]), r->head, 40, kind))
		e = runtime_end(p, KWALK_RUNTIME_FAULT);
	if (!e)
		e = (ANEW(r->head[0]) & 15) == RUBY_OF_C ? ruby_symbol(c, ANEW(r->head[4]), kind)
		                                         : 2;
	if (e)
		return e == 1;
	r->name = r->text;
	r->name_bytes = r->bytes;
	r->before_bytes = 0;
	p->hash = runtime_mix(config.seed, p->out.pid);
	r->file = 0;
	p->told.file.bytes = 0;
	p->told.scope.bytes = 0;
	p->told.first_line = 0;
	e = ruby_class(c, kind);
	if (!e)
		e = ruby_scope(c, kind);
	return e == 1 ? 1 : ruby_tell(c, kind);
}

#endif
