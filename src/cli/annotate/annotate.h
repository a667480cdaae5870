/* SPDX-License-Identifier: MIT */
/*
 * annotate.h: what the files of `seam annotate` share. annotate.c takes the command line and counts
 * samples per address, annotate_code.c makes instructions and lines of a function's bytes,
 * annotate_jit.c of a jitdump's, annotate_source.c reads source files, annotate_show.c writes.
 */
#ifndef SEAM_CLI_ANNOTATE_H
#define SEAM_CLI_ANNOTATE_H

#include "base/intern.h"
#include "base/map.h"
#include "input/infile.h"
#include "input/naming.h"
#include "input/sample_filter.h"
#include "aggregate/load.h"

#define ANNOTATE_BYTES_MAX (1u << 20)   /* of one function's code */
#define ANNOTATE_SOURCE_MAX (16u << 20) /* of one source file */

struct annotate_count {
	uint64_t samples, weight;
};

struct annotate_insn {
	uint64_t address;
	unsigned size;
	char *text;
	uint32_t file; /* id in annotate.files; 0: not known */
	uint32_t line;
	struct annotate_count count;
};

struct annotate_hot_line {
	uint32_t file, line;
	struct annotate_count count;
};

/* One function of one object. */
struct annotate_function {
	uint32_t object;      /* of the profile */
	uint64_t start, size; /* vaddr, bytes */
	struct map addresses; /* vaddr -> place in counts */
	struct annotate_count *counts;
	uint64_t *vaddrs;
	size_t n, capacity;
	struct annotate_count all, outside; /* outside: at addresses that no instruction has */
	struct annotate_insn *insns;        /* by address */
	size_t n_insns;
	struct annotate_hot_line *lines; /* by weight, descending */
	size_t n_lines;
	char reason[512]; /* why there is no disassembly; "" */
	char lines_reason[256];
};

struct annotate {
	const struct cmd *cmd;
	struct infile in;
	struct naming naming;
	struct sample_filter filter;
	const char *symbol; /* as given; NULL: the one with most samples */
	bool json, no_source;
	double percent_limit;
	struct recording *rec;
	struct load load;
	const char *name;                    /* of the function */
	struct buf place;                    /* it, where an address was given, */
	uint32_t object;                     /* and the only object that is meant; 0: any */
	uint32_t event;                      /* of the profile */
	struct annotate_count whole;         /* of the event */
	struct annotate_function *functions; /* by weight, descending */
	size_t n_functions;
	struct intern files;
	struct annotate_text {
		char *bytes;
		size_t n;
		size_t *starts; /* of lines */
		size_t n_lines;
		bool tried;
	} * texts; /* by id in files */
	size_t texts_capacity;
};

/* ---- annotate_code.c ---- */

/* Finds the function that holds an address of an object, under the name that the profile uses: 1
 * and a->name, 0 or -ENOMEM. */
int annotate_name_at(struct annotate *a, uint32_t object, uint64_t vaddr);
/* Instructions and lines of a function, or .reason. -ENOMEM. */
int annotate_code(struct annotate *a, struct annotate_function *f);
struct annotate_bytes {
	const unsigned char *bytes;
	unsigned machine; /* EM_* */
	bool is_big_endian;
};
/* Makes f->insns of f->size bytes of code that begin at f->start, or sets f->reason. -ENOMEM. */
int annotate_disassemble(struct annotate_function *f, const struct annotate_bytes *code);

/* ---- annotate_jit.c ---- */

/* The same for code that a process made. */
int annotate_jit(struct annotate *a, struct annotate_function *f, uint32_t pid);

/* ---- annotate_source.c ---- */

/* A line of a source file without its end; NULL: the file is not here, or has no such line. */
const char *annotate_source(struct annotate *a, uint32_t file, uint32_t line, size_t *ret_n);
void annotate_source_free(struct annotate *a);

/* ---- annotate_show.c ---- */

void annotate_text(struct annotate *a, struct buf *out);
void annotate_json(struct annotate *a, struct buf *out);

#endif
