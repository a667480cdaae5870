/* SPDX-License-Identifier: MIT */
/*
 * hotspot.h: HotSpot, the virtual machine of OpenJDK: where its code and its methods are, by the
 * tables that it carries for its own debugger; what is inlined in compiled code; names and lines.
 * Memory of the process is read by a callback.
 *
 * Invariant: what is read may be anything, and may change while it is read. Numbers are bounded,
 * and nothing is said of code that was replaced meanwhile.
 */
#ifndef SEAM_RUNTIMES_HOTSPOT_H
#define SEAM_RUNTIMES_HOTSPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/hotspot_layout.h"
#include "runtimes/kinds.h"

int hotspot_find(struct runtime_object *ret, const struct runtime_source *source);
uint32_t hotspot_line(const struct runtime_lines *l, uint32_t at);

/* 0, or -errno: reads n bytes of the process. */
struct hotspot_memory {
	void *ctx;
	int (*read)(void *ctx, uint64_t address, void *to, size_t n);
};

/*
 * Fills *ret from a process's memory. address (HOTSPOT_ADDRESSES of them) is that of an object of
 * this kind, in the process, and gets the others'. -EAGAIN: the tables are not filled in yet, as
 * the process has only begun; -ENOTSUP: it is a version that is not known, or the tables are not
 * what they should be.
 */
int hotspot_describe(const struct hotspot_memory *memory, uint64_t *address,
                     struct hotspot_layout *ret);

/*
 * Says of a process where frames of virtual threads wait on its heap, in l->chunks: by the names of
 * fields of Java's classes. address as hotspot_describe() left it. Versions that have no such
 * threads, and what is not understood, have none: l->chunks.known is 0.
 */
void hotspot_find_chunks(const struct hotspot_memory *memory, const uint64_t *address,
                         struct hotspot_layout *l);

#define HOTSPOT_TEXT 512u
#define HOTSPOT_LINES_MOST 4096u

/* A method, as it is told to codes.h. */
struct hotspot_method {
	uint64_t key; /* of its contents */
	char scope[HOTSPOT_TEXT], name[HOTSPOT_TEXT], file[HOTSPOT_TEXT];
	uint16_t scope_bytes, name_bytes, file_bytes;
	bool scope_cut, name_cut, file_cut;
	unsigned char lines[HOTSPOT_LINES_MOST];
	size_t n_lines;
	unsigned lines_form;
};

/* 0; -errno: there is no method at that address. */
int hotspot_method(const struct hotspot_layout *layout, const struct hotspot_memory *memory,
                   uint64_t address, struct hotspot_method *ret);

/* A class's name as people write it, in place: java.lang.String. */
void hotspot_class(char *text, size_t n);

struct hotspot_place {
	uint64_t method; /* its address */
	uint32_t bci;    /* or HOTSPOT_NO_BCI */
};
#define HOTSPOT_INLINED 64u

/*
 * The methods that compiled code runs at pc (HOTSPOT_PC_EXACT), the innermost first: only those
 * that are sure. code is the nmethod, id its number. Returns how many, at least 1; -errno: the code
 * is not what it was.
 */
int hotspot_inlined(const struct hotspot_layout *layout, const struct hotspot_memory *memory,
                    uint64_t code, uint32_t id, uint32_t pc,
                    struct hotspot_place ret[HOTSPOT_INLINED]);

/* Whether the nmethod still has this number. */
bool hotspot_code_is(const struct hotspot_layout *layout, const struct hotspot_memory *memory,
                     uint64_t code, uint32_t id);

#endif
