/* SPDX-License-Identifier: MIT */
/*
 * codes.h: the functions of interpreters that a recording has met: their names, once each, and the
 * addresses that stand for their lines (abi/runtime_code.h). Whoever walks frames gives each code
 * object a key that is made of its contents, so that a key never changes its meaning.
 */
#ifndef SEAM_RUNTIMES_CODES_H
#define SEAM_RUNTIMES_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/runtime_kind.h"

struct codes;

int codes_new(struct codes **ret);
void codes_free(struct codes *codes);

/* What is told of a piece of code. Texts are the interpreter's own characters, of `width` bytes; 0:
 * they are UTF-8. */
struct codes_text {
	const void *characters;
	size_t bytes;
	unsigned width;
	int cut; /* it goes on */
};
struct codes_told {
	enum runtime_kind kind;
	uint64_t key;
	uint32_t first_line;
	struct codes_text file, name, scope; /* of no bytes: there is none */
	const unsigned char *lines;          /* what its lines are found by */
	size_t n_lines;
	unsigned lines_form; /* as in struct runtime_lines */
	/* A frame that awaits the task that runs: it is not on the stack, and is named
	 * "py::async f:/path/x.py". */
	unsigned awaits;
};

/*
 * Learns a code object. 1: its name is new, *name ("py::f:/path/x.py") and *start are what the
 * recording must say; 0: the name is known. Code of one name, of any process, has one start.
 * -ENOMEM; -ENOSPC: there are too many.
 */
int codes_learn(struct codes *codes, const struct codes_told *told, const char **name,
                uint64_t *start);

bool codes_knows(const struct codes *codes, uint64_t key);

/* The address for an instruction of a code object, by its offset in bytes; 0: the key is not
 * known. */
uint64_t codes_address(struct codes *codes, uint64_t key, uint32_t offset);

/* The same with what is inlined there, the innermost first. Returns how many addresses there are,
 * of at most `room`, which is not 0; functions that are not known are counted in *unnamed. */
size_t codes_addresses(struct codes *codes, uint64_t key, uint32_t offset, uint64_t *to,
                       size_t room, uint64_t *unnamed);

#endif
