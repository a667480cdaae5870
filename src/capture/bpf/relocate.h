/* SPDX-License-Identifier: MIT */
/*
 * relocate.h: fits an object of BPF programs to the running kernel. libbpf would read the kernel's
 * whole BTF for each object, 5 MB and more, and search it for each type; here it is mapped once,
 * and libbpf is given a small one with the types that the object looks into, and the numbers of
 * what its programs are attached to.
 *
 *	relocate_begin(&r);
 *	relocate_want(&r, BTF_WANT_FUNC, "", "do_exit") ... // what else is to be known of it
 *	relocate_open(&r, bytes, size, &opts, &object);     // or relocate_find
 *	relocate_id(&r, "do_exit");
 *	bpf_object__load(object);
 *	relocate_end(&r);
 *
 * One at a time in each thread: libbpf asks for what is attached by hooks of the whole process.
 * Sections are named so that these are nobody else's.
 */
#ifndef SEAM_CAPTURE_BPF_RELOCATE_H
#define SEAM_CAPTURE_BPF_RELOCATE_H

#include <stdbool.h>
#include <stddef.h>

#include <bpf/libbpf.h>
#include <string.h>

#include "capture/btf_cut.h"

#define RELOCATE_BTF "/sys/kernel/btf/vmlinux"
#define RELOCATE_TARGETS 32

/* Options for libbpf, which refuses them where bytes behind its last member are not 0. An
 * initializer leaves such padding as it is: so did clang 14 with the address sanitizer. */
#define LIBBPF_ZEROED(opts) (memset(&(opts), 0, sizeof(opts)), (void)((opts).sz = sizeof(opts)))

struct relocate {
	void *bytes; /* the kernel's BTF */
	size_t size;
	bool mapped;
	int fd;        /* of the small one, in memory; -1: none */
	char path[32]; /* of fd */
	/* What programs are attached to, and what else is wanted. */
	struct btf_wanted targets[RELOCATE_TARGETS];
	char names[RELOCATE_TARGETS][96]; /* of these */
	size_t n_targets;
};

/* An object to be opened. */
struct relocate_object {
	const char *name; /* maps and programs show it */
	const void *bytes;
	size_t size;
	char *log; /* what the kernel says of a program that it refuses; NULL: to libbpf's print */
	size_t log_size;
};

/* -errno: the kernel's BTF cannot be read. relocate_end is due in any case. */
int relocate_begin(struct relocate *r);
/* Adds prefix and name to what is looked for. */
void relocate_want(struct relocate *r, enum btf_want kind, const char *prefix, const char *name);
/* Looks for it, if no object is to be opened. */
int relocate_find(struct relocate *r);
/* Opens an object whose sections are what libbpf calls tp_btf/NAME, fexit/NAME, iter/NAME and
 * iter.s/NAME, with seam_ before it, or need nothing of the kernel. A program that is attached to
 * what the kernel does not have must not be loaded. */
int relocate_open(struct relocate *r, const struct relocate_object *o, struct bpf_object **ret);
/* The number of what was wanted, or of what a program is attached to; 0: the kernel has none. */
uint32_t relocate_id(const struct relocate *r, const char *name);
void relocate_end(struct relocate *r);

/* Attaches a program of such an object, for as long as the descriptor that is returned is open.
 * -errno. */
int relocate_attach(const struct bpf_program *p);

#endif
