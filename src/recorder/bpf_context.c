// SPDX-License-Identifier: MIT
/*
 * bpf_context.c: see bpf_context.h. It is asked for every file that a followed process maps for
 * execution. The file is read by its name in the process's own file system, if it has the inode
 * that was mapped; some short readings tell (runtimes/context_elf.h), and the answer is kept by
 * what the file is.
 *
 * Several threads may ask; the lock covers the maps. Answers live as long as the struct.
 */
#include "recorder/bpf_context.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"
#include "runtimes/go_labels.h"
#include "runtimes/otel_thread.h"

#define FILES_MAX 65536u /* of which is remembered what they are */

struct bpf_context {
	struct intern files;  /* struct context_key */
	struct map known;     /* its number -> struct context_process *, or 0 */
	struct map by_object; /* struct tables_object * -> the same */
	struct arena arena;
	pthread_mutex_t lock;
};

/* Which file it is: one that is written anew is another. */
struct context_key {
	uint64_t device, inode, size, changed_ns;
};

int bpf_context_new(struct bpf_context **ret)
{
	struct bpf_context *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	pthread_mutex_init(&c->lock, NULL);
	*ret = c;
	return 0;
}

void bpf_context_free(struct bpf_context *c)
{
	if (!c)
		return;
	intern_free(&c->files);
	map_free(&c->known);
	map_free(&c->by_object);
	arena_free(&c->arena);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static int context_pread(void *ctx, uint64_t offset, void *to, size_t n)
{
	const int *fd = ctx;

	return offset <= INT64_MAX && pread(*fd, to, n, (off_t)offset) == (ssize_t)n ? 0 : -EIO;
}

/* What the file says: true and *ret, or false. */
static bool context_file(int fd, struct context_process *ret)
{
	const struct context_source_file file = { context_pread, &fd };
	struct context_elf e;

	if (context_elf_open(&e, &file) < 0)
		return false;
	*ret = (struct context_process){ .source = CONTEXT_NONE };
	if (otel_thread_find(ret, &e) < 0)
		go_labels_find(ret, &e);
	ret->vector_step = otel_thread_vector(&e);
	return ret->source != CONTEXT_NONE || ret->vector_step;
}

/* Opens the file by its name in the process's own file system, or in ours. -1: it cannot be read,
 * or is another one. */
static int context_open(const struct kwalk_ask *ask, struct stat *st)
{
	char path[4096 + 32];

	for (int i = 0; i < 2; i++) {
		int n = i ? snprintf(path, sizeof(path), "%s", ask->path)
		          : snprintf(path, sizeof(path), "/proc/%d/root%s", (int)ask->pid,
		                     ask->path);
		int fd = n > 0 && (size_t)n < sizeof(path)
		                 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
		                 : -1;

		if (fd < 0)
			continue;
		if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) &&
		    (!ask->inode || st->st_ino == ask->inode))
			return fd;
		close(fd);
	}
	return -1;
}

/* What is known of a file by what it is; beyond FILES_MAX each is read anew. */
static const struct context_process *context_look(struct bpf_context *c, int fd,
                                                  const struct stat *st)
{
	const struct context_key key = { st->st_dev, st->st_ino, (uint64_t)st->st_size,
		                         (uint64_t)st->st_ctim.tv_sec * 1000000000u +
		                                 (uint64_t)st->st_ctim.tv_nsec };
	struct context_process found, *kept = NULL;
	uint64_t known;
	uint32_t id;

	id = c->known.n < FILES_MAX ? intern_bytes(&c->files, &key, sizeof(key)) : INTERN_FAILED;
	if (id != INTERN_FAILED && map_get(&c->known, id, &known))
		return (const struct context_process *)(uintptr_t)known;
	if (context_file(fd, &found))
		kept = arena_alloc(&c->arena, sizeof(*kept));
	if (kept)
		*kept = found;
	if (id != INTERN_FAILED)
		map_put(&c->known, id, (uintptr_t)kept); /* else it is read again */
	return kept;
}

/* An object is a file in one state, whoever has mapped it, and is not even opened again. */
const struct context_process *bpf_context_get(struct bpf_context *c, const struct kwalk_ask *ask,
                                              const struct tables_object *object)
{
	uint64_t key = (uintptr_t)object, known = 0;
	const struct context_process *context;
	struct stat st;
	bool found;
	int fd;

	pthread_mutex_lock(&c->lock);
	found = key && map_get(&c->by_object, key, &known);
	pthread_mutex_unlock(&c->lock);
	if (found)
		return (const struct context_process *)(uintptr_t)known;
	fd = ask->path[0] == '/' ? context_open(ask, &st) : -1;
	if (fd < 0)
		return NULL;
	pthread_mutex_lock(&c->lock);
	context = context_look(c, fd, &st);
	if (key && c->by_object.n < FILES_MAX)
		map_put(&c->by_object, key, (uintptr_t)context);
	pthread_mutex_unlock(&c->lock);
	close(fd);
	return context;
}
