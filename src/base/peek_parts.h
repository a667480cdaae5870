/* SPDX-License-Identifier: MIT */
/* peek_parts.h: what peek.c and the processes of peek_reader.c say to each other. */
#ifndef SEAM_BASE_PEEK_PARTS_H
#define SEAM_BASE_PEEK_PARTS_H

#include <stddef.h>
#include <stdint.h>

#define PEEK_PATH 4096u
#define PEEK_PIECE 32768u
#define PEEK_LANES 4 /* questions at once */
#define PEEK_END 255 /* to the keeper */

enum peek_kind {
	PEEK_MEMORY,
	PEEK_FILE,
	PEEK_MAPS, /* of a file of that form, as struct peek_map */
};

/* A question: as many bytes of the path as it has, with its NUL. */
struct peek_question {
	uint64_t number; /* counts up: an answer to an older question is passed over */
	uint64_t at, n;  /* n: most bytes */
	uint32_t pid;    /* of memory */
	uint32_t kind;   /* enum peek_kind */
	char path[PEEK_PATH];
};

/* A piece of an answer. */
struct peek_answer {
	uint64_t number;
	int32_t error; /* -errno; 0 */
	uint32_t last; /* no more pieces come */
	unsigned char bytes[PEEK_PIECE];
};

/* Takes a piece with n bytes: < 0 ends the answer. */
typedef int (*peek_give)(void *ctx, struct peek_answer *a, size_t n);

/* Answers a question. */
void peek_reader_answer(const struct peek_question *q, struct peek_answer *a, peek_give give,
                        void *ctx);

/*
 * The process that keeps readers. Its descriptor 0 is a socket to say what is wanted: for the
 * number of a lane, a byte, it makes another reader of that lane, leaves the one before behind, and
 * says the new one's number (0: none can be had). It ends at PEEK_END, or when nobody holds the
 * other end. From 1 on: where questions of each lane come. Called in a child of a process with
 * threads: it calls nothing that takes memory.
 */
_Noreturn void peek_reader_keep(void);

#endif
