/* SPDX-License-Identifier: MIT */
/*
 * bpf_known.h: objects that processes were found to have at a path, so that a program that is run
 * again and again costs no look at its files.
 *
 * Which file stands at a path depends on the mount namespace and the root of who asks: both are
 * part of the key, and so is the build-id that the kernel read from the mapped file, or its inode.
 * An answer holds for BPF_KNOWN_NS, one by an inode for BPF_KNOWN_INODE_NS: then the files are
 * looked at again.
 */
#ifndef SEAM_RECORDER_BPF_KNOWN_H
#define SEAM_RECORDER_BPF_KNOWN_H

#include <pthread.h>

#include "base/map.h"
#include "capture/bpf/kwalk.h"
#include "tables/tables.h"

#define BPF_KNOWN_NS 10000000000ull
/* What /proc says has no build-id, and a file may be written anew in its place: long enough for all
 * processes that are there when a recording begins. */
#define BPF_KNOWN_INODE_NS 1000000000ull
#define BPF_KNOWN_MAX 16384u /* answers; then all begin anew */
#define BPF_KNOWN_WHERE 64u

/* Where a process's paths lead. Zeros: it has ended, or must not be looked into; of an answer:
 * wherever it is. */
struct bpf_where {
	uint64_t space, device, root; /* the mount of its root, and that there */
};

/* Zero-initialise to start. */
struct bpf_known {
	pthread_mutex_t lock;
	struct map by_hash;
	struct bpf_answer *first;
	size_t n;
	/* Of processes that asked last. */
	struct bpf_whereabouts {
		struct bpf_where where;
		uint64_t until_ns;
		int32_t pid;
	} last[BPF_KNOWN_WHERE];
};

void bpf_known_init(struct bpf_known *k);
void bpf_known_free(struct bpf_known *k);
/* Where a process is. A process asks for many mappings at once: that it is where it was some
 * milliseconds ago is believed. */
struct bpf_where bpf_known_where(struct bpf_known *k, int32_t pid, uint64_t now_ns);
/* The object at ask->path with ask's build-id or inode; NULL: not known. *was (may be NULL): it was
 * known before, so looking again costs little. */
const struct tables_object *bpf_known_find(struct bpf_known *k, const struct kwalk_ask *ask,
                                           const struct bpf_where *where, uint64_t now_ns,
                                           bool *was);
/* Remembers it. Without memory it is looked for again. */
void bpf_known_put(struct bpf_known *k, const struct kwalk_ask *ask, const struct bpf_where *where,
                   uint64_t now_ns, const struct tables_object *object);

#endif
