// SPDX-License-Identifier: MIT
/*
 * object.c: one object of the cache: how it is spelled, and why it has no names. object_load.c
 * loads it.
 *
 * Locks: `loading` is held while an object is loaded; what loading wrote does not change
 * afterwards, and is read without it.
 */
#include "abi/runtime.h"
#include "base/pages.h"
#include "symbol/object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/shelf.h"

/* Sets the state and says why. The first reason stays: it is of the place that was most likely to
 * have names. */
void object_reason(struct symbol_object *object, enum symbol_state state, const char *fmt, ...)
{
	va_list ap;

	if (object->reason.n)
		return;
	object->state = state;
	va_start(ap, fmt);
	buf_vprintf(&object->reason, fmt, ap);
	va_end(ap);
}

/* "[ext4]" or ".../ext4.ko.xz" -> "ext4". The kernel's own spelling has no dashes. */
void object_module_name(const char *path, char *name, size_t n)
{
	const char *slash = strrchr(path, '/'), *at = slash ? slash + 1 : path, *end;

	if (*at == '[')
		at++;
	end = strstr(at, ".ko");
	if (!end)
		end = at + strcspn(at, "]");
	snprintf(name, n, "%.*s", (int)(end - at), at);
	for (char *p = name; *p; p++)
		*p = *p == '-' ? '_' : *p;
}

/* perf's spelling of the object. */
static char *object_spelling(const struct symbol_key *key)
{
	char module[256];
	char *name = NULL;
	int r;

	switch (key->kind) {
	case SYMBOL_KIND_ANON:
	case SYMBOL_KIND_JIT:
		r = asprintf(&name, "/tmp/perf-%u.map", key->pid);
		/* Code of no file is named by the perf map that would name it. */
		break;
	case SYMBOL_KIND_RUNTIME:
		r = asprintf(&name, "%s", runtime_object_name(runtime_of_function(key->path)));
		break;
	case SYMBOL_KIND_VDSO:
		r = asprintf(&name, "[vdso]");
		break;
	case SYMBOL_KIND_MODULE:
		object_module_name(key->path, module, sizeof(module));
		r = asprintf(&name, "[%s]", module);
		break;
	default:
		r = asprintf(&name, "%s", key->path);
	}
	return r < 0 ? NULL : name;
}

/* Makes an object that is not loaded yet. Its key's path is copied. -ENOMEM. */
int object_new(struct symbol_cache *cache, const struct symbol_key *key, struct symbol_object **ret)
{
	struct symbol_object *object = calloc(1, sizeof(*object));
	const char *slash;

	if (!object)
		return -ENOMEM;
	pthread_mutex_init(&object->loading, NULL);
	object->cache = cache;
	object->key = *key;
	object->path = strdup(key->path);
	object->name = object_spelling(key);
	if (!object->path || !object->name) {
		object_free(object);
		return -ENOMEM;
	}
	object->key.path = object->path;
	slash = object->name[0] == '/' ? strrchr(object->name, '/') : NULL;
	object->short_name = slash && slash[1] ? slash + 1 : object->name;
	*ret = object;
	return 0;
}

void object_free(struct symbol_object *object)
{
	if (!object)
		return;
	pthread_mutex_destroy(&object->loading);
	if (object->shelved)
		shelf_leave(object);
	table_free(&object->table);
	outline_free(&object->outline);
	buf_free(&object->reason);
	buf_free(&object->source);
	pages_sparse_free(object->used, object->n_used, sizeof(*object->used));
	free(object->segments);
	free(object->path);
	free(object->name);
	free(object);
}
