// SPDX-License-Identifier: MIT
/*
 * python.c: see python.h. The offsets come from CPython's own headers, one row for each minor
 * version, which never changes them (gdb's `ptype /o` says the same of builds with debugging
 * information); 3.13 and later begin _PyRuntime with a table of their own,
 * which is believed before a row. Whatever an object says, offsets are bounded.
 */
#include "runtimes/python.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "runtimes/loop.h"

#define PYTHON_COOKIE "xdebugpy"  /* _PyRuntime begins with it if it has a table */
#define PYTHON_OFFSET_MAX 65536u  /* of the interpreter's state, the largest by far */
#define PYTHON_FRAME_MAX 128u     /* that much of a frame is read at most */
#define PYTHON_OBJECT_MORE 16u    /* bytes of an object's head in a free-threaded build */
#define PYTHON_CODE_MAX 256u      /* where a code object's instructions begin at the latest */
#define PYTHON_VERSION_BEHIND 24u /* a code object's number, behind its first line (co_version) */
#define PYTHON_LOOP_LEAST 4096u   /* bytes of a loop that has all instructions in it */
#define PYTHON_OBJECT_MAX 144u    /* that much of a task or coroutine is read at most */

/* What 3.8, 3.9 and 3.10 have in common: frames are objects, and a code object has its instructions
 * elsewhere. */
#define PYTHON_OBJECT_FRAMES                                                                      \
	.runtime_interpreters = 32, .interpreter_next = 0, .interpreter_threads = 8,              \
	.thread_next = 8, .thread_id = 176, .thread_frame = 24, .frame_previous = 24,             \
	.frame_code = 32, .owner_entry = PYTHON_NO_OWNER, .code_instructions = 176,               \
	.code_line = 40, .code_file = 104, .code_name = 112, .code_lines = 120, .text_ascii = 48, \
	.text_other = 72, .text_kind = 2

/* Versions whose _PyRuntime has no table of its own. */
static const struct python_layout python_layouts[] = {
	{
	        .version = 0x0308,
	        .entry = PYTHON_ENTRY_CALL,
	        PYTHON_OBJECT_FRAMES,
	        .frame_size = 112,
	        .frame_instruction = 104,
	        .lines = PYTHON_LINES_LNOTAB,
	},
	{
	        .version = 0x0309,
	        .entry = PYTHON_ENTRY_CALL,
	        PYTHON_OBJECT_FRAMES,
	        .frame_size = 112,
	        .frame_instruction = 104,
	        .lines = PYTHON_LINES_LNOTAB,
	},
	{
	        .version = 0x030a,
	        .entry = PYTHON_ENTRY_CALL_CFRAME,
	        PYTHON_OBJECT_FRAMES,
	        .thread_cframe = 48,
	        .thread_root = 264,
	        .cframe_previous = 8,
	        .frame_size = 104,
	        .frame_instruction = 96,
	        .instruction_shift = 1,
	        .lines = PYTHON_LINES_310,
	},
	{
	        .version = 0x030b,
	        .entry = PYTHON_ENTRY_CFRAME,
	        .runtime_interpreters = 40,
	        .interpreter_next = 0,
	        .interpreter_threads = 16,
	        .thread_next = 8,
	        .thread_id = 152,
	        .thread_frame = 56,
	        .cframe_frame = 8,
	        .cframe_previous = 16,
	        .frame_size = 72,
	        .frame_previous = 48,
	        .frame_code = 32,
	        .frame_instruction = 56,
	        .frame_owner = 69,
	        .frame_entry = 68,
	        .frame_function = 0,
	        .function_code = 48,
	        .function_version = 128,
	        .owner_entry = PYTHON_NO_OWNER,
	        .code_instructions = 184,
	        .code_line = 72,
	        .code_file = 112,
	        .code_name = 128,
	        .code_lines = 136,
	        .text_ascii = 48,
	        .text_other = 72,
	        .text_kind = 2,
	},
	{
	        .version = 0x030c,
	        .entry = PYTHON_ENTRY_FRAME_BY_CFRAME,
	        .runtime_interpreters = 40,
	        .interpreter_next = 0,
	        .interpreter_threads = 72,
	        .thread_next = 8,
	        .thread_id = 136,
	        .thread_frame = 56,
	        .cframe_frame = 0,
	        .cframe_previous = 8,
	        .frame_size = 72,
	        .frame_previous = 8,
	        .frame_code = 0,
	        .frame_instruction = 56,
	        .frame_owner = 70,
	        .owner_entry = 3, /* FRAME_OWNED_BY_CSTACK */
	        .code_instructions = 192,
	        .code_line = 68,
	        .code_version = 68 + PYTHON_VERSION_BEHIND,
	        .code_file = 112,
	        .code_name = 128,
	        .code_lines = 136,
	        .text_ascii = 40,
	        .text_other = 56,
	        .text_kind = 2,
	},
};

/* What stands in a version's own table of offsets, as words behind its first two. CPython has it
 * for debuggers (_Py_DebugOffsets). */
struct python_words {
	uint32_t version;
	uint32_t words; /* that are read */
	/* numbers of words */
	uint8_t runtime_interpreters, interpreter_next, interpreter_threads, thread_next,
	        thread_frame, thread_id, frame_previous, frame_code, frame_instruction, frame_owner,
	        code_file, code_name, code_lines, code_line, code_instructions;
	/* of a free-threaded build; 0: code is not copied for each thread */
	uint8_t frame_copy, code_copies;
	/* text_kind_free: of a free-threaded build; 0: that of this version is not known */
	uint8_t text_kind, text_kind_free;
	uint8_t owner_entry;
	uint8_t has_base;
	/* asyncio's tasks. task_behind: so many bytes behind what thread_size says of a thread's
	 * state it has the task that runs; 0: this version does not say who awaits a task */
	uint8_t thread_size, task_behind, frame_stack, type_name, coroutine_frame, coroutine_state;
	uint8_t set_used, set_table, set_mask, awaited_below;
	int8_t state_awaits;
};

#define PYTHON_WORDS_MAX 104u
#define PYTHON_INTERPRETER_ID 7u /* the word, in all of them */

/* Where a task (TaskObj) has what is asked of it, in 3.14 and 3.15: no table says it but one in a
 * module, which need not be loaded yet (tests/system/python_tasks.sh compares). A task is believed
 * only if its type has that name. */
#define PYTHON_TASK_AWAITED_BY 96u
#define PYTHON_TASK_FLAGS 108u
#define PYTHON_TASK_COROUTINE 128u

/* A version orders its words anew, so that one that is not here is refused. */
static const struct python_words python_tables[] = {
	{
	        .version = 0x030d,
	        .words = 44,
	        .runtime_interpreters = 5,
	        .interpreter_next = 8,
	        .interpreter_threads = 9,
	        .thread_next = 21,
	        .thread_frame = 23,
	        .thread_id = 24,
	        .frame_previous = 29,
	        .frame_code = 30,
	        .frame_instruction = 31,
	        .frame_owner = 33,
	        .code_file = 35,
	        .code_name = 37,
	        .code_lines = 38,
	        .code_line = 39,
	        .code_instructions = 43,
	        .text_kind = 2,
	        .text_kind_free = 2,
	        .owner_entry = 3, /* FRAME_OWNED_BY_CSTACK */
	},
	{
	        .version = 0x030e,
	        .words = 87,
	        .runtime_interpreters = 5,
	        .interpreter_next = 8,
	        .interpreter_threads = 9,
	        .thread_next = 24,
	        .thread_frame = 26,
	        .thread_id = 27,
	        .frame_previous = 32,
	        .frame_code = 33,
	        .frame_instruction = 34,
	        .frame_owner = 36,
	        .code_file = 40,
	        .code_name = 42,
	        .code_lines = 43,
	        .code_line = 44,
	        .code_instructions = 48,
	        .text_kind = 2,
	        .text_kind_free = 8,
	        .frame_copy = 38,
	        .code_copies = 49,
	        .owner_entry = 3, /* FRAME_OWNED_BY_INTERPRETER */
	        .thread_size = 22,
	        .task_behind = 40,
	        .frame_stack = 37,
	        .type_name = 53,
	        .set_used = 63,
	        .set_table = 64,
	        .set_mask = 65,
	        .coroutine_frame = 85,
	        .coroutine_state = 86,
	        .awaited_below = 8,
	        .state_awaits = -1, /* FRAME_SUSPENDED_YIELD_FROM */
	},
	{
	        .version = 0x030f,
	        .words = 103,
	        .runtime_interpreters = 5,
	        .interpreter_next = 8,
	        .interpreter_threads = 9,
	        .thread_next = 24,
	        .thread_frame = 26,
	        .thread_id = 30,
	        .frame_previous = 40,
	        .frame_code = 41,
	        .frame_instruction = 42,
	        .frame_owner = 44,
	        .code_file = 48,
	        .code_name = 50,
	        .code_lines = 51,
	        .code_line = 52,
	        .code_instructions = 56,
	        .text_kind = 2,
	        .owner_entry = 3, /* FRAME_OWNED_BY_INTERPRETER */
	        .has_base = 1,    /* base_frame of the thread state */
	        .thread_size = 22,
	        .task_behind = 144, /* that frame's bytes, and 56 */
	        .frame_stack = 45,
	        .type_name = 61,
	        .set_used = 75,
	        .set_table = 76,
	        .set_mask = 77,
	        .coroutine_frame = 101,
	        .coroutine_state = 102,
	        .awaited_below = 16,
	        .state_awaits = 2, /* FRAME_SUSPENDED_YIELD_FROM */
	},
};

/* Likewise, of what leads to who awaits a task. */
static bool python_tasks_sound(const struct python_layout *l)
{
	const uint32_t in_set[] = { l->set_used, l->set_table, l->set_mask };

	for (size_t i = 0; i < sizeof(in_set) / sizeof(in_set[0]); i++)
		if (in_set[i] % 8 || in_set[i] + 8 > PYTHON_OBJECT_MAX)
			return false;
	return l->thread_task <= PYTHON_OFFSET_MAX && l->type_name <= PYTHON_OFFSET_MAX &&
	       l->coroutine_state < PYTHON_OBJECT_MAX &&
	       l->coroutine_frame <= 4 * PYTHON_OBJECT_MAX && !(l->frame_stack % 8) &&
	       l->frame_stack + 8 <= l->frame_size;
}

/* Whether nothing is read out of bounds by these offsets: they come from a file that the user runs,
 * and the programs in the kernel read by them. */
static bool python_is_sound(const struct python_layout *l)
{
	const uint32_t in_code[] = { l->code_line, l->code_file, l->code_name, l->code_lines };
	const uint32_t in_frame[] = { l->frame_previous, l->frame_code, l->frame_instruction };
	const uint32_t any[] = { l->runtime_interpreters,
		                 l->interpreter_id,
		                 l->interpreter_next,
		                 l->interpreter_threads,
		                 l->thread_next,
		                 l->thread_frame,
		                 l->thread_id,
		                 l->thread_cframe,
		                 l->thread_root };

	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++)
		if (any[i] > PYTHON_OFFSET_MAX)
			return false;
	for (size_t i = 0; i < sizeof(in_code) / sizeof(in_code[0]); i++)
		if (l->code_instructions > PYTHON_CODE_MAX || in_code[i] % 4 ||
		    in_code[i] + 8 > l->code_instructions)
			return false;
	for (size_t i = 0; i < sizeof(in_frame) / sizeof(in_frame[0]); i++)
		if (l->frame_size > PYTHON_FRAME_MAX || in_frame[i] % 8 ||
		    in_frame[i] + 8 > l->frame_size)
			return false;
	if (l->code_version % 4 || l->code_version + 4 > l->code_instructions)
		return false;
	if (l->thread_task && !python_tasks_sound(l))
		return false;
	if (l->code_copies && (l->code_copies % 8 || l->code_copies + 8 > l->code_instructions ||
	                       l->frame_copy % 4 || l->frame_copy + 4 > l->frame_size))
		return false;
	return l->frame_owner < l->frame_size && l->frame_entry < l->frame_size;
}

/* A value that is too large becomes one that python_is_sound refuses. */
static uint32_t python_word(const uint64_t *words, uint8_t i)
{
	return words[i] > PYTHON_OFFSET_MAX ? PYTHON_OFFSET_MAX + 1 : (uint32_t)words[i];
}

/* An offset within a code object of a free-threaded build, from where the head of another build
 * would begin. */
static uint32_t python_behind_head(uint32_t offset)
{
	return offset < PYTHON_OBJECT_MORE ? PYTHON_OFFSET_MAX + 1 : offset - PYTHON_OBJECT_MORE;
}

/* What leads from a thread to those who await the task that it runs. */
static void python_tasks(struct python_layout *l, const struct python_words *t,
                         const uint64_t *words)
{
	l->thread_task = python_word(words, t->thread_size) + t->task_behind;
	l->task_awaited_by = PYTHON_TASK_AWAITED_BY;
	l->task_flags = PYTHON_TASK_FLAGS;
	l->task_coroutine = PYTHON_TASK_COROUTINE;
	l->coroutine_frame = python_word(words, t->coroutine_frame);
	l->coroutine_state = python_word(words, t->coroutine_state);
	l->state_awaits = (uint8_t)t->state_awaits;
	l->frame_stack = python_word(words, t->frame_stack);
	l->awaited_below = t->awaited_below;
	l->type_name = python_word(words, t->type_name);
	l->set_used = python_word(words, t->set_used);
	l->set_table = python_word(words, t->set_table);
	l->set_mask = python_word(words, t->set_mask);
}

/* Of a free-threaded build: the head of each object is longer (ob_type is its last word here as
 * there), and since 3.14 a code object has a copy of its instructions for each thread. */
static void python_free_threaded(struct python_layout *l, const struct python_words *t,
                                 const uint64_t *words)
{
	uint32_t *in_code[] = { &l->code_instructions, &l->code_line, &l->code_file, &l->code_name,
		                &l->code_lines };
	uint32_t *of_tasks[] = { &l->coroutine_frame, &l->coroutine_state, &l->set_used,
		                 &l->set_table, &l->set_mask };

	for (size_t i = 0; t->task_behind && i < sizeof(of_tasks) / sizeof(of_tasks[0]); i++)
		*of_tasks[i] = python_behind_head(*of_tasks[i]);
	l->text_kind = t->text_kind_free;
	l->object_more = PYTHON_OBJECT_MORE;
	for (size_t i = 0; i < sizeof(in_code) / sizeof(in_code[0]); i++)
		*in_code[i] = python_behind_head(*in_code[i]);
	if (t->code_copies) {
		l->frame_copy = python_word(words, t->frame_copy);
		l->code_copies = python_behind_head(python_word(words, t->code_copies));
	}
}

/* Fills a layout by the object's own table, whose first words are the cookie, the version, and
 * whether the build is free-threaded. -ENOTSUP: this version's table has not been learnt. */
static int python_describe(struct python_layout *ret, const struct runtime_source *source,
                           uint64_t runtime)
{
	uint64_t words[PYTHON_WORDS_MAX];
	const struct python_words *t = NULL;
	int r = source->read(source->ctx, runtime, words, 3 * sizeof(*words));

	if (r < 0)
		return r;
	ret->version = (uint32_t)(words[1] >> 16);
	for (size_t i = 0; i < sizeof(python_tables) / sizeof(python_tables[0]); i++)
		if (python_tables[i].version == ret->version)
			t = &python_tables[i];
	if (!t || words[2] > 1 || (words[2] && !t->text_kind_free))
		return -ENOTSUP;
	r = source->read(source->ctx, runtime, words, t->words * sizeof(*words));
	if (r < 0)
		return r;
	*ret = (struct python_layout){
		.version = t->version,
		.entry = PYTHON_ENTRY_FRAME,
		.runtime_interpreters = python_word(words, t->runtime_interpreters),
		.interpreter_next = python_word(words, t->interpreter_next),
		.interpreter_id = python_word(words, PYTHON_INTERPRETER_ID),
		.interpreter_threads = python_word(words, t->interpreter_threads),
		.thread_next = python_word(words, t->thread_next),
		.thread_id = python_word(words, t->thread_id),
		.thread_frame = python_word(words, t->thread_frame),
		.frame_previous = python_word(words, t->frame_previous),
		.frame_code = python_word(words, t->frame_code),
		.frame_instruction = python_word(words, t->frame_instruction),
		.frame_owner = python_word(words, t->frame_owner),
		.owner_entry = t->owner_entry,
		.has_base = t->has_base,
		.code_instructions = python_word(words, t->code_instructions),
		.code_line = python_word(words, t->code_line),
		.code_file = python_word(words, t->code_file),
		.code_name = python_word(words, t->code_name),
		.code_lines = python_word(words, t->code_lines),
		/* sizeof(PyASCIIObject) and sizeof(PyCompactUnicodeObject), as in 3.12 */
		.text_ascii = 40,
		.text_other = 56,
		.text_kind = t->text_kind,
	};
	if (t->task_behind)
		python_tasks(ret, t, words);
	if (words[2])
		python_free_threaded(ret, t, words);
	/* Numbers of code objects are of use only where interpreters have their own. */
	if (ret->interpreter_id)
		ret->code_version = ret->code_line + PYTHON_VERSION_BEHIND;
	/* No more of a frame is read than up to its last field. */
	ret->frame_size = ret->frame_owner + 1;
	return 0;
}

/* Which minor version an object without Py_Version is, by a function that is new in it: 3.8 to
 * 3.10. */
static uint32_t python_older(const struct runtime_source *source)
{
	static const struct {
		uint32_t version;
		const char *since;
	} older[] = { { 0x030a, "PyIter_Send" },
		      { 0x0309, "PyFrame_GetCode" },
		      { 0x0308, "PyCode_NewWithPosOnlyArgs" } };
	uint64_t at;

	for (size_t i = 0; i < sizeof(older) / sizeof(older[0]); i++)
		if (source->symbol(source->ctx, older[i].since, &at, NULL) >= 0)
			return older[i].version;
	return 0;
}

/* By Py_Version, which 3.11 and later have: the major and minor number are in its upper 16 of 32
 * bits. */
static int python_by_version(struct python_layout *ret, const struct runtime_source *source)
{
	uint64_t at, version;

	if (source->symbol(source->ctx, "Py_Version", &at, NULL) < 0)
		ret->version = python_older(source);
	else if (source->read(source->ctx, at, &version, sizeof(version)) >= 0)
		ret->version = (uint32_t)version >> 16;
	for (size_t i = 0; i < sizeof(python_layouts) / sizeof(python_layouts[0]); i++)
		if (python_layouts[i].version == ret->version) {
			*ret = python_layouts[i];
			return 0;
		}
	return -ENOTSUP;
}

/* Where the loop's code is. -ENOTSUP: it is not known for sure. */
static int python_loop(struct runtime_object *o, struct python_layout *layout,
                       const struct runtime_source *source)
{
	struct loop loop = { .start = 0 };
	int r = source->symbol(source->ctx, "_PyEval_EvalFrameDefault", &loop.start, &loop.bytes);

	if (r >= 0)
		r = loop_find(&loop, source);
	if (r < 0)
		return r == -ENOMEM ? r : -ENOTSUP;
	/* A small one jumps to pieces of code that run functions (3.14, if built so). */
	if (loop.bytes >= PYTHON_LOOP_LEAST)
		o->loops[0] = (struct runtime_code){ loop.start, loop.bytes };
	o->loops[1] = (struct runtime_code){ loop.cold, loop.cold_bytes };
	if (layout->entry != PYTHON_ENTRY_CALL)
		return 0;
	o->address[PYTHON_LOOP] = loop.start;
	o->address[PYTHON_COLD] = loop.cold;
	layout->loop_bytes = (uint32_t)loop.bytes;
	layout->cold_bytes = (uint32_t)loop.cold_bytes;
	return 0;
}

/* Where the loop makes room on the stack: at the first "sub $bytes, %rsp" of its code, of the form
 * with 32 bits. Without it, frames of a call that begins are not told from old ones. */
static void python_loop_begins(struct runtime_object *o, struct python_layout *layout,
                               const struct runtime_source *source)
{
	static const unsigned char sub[] = { 0x48, 0x81, 0xec };
	unsigned char code[64];
	uint64_t start;

	if (source->symbol(source->ctx, "_PyEval_EvalFrameDefault", &start, NULL) < 0 ||
	    source->read(source->ctx, start, code, sizeof(code)) < 0)
		return;
	o->address[PYTHON_LOOP] = start;
	for (uint32_t i = 0; i + sizeof(sub) + 4 <= sizeof(code); i++)
		if (!memcmp(code + i, sub, sizeof(sub))) {
			memcpy(&layout->loop_frame, code + i + sizeof(sub), 4);
			layout->loop_begins = i + sizeof(sub) + 4;
			return;
		}
}

/* The types of what a coroutine awaits. */
static int python_awaits(struct runtime_object *o, const struct runtime_source *source)
{
	static const struct {
		enum python_address address;
		const char *name;
	} types[] = { { PYTHON_COROUTINE_TYPE, "PyCoro_Type" },
		      { PYTHON_GENERATOR_TYPE, "PyGen_Type" },
		      { PYTHON_ASYNC_GENERATOR_TYPE, "PyAsyncGen_Type" },
		      { PYTHON_ASEND_TYPE, "_PyAsyncGenASend_Type" } };
	int r = 0;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]) && r >= 0; i++)
		r = source->symbol(source->ctx, types[i].name, &o->address[types[i].address], NULL);
	return r;
}

_Static_assert(sizeof(struct python_layout) <= RUNTIME_LAYOUT_WORDS * 8, "RUNTIME_LAYOUT_WORDS");

/* A table of the object's own is believed before a row of ours. */
int python_find(struct runtime_object *ret, const struct runtime_source *source)
{
	struct python_layout layout = { .version = 0 };
	char cookie[8];
	int r = source->symbol(source->ctx, "_PyRuntime", &ret->address[PYTHON_RUNTIME], NULL);

	if (r < 0)
		return -ENOENT;
	r = source->symbol(source->ctx, "PyCode_Type", &ret->address[PYTHON_CODE_TYPE], NULL);
	if (r >= 0 &&
	    source->read(source->ctx, ret->address[PYTHON_RUNTIME], cookie, sizeof(cookie)) >= 0 &&
	    !memcmp(cookie, PYTHON_COOKIE, sizeof(cookie)))
		r = python_describe(&layout, source, ret->address[PYTHON_RUNTIME]);
	else if (r >= 0)
		r = python_by_version(&layout, source);
	if (r >= 0 && !python_is_sound(&layout))
		r = -ENOTSUP;
	if (r >= 0 && layout.thread_task && python_awaits(ret, source) < 0)
		layout.thread_task = 0;
	if (r >= 0) {
		int loop = python_loop(ret, &layout, source);

		/* Others show their calls themselves. */
		if (layout.entry == PYTHON_ENTRY_CALL)
			r = loop;
	}
	if (r >= 0 && layout.entry != PYTHON_ENTRY_CALL &&
	    layout.entry != PYTHON_ENTRY_CALL_CFRAME && layout.entry != PYTHON_ENTRY_FRAME)
		python_loop_begins(ret, &layout, source);
	memcpy(ret->layout, &layout, sizeof(layout));
	return r < 0 ? -ENOTSUP : 0;
}

/* ---- lines ---- */

#define LINES_FIRST 0x80u
#define LINES_UNIT 2u /* bytes of an instruction */
enum {
	LINES_SHORT = 10, /* below it; 10 to 12: no, one or two lines on */
	LINES_NO_COLUMNS = 13,
	LINES_LONG = 14,
	LINES_NONE = 15,
};

/* A number of 6 bits a byte, the lowest first; its lowest bit is the sign. */
static int64_t python_signed(const unsigned char *table, size_t n, size_t at)
{
	uint64_t v = 0;
	unsigned shift = 0;

	/* Six bytes hold any difference of two lines. */
	for (; at < n && shift < 36; at++, shift += 6) {
		v |= (uint64_t)(table[at] & 63) << shift;
		if (!(table[at] & 64))
			break;
	}
	return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

/*
 * Goes through the entries of the table up to the one that has the instruction: each adds to the
 * line of the one before. An entry's first byte has its highest bit set and says a kind (4 bits)
 * and a length in instructions (3 bits); the form is that of co_linetable since 3.11. 0: the
 * instruction has no line.
 */
static uint32_t python_line_311(const unsigned char *table, size_t n, uint32_t first_line,
                                uint32_t offset)
{
	int64_t line = first_line;
	uint64_t end = 0;

	for (size_t at = 0; at < n;) {
		unsigned code = table[at] >> 3 & 15;

		if (!(table[at] & LINES_FIRST))
			return 0;
		end += (uint64_t)((table[at] & 7) + 1) * LINES_UNIT;
		at++;
		if (code == LINES_NO_COLUMNS || code == LINES_LONG)
			line += python_signed(table, n, at);
		else if (code >= LINES_SHORT && code < LINES_NO_COLUMNS)
			line += code - LINES_SHORT;
		if (offset < end)
			return code == LINES_NONE || line <= 0 || line > INT32_MAX ? 0
			                                                           : (uint32_t)line;
		/* Columns are passed over: the next entry begins with the highest bit set. */
		while (at < n && !(table[at] & LINES_FIRST))
			at++;
	}
	return 0;
}

/* co_linetable of 3.10: pairs of how many bytes of instructions, and by how much their line differs
 * from that of the pair before; -128: they have none. */
static uint32_t python_line_310(const unsigned char *table, size_t n, uint32_t first_line,
                                uint32_t offset)
{
	int64_t line = first_line;
	uint64_t end = 0;

	for (size_t at = 0; at + 2 <= n; at += 2) {
		int differs = (signed char)table[at + 1];

		end += table[at];
		line += differs == -128 ? 0 : differs;
		if (offset < end)
			return differs == -128 || line <= 0 || line > INT32_MAX ? 0
			                                                        : (uint32_t)line;
	}
	return 0;
}

/* co_lnotab of 3.8 and 3.9: pairs of how many bytes of instructions the line before has, and by how
 * much the next differs. The last line has all that follows. */
static uint32_t python_line_lnotab(const unsigned char *table, size_t n, uint32_t first_line,
                                   uint32_t offset)
{
	int64_t line = first_line;
	uint64_t end = 0;

	for (size_t at = 0; at + 2 <= n; at += 2) {
		end += table[at];
		if (end > offset)
			break;
		line += (signed char)table[at + 1];
	}
	return line <= 0 || line > INT32_MAX ? 0 : (uint32_t)line;
}

/* A frame of which no instruction has run yet stands in front of the first one: it is where its
 * function begins, as CPython says itself. */
uint32_t python_line(const struct runtime_lines *l, uint32_t offset)
{
	if (offset > INT32_MAX)
		return l->first_line <= INT32_MAX ? l->first_line : 0;
	if (l->form == PYTHON_LINES_310)
		return python_line_310(l->bytes, l->n, l->first_line, offset);
	if (l->form == PYTHON_LINES_LNOTAB)
		return l->n ? python_line_lnotab(l->bytes, l->n, l->first_line, offset)
		            : l->first_line;
	return python_line_311(l->bytes, l->n, l->first_line, offset);
}
