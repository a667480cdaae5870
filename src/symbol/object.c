// SPDX-License-Identifier: MIT
// object.c: one object of the cache: its spelling, and loading it exactly once, whichever thread
// comes first.
#include "symbol/object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	table_free(&object->table);
	outline_free(&object->outline);
	buf_free(&object->reason);
	buf_free(&object->source);
	free(object->used);
	free(object->segments);
	free(object->path);
	free(object->name);
	free(object);
}

/* Fills table, state and reason, from where objects of this kind have their names. 0, or
 * -ENOMEM. */
static int object_load_by_kind(struct symbol_object *object)
{
	switch (object->key.kind) {
	case SYMBOL_KIND_FILE:
		return elffile_load(object);
	case SYMBOL_KIND_ANON:
		return perfmap_load(object);
	case SYMBOL_KIND_VDSO:
		return vdso_load(object);
	case SYMBOL_KIND_KERNEL:
		return kernel_load(object);
	case SYMBOL_KIND_MODULE:
		return module_load(object);
	case SYMBOL_KIND_BPF:
	case SYMBOL_KIND_JIT:
	case SYMBOL_KIND_OUT_OF_LINE: { /* one symbol, as long as the mapping */
		struct table_symbol all = { .end = UINT64_MAX, .bind = TABLE_GLOBAL };

		object->terms = OBJECT_PLACE;
		object->state = SYMBOL_NAMED;
		return table_put(&object->table, &all, object->path, strlen(object->path), "");
	}
	default:
		object->state = SYMBOL_NOT_CODE;
		return 0;
	}
}

/* Loads the names and makes them ready for lookups. Runs once per object, under its lock. 0, or
 * -ENOMEM. */
static int load(struct symbol_object *object)
{
	int r;

	object->state = SYMBOL_NO_FILE;
	r = object_load_by_kind(object);
	if (r == 0)
		r = table_seal(&object->table);
	if (r == 0 && object->table.n) {
		object->used = calloc(object->table.n, sizeof(*object->used));
		if (!object->used)
			r = -ENOMEM;
	}
	/* The names were found: reasons from places that were tried before are of no interest. */
	if (object->state == SYMBOL_NAMED && !object->ambiguous)
		buf_clear(&object->reason);
	buf_text(&object->reason); /* NUL-terminated from here on */
	buf_text(&object->source);
	return r;
}

int object_load_only(struct symbol_object *object)
{
	if (atomic_load_explicit(&object->loaded, memory_order_acquire))
		return object->error;
	pthread_mutex_lock(&object->loading);
	if (!atomic_load_explicit(&object->loaded, memory_order_relaxed)) {
		object->error = load(object);
		atomic_store_explicit(&object->loaded, true, memory_order_release);
	}
	pthread_mutex_unlock(&object->loading);
	return object->error;
}

int object_outline(struct symbol_object *object)
{
	if (atomic_load_explicit(&object->outlined, memory_order_acquire))
		return object->outline_error;
	pthread_mutex_lock(&object->loading);
	if (!atomic_load_explicit(&object->outlined, memory_order_relaxed)) {
		object->outline_error = elffile_outline(object);
		atomic_store_explicit(&object->outlined, true, memory_order_release);
	}
	pthread_mutex_unlock(&object->loading);
	return object->outline_error;
}

void object_keep(struct symbol_object *object)
{
	if (!object->error && atomic_exchange(&object->unkept, false))
		kernel_keep(object);
}

int object_load(struct symbol_object *object)
{
	int r;

	if (atomic_load_explicit(&object->loaded, memory_order_acquire))
		return object->error;
	r = object_load_only(object);
	object_keep(object); /* others go on meanwhile */
	return r;
}
