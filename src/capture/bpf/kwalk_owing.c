// SPDX-License-Identifier: MIT
/*
 * kwalk_owing.c: the programs that read what sleeping tasks owe, native ones and an interpreter's
 * each, which few recordings need. One is loaded when the first needs it, at the end, from the same
 * object and with the maps of the programs that run: at the start the verifier would go through it
 * for nothing, and an interpreter's processes would be waiting for it.
 */
#include <string.h>

#include <bpf/libbpf.h>

#include "capture/bpf/kwalk_parts.h"
#include "capture/bpf/object.h"
#include "capture/bpf/relocate.h"

#define OWING "read_owing"

/* At the start: not yet. */
void owing_configure(struct bpf_object *object)
{
	struct bpf_program *p = bpf_object__find_program_by_name(object, OWING);

	if (p)
		bpf_program__set_autoload(p, false);
}

/* Of the object that is opened a second time only this program is loaded, and all its maps are
 * those that are there, with the configuration in them. -errno. */
static int owing_share(const struct bpf_object *from, struct bpf_object *to)
{
	struct bpf_program *p;
	struct bpf_map *map;
	int r = 0;

	bpf_object__for_each_program(p, to)
	{
		bpf_program__set_autoload(p, p == bpf_object__find_program_by_name(to, OWING));
	}
	bpf_object__for_each_map(map, to)
	{
		int fd = bpf_object__find_map_fd_by_name(from, bpf_map__name(map));

		if (r >= 0 && fd >= 0)
			r = bpf_map__reuse_fd(map, fd);
	}
	return r;
}

/* Fits an object to the kernel once more, and loads the program. -errno, and nothing stays. */
static int owing_load(struct kwalk *l, const struct relocate_object *object,
                      const struct bpf_object *from, struct bpf_object **ret)
{
	struct relocate relocate;
	int r = relocate_begin(&relocate);

	if (r >= 0)
		r = relocate_open(&relocate, object, ret);
	if (r >= 0)
		r = owing_share(from, *ret);
	if (r >= 0)
		r = bpf_object__load(*ret);
	relocate_end(&relocate);
	if (r >= 0)
		load_tell(l, *ret);
	else
		owing_free(ret);
	return r;
}

/* Runs an object's iterator over tasks that sleep, which is loaded if it is not there yet. */
static int owing_read(struct kwalk *l, const struct relocate_object *object,
                      const struct bpf_object *from, struct bpf_object **owing)
{
	int r = *owing ? 0 : owing_load(l, object, from, owing);

	return r < 0 ? r : kwalk_iterate_object(*owing, OWING, NULL, NULL);
}

/* Reads the stacks that tasks that sleep owe into the rings. Tasks of interpreters are those of
 * their programs, once these are loaded. -errno: they stay owed, which the file's account says of
 * each. */
int kwalk_read_owing(struct kwalk *l)
{
	struct relocate_object object = { .name = "seam",
		                          .bytes = kwalk_object,
		                          .size = kwalk_object_size };
	int r = owing_read(l, &object, l->object, &l->owing);

	for (unsigned k = 0; r >= 0 && k < RUNTIMES; k++) {
		struct kwalk_runtimes *t = &l->kinds[k];

		if (!__atomic_load_n(&t->loaded, __ATOMIC_ACQUIRE))
			continue;
		object = runtime_object_of(k, NULL);
		r = owing_read(l, &object, t->object, &t->owing);
	}
	if (r < 0)
		log_line(l->opts.log, LOG_VERBOSE,
		         "the stacks of tasks that sleep cannot be read: %s", strerror(-r));
	return r;
}

void owing_free(struct bpf_object **owing)
{
	bpf_object__close(*owing);
	*owing = NULL;
}
