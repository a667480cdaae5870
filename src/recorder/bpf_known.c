// SPDX-License-Identifier: MIT
/*
 * bpf_known.c: see bpf_known.h. Answers are compared as a whole: a hash finds them, and decides
 * over nothing.
 */
#include "recorder/bpf_known.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WHERE_NS 10000000ull

struct bpf_answer {
	struct bpf_answer *same, *next; /* of the same hash; of all */
	const struct tables_object *object;
	struct bpf_where where;
	uint64_t until_ns;
	uint64_t inode; /* 0: it is known by its build-id */
	struct image_build_id id;
	char path[];
};

void bpf_known_init(struct bpf_known *k)
{
	pthread_mutex_init(&k->lock, NULL);
}

/* Under the lock, or when nobody else is there any more. */
static void bpf_known_clear(struct bpf_known *k)
{
	for (struct bpf_answer *a = k->first, *next; a; a = next) {
		next = a->next;
		free(a);
	}
	map_free(&k->by_hash);
	k->first = NULL;
	k->n = 0;
}

void bpf_known_free(struct bpf_known *k)
{
	bpf_known_clear(k);
	pthread_mutex_destroy(&k->lock);
}

/* Asks /proc. What cannot be read is zeros. Every mount of a namespace is its own, so the number of
 * the one that the root lies on tells namespaces apart (from Linux 5.8 on). */
static struct bpf_where bpf_known_look(int32_t pid)
{
	struct statx root;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT, STATX_INO | STATX_MNT_ID, &root) < 0 ||
	    !(root.stx_mask & STATX_MNT_ID))
		return (struct bpf_where){ 0 };
	return (struct bpf_where){
		.space = root.stx_mnt_id,
		.device = (uint64_t)root.stx_dev_major << 32 | root.stx_dev_minor,
		.root = root.stx_ino,
	};
}

/* One look for all that a program maps when it starts. */
struct bpf_where bpf_known_where(struct bpf_known *k, int32_t pid, uint64_t now_ns)
{
	struct bpf_whereabouts *last = &k->last[(uint32_t)pid % BPF_KNOWN_WHERE];
	struct bpf_where where;
	bool known;

	pthread_mutex_lock(&k->lock);
	known = last->pid == pid && last->until_ns > now_ns;
	where = last->where;
	pthread_mutex_unlock(&k->lock);
	if (known)
		return where;
	where = bpf_known_look(pid);
	pthread_mutex_lock(&k->lock);
	*last = (struct bpf_whereabouts){ where, now_ns + WHERE_NS, pid };
	pthread_mutex_unlock(&k->lock);
	return where;
}

static uint64_t bpf_known_inode(const struct kwalk_ask *ask)
{
	return ask->build_id_size ? 0 : ask->inode;
}

static uint64_t bpf_known_hash(const struct kwalk_ask *ask, const struct bpf_where *where)
{
	uint64_t hash = map_hash_quick(ask->build_id, ask->build_id_size, map_secret());

	hash = map_hash_quick(ask->path, strlen(ask->path), map_secret() ^ hash);
	hash = map_hash_pair(hash, bpf_known_inode(ask), map_secret());
	return map_hash_pair(hash, where->space ^ where->root, map_secret());
}

static bool bpf_known_is(const struct bpf_answer *a, const struct kwalk_ask *ask,
                         const struct bpf_where *where)
{
	return a->id.size == ask->build_id_size &&
	       !memcmp(a->id.bytes, ask->build_id, a->id.size) &&
	       a->inode == bpf_known_inode(ask) && a->where.space == where->space &&
	       a->where.device == where->device && a->where.root == where->root &&
	       !strcmp(a->path, ask->path);
}

/* The answer that was given to this question, however long ago; NULL: none. Under the lock. */
static struct bpf_answer *bpf_known_answer(const struct bpf_known *k, const struct kwalk_ask *ask,
                                           const struct bpf_where *where)
{
	struct bpf_answer *a;
	uint64_t at = 0;

	map_get(&k->by_hash, bpf_known_hash(ask, where), &at);
	for (a = (struct bpf_answer *)(uintptr_t)at; a && !bpf_known_is(a, ask, where); a = a->same)
		;
	return a;
}

const struct tables_object *bpf_known_find(struct bpf_known *k, const struct kwalk_ask *ask,
                                           const struct bpf_where *where, uint64_t now_ns,
                                           bool *was)
{
	const struct tables_object *object = NULL;
	const struct bpf_answer *a;

	pthread_mutex_lock(&k->lock);
	a = bpf_known_answer(k, ask, where);
	if (a && a->until_ns > now_ns)
		object = a->object;
	if (was)
		*was = a != NULL;
	pthread_mutex_unlock(&k->lock);
	return object;
}

/* Adds an answer. NULL: out of memory. Under the lock. */
static struct bpf_answer *bpf_known_new(struct bpf_known *k, const struct kwalk_ask *ask,
                                        const struct bpf_where *where)
{
	size_t n = strlen(ask->path) + 1;
	struct bpf_answer *a;
	uint64_t *slot;

	if (k->n >= BPF_KNOWN_MAX)
		bpf_known_clear(k);
	slot = map_slot(&k->by_hash, bpf_known_hash(ask, where), NULL);
	a = slot ? calloc(1, sizeof(*a) + n) : NULL;
	if (!a)
		return NULL;
	a->where = *where;
	a->inode = bpf_known_inode(ask);
	a->id.size = ask->build_id_size;
	memcpy(a->id.bytes, ask->build_id, sizeof(a->id.bytes));
	memcpy(a->path, ask->path, n);
	a->same = (struct bpf_answer *)(uintptr_t)*slot;
	a->next = k->first;
	k->first = a;
	k->n++;
	*slot = (uintptr_t)a;
	return a;
}

void bpf_known_put(struct bpf_known *k, const struct kwalk_ask *ask, const struct bpf_where *where,
                   uint64_t now_ns, const struct tables_object *object)
{
	struct bpf_answer *a;

	pthread_mutex_lock(&k->lock);
	a = bpf_known_answer(k, ask, where);
	if (!a)
		a = bpf_known_new(k, ask, where);
	if (a) {
		a->object = object;
		a->until_ns = now_ns + (a->inode ? BPF_KNOWN_INODE_NS : BPF_KNOWN_NS);
	}
	pthread_mutex_unlock(&k->lock);
}
