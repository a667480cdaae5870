/* SPDX-License-Identifier: MIT */
/*
 * php.bpf.h: from PHP's globals to its frames, by the offsets of the process's version
 * (runtimes/php_layout.h), and what their functions are called. One thread runs them: the first.
 *
 * A call of the loop, execute_ex, runs the frames up to one that says so (ZEND_CALL_TOP). It has
 * the newest of these in r14 and its instruction in r15, in builds of GCC; by the first both stacks
 * are joined, as a call may have left its last frame already when destructors run, in calls of
 * their own. Functions of PHP that are written in C have frames, too, without a file.
 */
#ifndef SEAM_CAPTURE_RUNTIME_PHP_BPF_H
#define SEAM_CAPTURE_RUNTIME_PHP_BPF_H

#define RUNTIME_FRAMES php_frames
#define RUNTIME_REGISTER 14
#define RUNTIME_UNDESCRIBED php_undescribed

#include "capture/runtime/runtime.bpf.h"
#include "runtimes/php_layout.h"

#define PHP_TEXT_MOST (1u << 24)
#define PHP_TOP 0x20000u /* ZEND_CALL_TOP, in a frame's This.u1.type_info */
#define PHP_INTERNAL 1   /* kinds of functions: ZEND_INTERNAL_FUNCTION ... */
#define PHP_USER 2
#define PHP_EVAL 4
#define PHP_STRING 6               /* IS_STRING, in a string's gc.u.type_info */
#define PHP_HANDLE_EXCEPTION 149   /* an instruction of no line */
#define PHP_MAIN 0x7d6e69616d7bull /* "{main}", as PHP's own backtraces have it */
#define PHP_FRAME_SIZE 56
#define PHP_FUNCTION_SIZE 24
#define PHP_CODE_MOST 192u
#define PHP_WAITING 32u          /* a power of two */
#define PHP_GENERATOR_FRAME 56   /* of zend_generator: execute_data, node.parent */
#define PHP_GENERATOR_PARENT 152 /* the one that it waits for */
#define PHP_GENERATOR_FAKE 184   /* execute_fake, a frame without a function */

struct php {
	__u64 walk; /* that has frames */
	__u64 frame, function;
	__u64 newest; /* of the frames of PHP code that the present call of the loop runs */
	__u64 file, file_hash, instruction;
	__u64 met_file, met_hash; /* likewise, of a text that need not be in place */
	__u32 any, type;
	__u64 op;
	/* generators that wait for another one (yield from), the outermost first */
	__u64 generator, waiting[PHP_WAITING];
	__u32 n_waiting;
	unsigned char frame_bytes[PHP_FRAME_SIZE + 8];
	unsigned char code[PHP_CODE_MOST];
};

_Static_assert(sizeof(struct php) <= RUNTIME_OWN_WORDS * 8, "RUNTIME_OWN_WORDS");

#define PHP(p) ((struct php *)(p)->own)
#define AT(field) ANEW(((struct php_layout *)p->process.of.layout)->field)
#define ADDRESS(field) ANEW(p->process.of.address[field])

/* Whether the call of the loop that has this frame is done with it, and has none any more: its
 * caller's newest is the one that is expected. */
INLINE int runtime_is_left(struct runtime_walk *p, __u64 frame, __u64 expected)
{
	struct {
		__u32 info, arguments;
		__u64 previous;
	} of;

	if (bpf_probe_read_user(&of, sizeof(of), (void *)(frame + 40)))
		return 0;
	return of.info & PHP_TOP && of.previous == expected;
}

/* ---- code ---- */

INLINE long php_text(struct walk *c, __u64 string, struct kwalk_code_text *text, const __u32 first,
                     const __u32 most, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u64 length;

	if (walk_read(c, string, p->head, 24, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	length = *(volatile __u64 *)&p->head[16];
	if ((*(volatile __u32 *)&p->head[4] & 15) != PHP_STRING || length > PHP_TEXT_MOST)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	return runtime_text(c, string + 24, length, 0, text, first, most, kind);
}

/* A function's name, and its class. A file's own code has none. */
INLINE long php_names(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);
	__u64 name = *(volatile __u64 *)&php->code[8], class = *(volatile __u64 *)&php->code[16];

	p->told.scope.bytes = 0;
	if (!name) {
		p->told.name = (struct kwalk_code_text){ .bytes = 6 };
		p->told.text[KWALK_CODE_FILE / 8] = PHP_MAIN;
		p->hash = runtime_mix(p->hash, PHP_MAIN);
		return 0;
	}
	if (php_text(c, name, &p->told.name, KWALK_CODE_FILE, KWALK_CODE_NAME, kind))
		return 1;
	if (!class)
		return 0;
	if (runtime_u64(c, class + 8, &name, kind))
		return 1;
	return php_text(c, name, &p->told.scope, KWALK_CODE_FILE + KWALK_CODE_NAME,
	                KWALK_CODE_SCOPE, kind);
}

/* The file of a function that is not written in C, and its first line. The same text is still in
 * place, as all that has it keeps it alive. */
INLINE long php_file(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);
	__u32 size = AT(code_line) + 4;
	__u64 file;

	if (size > PHP_CODE_MOST)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	FORGET(size);
	if (size > PHP_CODE_MOST || walk_read(c, php->function, php->code, size, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	file = *(volatile __u64 *)&php->code[AT(code_file) & 184];
	p->told.first_line = *(volatile __u32 *)&php->code[AT(code_line) & 188];
	if (file != ANEW(php->file)) {
		p->hash = runtime_mix(config.seed, p->out.pid);
		php->file = 0;
		if (php_text(c, file, &p->told.file, 0, KWALK_CODE_FILE, kind))
			return 1;
		php->file = file;
		php->file_hash = p->hash;
	}
	p->hash = runtime_mix(php->file_hash, p->told.first_line);
	return 0;
}

/* What php_text() mixes into p->hash, of a text that need not be told, by one read. Non-0: it
 * cannot be made so. */
INLINE long php_piece(struct walk *c, __u64 string, const __u32 most)
{
	struct runtime_walk *p = c->runtime;

	if (runtime_piece(p, string, 24) ||
	    (*(volatile __u32 *)((char *)p->piece + 4) & 15) != PHP_STRING)
		return 1;
	return runtime_piece_text(c, ANEW(p->piece[2]), 0, most);
}

/* What php_file() makes of a function's file. */
INLINE int php_file_piece(struct walk *c)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);
	__u64 file = *(volatile __u64 *)&php->code[AT(code_file) & 184];

	if (file != ANEW(php->met_file)) {
		p->hash = runtime_mix(config.seed, p->out.pid);
		php->met_file = 0;
		if (php_piece(c, file, KWALK_CODE_FILE))
			return 1;
		php->met_file = file;
		php->met_hash = p->hash;
	}
	p->hash = runtime_mix(php->met_hash, *(volatile __u32 *)&php->code[AT(code_line) & 188]);
	return 0;
}

/* The key of a function that was told, by fewer reads: most was. False: it is not known to be. The
 * verifier goes through it once, and not in each state of the walk. */
ONCE int php_was_told(struct runtime_walk *p)
{
	struct walk of = { .runtime = p }, *c = &of;
	struct php *php;
	__u64 name, class;
	__u32 size;

	if (!p)
		return 0;
	php = PHP(p);
	size = AT(code_line) + 4;
	FORGET(size);
	if (size > PHP_CODE_MOST || bpf_probe_read_user(php->code, size, (void *)php->function))
		return 0;
	php->type = php->code[0];
	name = *(volatile __u64 *)&php->code[8];
	class = *(volatile __u64 *)&php->code[16];
	if (ANEW(php->type) == PHP_INTERNAL && name)
		p->hash = runtime_mix(config.seed, p->out.pid);
	else if ((ANEW(php->type) != PHP_USER && ANEW(php->type) != PHP_EVAL) || php_file_piece(c))
		return 0;
	if (!name)
		p->hash = runtime_mix(p->hash, PHP_MAIN);
	else if (php_piece(c, name, KWALK_CODE_NAME) ||
	         (class && (bpf_probe_read_user(&name, 8, (void *)(class + 8)) ||
	                    php_piece(c, name, KWALK_CODE_SCOPE))))
		return 0;
	p->told.key = p->hash;
	return runtime_told(p);
}

/* The key of the function at PHP(p)->function, and which kind it is. */
INLINE long php_code(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);

	if (kind == WALK_NOW && php_was_told(p))
		return 0;
	if (walk_read(c, php->function, php->code, PHP_FUNCTION_SIZE, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	php->type = php->code[0];
	if (ANEW(php->type) == PHP_INTERNAL) {
		/* What stands below all frames of a fiber is no function. */
		if (!*(volatile __u64 *)&php->code[8]) {
			p->told.key = 0;
			return 0;
		}
		p->hash = runtime_mix(config.seed, p->out.pid);
		php->file = 0;
		p->told.file.bytes = 0;
		p->told.first_line = 0;
	} else if (ANEW(php->type) != PHP_USER && ANEW(php->type) != PHP_EVAL) {
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	} else if (php_file(c, kind)) {
		return 1;
	}
	if (php_names(c, kind))
		return 1;
	p->told.key = p->hash;
	return runtime_told(p) ? 0 : runtime_tell(c, 0, 0, RUNTIME_LINES_GIVEN, kind);
}

/* The same, once in a walk. */
INLINE long php_code_met(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);
	struct runtime_met *m = runtime_met(p, ANEW(php->function));

	if (m->code == ANEW(php->function)) {
		p->told.key = m->key;
		php->type = m->what;
		return 0;
	}
	if (php_code(c, kind))
		return 1;
	m->what = php->type;
	runtime_meet(p, m, php->function);
	return 0;
}

/* ---- frames ---- */

#define PHP_INSTRUCTION_SIZE 32

/* Whether an instruction is none of the newest frame's function: code of the JIT seldom writes down
 * where it is, and what stands there may be an older frame's. */
INLINE int php_is_stale(struct walk *c, __u64 at, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);
	__u64 function = ANEW(php->function);
	__u64 n;

	if (walk_read(c, function + AT(code_n), &php->op, 8, kind))
		return 1;
	n = (__u32)ANEW(php->op);
	return walk_read(c, function + AT(code_instructions), &php->op, 8, kind) ||
	       at - ANEW(php->op) >= n * PHP_INSTRUCTION_SIZE;
}

/* The line at which a frame is. The loop keeps it in a register, and writes it into the frame
 * before it calls what may fail. */
INLINE long php_at(struct walk *c, __u32 *line, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);
	__u64 at = *(volatile __u64 *)&php->frame_bytes[0];

	*line = 0;
	if (!ANEW(php->any) && ANEW(php->instruction))
		at = php->instruction;
	else if (!ANEW(php->any) && php_is_stale(c, at, kind))
		at = 0;
	php->any = 1;
	if (!at)
		return 0;
	if (runtime_u64(c, at + 24, &php->op, kind))
		return 1;
	/* An exception has taken the instruction's place. */
	if ((ANEW(php->op) >> 32 & 255) == PHP_HANDLE_EXCEPTION &&
	    (runtime_u64(c, ADDRESS(PHP_GLOBALS) + AT(globals_thrown), &at, kind) ||
	     runtime_u64(c, at + 24, &php->op, kind)))
		return 1;
	*line = (__u32)ANEW(php->op);
	return 0;
}

/* A frame of PHP code. */
INLINE long php_user(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);
	__u32 line;

	if (php_at(c, &line, kind))
		return 1;
	runtime_put(p, p->told.key, line, RUNTIME_FRAME_CODE);
	if (!ANEW(php->newest))
		php->newest = php->frame;
	if (*(volatile __u32 *)&php->frame_bytes[40] & PHP_TOP) {
		runtime_loop(p, php->newest);
		php->newest = 0;
	}
	return 0;
}

/* One more of the generators that wait, up to the one that runs: that has no parent. */
INLINE long php_waits(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);
	__u32 n = ANEW(php->n_waiting);
	__u64 parent;

	if (runtime_u64(c, ANEW(php->generator) + PHP_GENERATOR_PARENT, &parent, kind) || !parent)
		return 1;
	if (n >= PHP_WAITING)
		return runtime_end(p, KWALK_RUNTIME_LIMIT);
	php->waiting[n & (PHP_WAITING - 1)] = php->generator;
	php->generator = parent;
	php->n_waiting = n + 1;
	return 0;
}

RUNTIME_LOOP(php_waits, PHP_WAITING + 1)

/* Takes the frame of the innermost generator that waits. No call of the loop runs it. */
INLINE long php_waiting(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);
	__u32 n = ANEW(php->n_waiting) - 1, line;
	__u64 frame;

	php->n_waiting = n;
	FORGET(n);
	if (runtime_u64(c, php->waiting[n & (PHP_WAITING - 1)] + PHP_GENERATOR_FRAME, &frame, kind))
		return 1;
	if (walk_read(c, frame, php->frame_bytes, PHP_FRAME_SIZE, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	php->function = *(volatile __u64 *)&php->frame_bytes[24];
	if (php_code_met(c, kind) || php_at(c, &line, kind))
		return 1;
	runtime_put(p, p->told.key, line, RUNTIME_FRAME_CODE);
	return 0;
}

/* Takes one frame and goes to the one that called it. */
INLINE long php_step(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);

	if (runtime_full(p, kind))
		return 1;
	if (ANEW(php->n_waiting))
		return php_waiting(c, kind);
	if (!ANEW(php->frame))
		return runtime_end(p, KWALK_RUNTIME_COMPLETE);
	if (walk_read(c, php->frame, php->frame_bytes, PHP_FRAME_SIZE, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	php->function = *(volatile __u64 *)&php->frame_bytes[24];
	if (!ANEW(php->function)) { /* the generators that wait have their frames here */
		php->generator = php->frame - PHP_GENERATOR_FAKE;
		p->out.end = KWALK_RUNTIME_NONE;
		php_waits_all(c, kind);
		if (ANEW(p->out.end))
			return 1;
	} else {
		if (php_code_met(c, kind))
			return 1;
		if (ANEW(php->type) != PHP_INTERNAL) {
			if (php_user(c, kind))
				return 1;
		} else if (p->told.key) {
			runtime_put(p, p->told.key, 0, RUNTIME_FRAME_CODE);
		} else if (!p->out.behind) {
			p->out.behind = (__u16)p->out.n;
		}
	}
	php->frame = *(volatile __u64 *)&php->frame_bytes[48];
	return 0;
}

RUNTIME_LOOP(php_step, KWALK_RUNTIME_ROOM)

/* All frames of the thread that runs PHP; the others have none. */
INLINE void php_frames(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);

	if (p->out.pid != p->out.tid)
		return;
	php->walk = p->walk;
	p->pass = RUNTIME_PASS_FRAMES;
	p->loop = ADDRESS(PHP_LOOP);
	p->loop_bytes = AT(loop_bytes);
	p->cold = ADDRESS(PHP_COLD);
	p->cold_bytes = AT(cold_bytes);
	php->newest = php->file = php->met_file = php->instruction = 0;
	php->any = php->n_waiting = 0;
	if (runtime_u64(c, ADDRESS(PHP_GLOBALS) + AT(globals_frame), &php->frame, kind) ||
	    !ANEW(php->frame))
		return;
	if (runtime_in_loop(p, c->w->user.rip) && c->w->user.r14 == ANEW(php->frame))
		php->instruction = c->w->user.r15;
	php_step_all(c, kind);
}

/* ---- code of the JIT ---- */

#define PHP_GUARD 0x28 /* from the thread pointer: where the C library has its guard word */

/* Whether a call that returns to ra may be one of the loop: a direct one, or one by a pointer. */
INLINE int php_calls_loop(struct runtime_walk *p, __u64 ra, __u64 before)
{
	__u32 last = before >> 48;

	if ((before >> 24 & 0xff) == 0xe8)
		return ra + (__u64)((__s64)before >> 32) == ADDRESS(PHP_LOOP);
	/* call *%reg; call *(%reg); call *n(%rip) */
	return (last & 0xf8ff) == 0xd0ff || (last & 0xf8ff) == 0x10ff ||
	       (before >> 16 & 0xffff) == 0x15ff;
}

/* Whether the frame of a call of the loop ends there: its return address and its guard word are
 * where they would be. */
INLINE int php_is_loop_frame(struct walk *c, __u64 cfa, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct php *php = PHP(p);
	__u64 word;

	if (walk_read(c, cfa - 8, &php->op, 8, kind))
		return 0;
	word = ANEW(php->op);
	if (walk_read(c, word - 8, &php->op, 8, kind) || !php_calls_loop(p, word, ANEW(php->op)))
		return 0;
	if (!AT(guard))
		return 1;
	if (walk_read(c, cfa - AT(guard), &php->op, 8, kind))
		return 0;
	word = ANEW(php->op);
	return !walk_read(c, ANEW(p->thread) + PHP_GUARD, &php->op, 8, kind) &&
	       ANEW(php->op) == word;
}

/* The same of the code that is walked. It may be a short function that other such code called. */
INLINE int php_in_loop_frame(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;

	if (AT(frame_by_fp))
		return php_is_loop_frame(c, w->regs[REG_FP] + 16, kind);
	if (php_is_loop_frame(c, w->regs[REG_SP] + AT(frame_bytes), kind))
		return 1;
	if (!w->exact || !php_is_loop_frame(c, w->regs[REG_SP] + 8 + AT(frame_bytes), kind))
		return 0;
	w->regs[REG_SP] += 8;
	return 1;
}

/*
 * Code that PHP's JIT made is jumped to by the loop, and jumps back: it has no frame but that of
 * the loop's call, whose registers it leaves where they were. So the loop's own rule is true there.
 */
INLINE long php_undescribed(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u64 body, rule;

	if (!(w->at.flags & KWALK_MAY_GUESS) || !p || !ANEW(p->walk) ||
	    ANEW(PHP(p)->walk) != ANEW(p->walk) || !AT(body) || !php_in_loop_frame(c, kind))
		return 0;
	body = ADDRESS(PHP_LOOP) + AT(body);
	if (!walk_find(w, body))
		return 0;
	rule = walk_rule(w, body);
	if (!rule || !(arena_u64(rule) & 255))
		return 1 + walk_end(w, KWALK_NO_RULE);
	p->kept_own = 1;
	return 1 + (kind == WALK_NOW ? walk_by_rule_now(w, c->window, rule)
	                             : walk_by_rule(c, rule, kind));
}

#endif
