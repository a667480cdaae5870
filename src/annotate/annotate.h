/* SPDX-License-Identifier: MIT */
/*
 * annotate.h: what the files of this room share. annotate_count.c finds the function that is meant
 * and counts samples per address, annotate_code.c finds its bytes and lines, annotate_jit.c those
 * of a jitdump, annotate_python.c the lines of an interpreter's function, annotate_insns.c makes
 * instructions of bytes, annotate_source.c reads source files, annotate_show.c writes;
 * annotate_page.c does for a page.
 */
#ifndef SEAM_ANNOTATE_ANNOTATE_H
#define SEAM_ANNOTATE_ANNOTATE_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"
#include "aggregate/load.h"
#include "dwarf/source_file.h"

#define ANNOTATE_IMAGES 4u                /* kept open */
#define ANNOTATE_BYTES_MAX (1u << 20)     /* of one function's code */
#define ANNOTATE_SOURCES_MAX (128u << 20) /* of all that are kept from one question to the next */

struct builds;

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
	size_t n, counts_capacity, vaddrs_capacity;
	struct annotate_count all, outside; /* outside: at addresses that no instruction has */
	struct annotate_insn *insns;        /* by address */
	size_t n_insns;
	struct annotate_hot_line *lines; /* by weight, descending */
	size_t n_lines;
	bool is_source;   /* insns are lines of source, without a text */
	char reason[512]; /* why there is no disassembly; "" */
	char lines_reason[256];
};

/* The maker sets what stands in front of name; rec and what names point to live longer. */
struct annotate {
	const struct image_search *search; /* where files are */
	const char *kernel_release;        /* of the recording; NULL: not known */
	const char *sources;     /* a directory that an archive was unpacked into; "": none */
	struct source_dirs dirs; /* whose sources the user allows to be shown */
	bool color, no_source;
	double percent_limit;
	struct recording *rec;
	struct load load;
	struct builds *builds;       /* page: of the profiles that are compared; NULL: it is one */
	const char *name;            /* of the function */
	struct buf place;            /* it, where an address was given, */
	uint32_t object;             /* and the only object that is meant; 0: any */
	uint32_t event;              /* of the profile */
	struct annotate_count whole; /* of the event */
	struct annotate_function *functions; /* by weight, descending */
	size_t n_functions, functions_capacity;
	/* Files that were read for their code last: one has many functions that are asked for. */
	struct annotate_image {
		uint32_t object; /* of the profile; 0: none */
		struct image *image;
	} images[ANNOTATE_IMAGES];
	size_t next_image; /* whose place is taken next */
	struct intern files;
	struct annotate_text {
		char *bytes;
		size_t n;
		size_t *starts; /* of lines */
		size_t n_lines;
		char *program; /* that names the file and is proven; NULL: none */
		const char
		        *reason; /* why what is there is not shown; NULL: it is, or is not there */
		bool tried;
	} * texts; /* by id in files */
	size_t texts_capacity;
	size_t texts_bytes;
};

/* ---- annotate_count.c: -ENOMEM ---- */

/* Sets a->name: the function of this name, or at this place; NULL: the one with most samples. It
 * stays NULL where no function with a name was hit. */
int annotate_choose(struct annotate *a, const char *symbol);
/* Sets a->event: the one with most samples in the function. *ret_several: an event before it has
 * samples there, too. */
int annotate_choose_event(struct annotate *a, bool *ret_several);
/* Counts the event's samples in the function, in each object that has one of its name. */
int annotate_count(struct annotate *a);
/* Counts samples at an address of a function. */
int annotate_count_at(struct annotate_function *f, uint64_t vaddr, uint64_t samples,
                      uint64_t weight);
void annotate_function_free(struct annotate_function *f);
void annotate_free(struct annotate *a);

/* ---- annotate_code.c ---- */

/* Finds the function that holds an address of an object, under the name that the profile uses: 1
 * and a->name, 0 or -ENOMEM. */
int annotate_name_at(struct annotate *a, uint32_t object, uint64_t vaddr);
/* Instructions and lines of a function, or .reason. -ENOMEM. */
int annotate_code(struct annotate *a, struct annotate_function *f);
void annotate_images_free(struct annotate *a);

/* ---- annotate_insns.c ---- */

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

/* ---- annotate_python.c ---- */

/* The function of an interpreter that a name is short for ("Class.method" or "py::Class.method"),
 * the one with most samples: its whole name; NULL: none was hit. */
const char *annotate_python_name(const struct annotate *a, const char *symbol);
/* The lines of a function that an interpreter runs. -ENOMEM. */
int annotate_python(struct annotate *a, struct annotate_function *f);

/* ---- annotate_source.c ---- */

/* A line of a source file without its end; NULL: the file is not here, or has no such line. */
const char *annotate_source(struct annotate *a, uint32_t file, uint32_t line, size_t *ret_n);
/* Says that a program, which is proven to be the one that was recorded, names the file. -ENOMEM. */
int annotate_source_named(struct annotate *a, uint32_t file, const char *program);
/* Why a file that was asked for is not shown, though it is there; NULL: it is, or is not there. */
const char *annotate_source_reason(const struct annotate *a, uint32_t file);
/* Says how many files are not shown for such a reason, and which is the first. False: none. */
bool annotate_source_refused(const struct annotate *a, struct buf *out);
void annotate_source_free(struct annotate *a);

/* ---- annotate_show.c ---- */

void annotate_text(struct annotate *a, struct buf *out);
void annotate_json(struct annotate *a, struct buf *out);

/* ---- annotate_page.c: as JSON for the page of export/flame ---- */

#define ANNOTATE_PAGE_BYTES (4u << 20) /* of all functions that are put into a page */
#define ANNOTATE_PAGE_FUNCTIONS 256u

/* The threads first to last. */
struct annotate_tids {
	uint32_t first, last;
};

/* Which samples are counted. Zeros: all. */
struct annotate_chosen {
	uint64_t from_ns, to_ns; /* to_ns 0: at any time; else only where samples are kept */
	const struct annotate_tids *tids; /* ascending; NULL: of all threads */
	size_t n_tids;
};

/* One function, by its name and its object's path as people are shown them (base/shown.h), where
 * profiles are compared by what builds_known calls the object: "parts", one for each place that has
 * its code. -ENOMEM. */
int annotate_page_function(struct annotate *a, const char *name, const char *object,
                           const struct annotate_chosen *chosen, struct buf *out);
/* The functions that most samples hit, as many as there is room for: bytes. -ENOMEM. */
int annotate_page_hottest(struct annotate *a, size_t bytes, struct buf *out);

#endif
