// SPDX-License-Identifier: MIT
/* object.c: see object.h. Names to kinds of objects. The spellings are those of the kernel's
 * perf_event_mmap and of perf's synthesized records. */
#include "proc/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void object_destroy(struct object_pool *pool)
{
	intern_free(&pool->keys);
	free(pool->objects);
	*pool = (struct object_pool){ 0 };
}

static bool object_starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Names that begin with none of the known prefixes are paths of files. No name at all means
 * anonymous memory. */
enum proc_kind object_kind_user(const char *name)
{
	static const struct {
		const char *prefix;
		enum proc_kind kind;
	} table[] = {
		{ "//anon", PROC_KIND_ANON },         { "/dev/zero", PROC_KIND_ANON },
		{ "/anon_hugepage", PROC_KIND_ANON }, { "/memfd:", PROC_KIND_ANON },
		{ "[anon", PROC_KIND_ANON },          { "/SYSV", PROC_KIND_STACK },
		{ "[stack", PROC_KIND_STACK },        { "[heap", PROC_KIND_STACK },
		{ "[vdso", PROC_KIND_VDSO },          { "[vsyscall", PROC_KIND_VSYSCALL },
		{ "[uprobes", PROC_KIND_UPROBES },    { "[", PROC_KIND_OTHER },
	};

	if (!*name)
		return PROC_KIND_ANON;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (object_starts(name, table[i].prefix))
			return table[i].kind;
	}
	return PROC_KIND_FILE;
}

/* Modules are "[name]" or a path. */
enum proc_kind object_kind_kernel(const char *name)
{
	if (object_starts(name, "[kernel."))
		return PROC_KIND_KERNEL;
	if (*name == '[' || *name == '/')
		return PROC_KIND_MODULE;
	return PROC_KIND_OUT_OF_LINE; /* "__entry_SYSCALL_64_trampoline" of Linux 4.15 ... 4.20 */
}

/* "[kernel.kallsyms]_text" says from which symbol the address is: the object is the part in
 * brackets. */
size_t object_name_length(enum proc_kind kind, const char *name)
{
	const char *bracket = kind == PROC_KIND_KERNEL ? strchr(name, ']') : NULL;

	return bracket ? (size_t)(bracket - name) + 1 : strlen(name);
}

/* Adds an object to the pool; object_get has found none that is equal. NULL: out of memory. */
static const struct proc_object *object_new(struct object_pool *pool, enum proc_kind kind,
                                            uint32_t name, uint32_t pid, uint64_t inode,
                                            const uint8_t *build_id, size_t build_id_size)
{
	struct proc_object *object;

	if (ARRAY_ROOM(&pool->objects, &pool->capacity, pool->n + 1) < 0)
		return NULL;
	object = arena_alloc(pool->arena, sizeof(*object));
	if (!object)
		return NULL;
	*object = (struct proc_object){ .id = (uint32_t)pool->n,
		                        .kind = kind,
		                        .path = intern_get(pool->names, name),
		                        .pid = pid,
		                        .inode = inode,
		                        .build_id_size = (uint8_t)build_id_size };
	if (build_id_size)
		memcpy(object->build_id, build_id, build_id_size);
	pool->objects[pool->n++] = object;
	return object;
}

/* The object with these properties, made when new. Objects of anonymous memory and of JIT code
 * belong to one process; all others are shared by name, and by build-id, or by inode if there is
 * none. */
const struct proc_object *object_get(struct object_pool *pool, enum proc_kind kind, uint32_t name,
                                     uint32_t pid, uint64_t inode, const uint8_t *build_id,
                                     size_t build_id_size)
{
	unsigned char key[20 + PROC_BUILD_ID_MAX];
	uint32_t word = (uint32_t)kind, id;

	if (build_id_size > PROC_BUILD_ID_MAX)
		build_id_size = PROC_BUILD_ID_MAX;
	if (kind != PROC_KIND_ANON && kind != PROC_KIND_JIT)
		pid = 0;
	/* The key is the properties one behind the other; those that do not count are 0. */
	memcpy(key, &word, 4);
	memcpy(key + 4, &name, 4);
	memcpy(key + 8, &pid, 4);
	if (build_id_size)
		inode = 0;
	memcpy(key + 12, &inode, 8);
	if (build_id_size)
		memcpy(key + 20, build_id, build_id_size);
	id = intern_bytes(&pool->keys, key, 20 + build_id_size); /* id 0 is the empty string */
	if (id == INTERN_FAILED)
		return NULL;
	/* Keys have ids in the order in which objects were made, from 1 on. */
	if (id <= pool->n)
		return pool->objects[id - 1];
	return object_new(pool, kind, name, pid, inode, build_id, build_id_size);
}
