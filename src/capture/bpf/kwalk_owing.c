// SPDX-License-Identifier: MIT
/*
 * kwalk_owing.c: the program that reads what sleeping tasks owe, which few recordings need. It is
 * loaded when the first needs it, at the end, from the same object and with the maps of the
 * programs that run: at the start the verifier would go through it for nothing.
 */
#include <string.h>

#include <bpf/libbpf.h>

#include "capture/bpf/kwalk_parts.h"
#include "capture/bpf/object.h"
#include "capture/bpf/relocate.h"

#define OWING "read_owing"

/* At the start: not yet. */
void owing_configure(struct kwalk *l)
{
	struct bpf_program *p = bpf_object__find_program_by_name(l->object, OWING);

	if (p)
		bpf_program__set_autoload(p, false);
}

/* Of the object that is opened a second time only this program is loaded, and all its maps are
 * those that are there, with the configuration in them. -errno. */
static int owing_share(struct kwalk *l)
{
	struct bpf_program *p;
	struct bpf_map *map;
	int r = 0;

	bpf_object__for_each_program(p, l->owing)
	{
		bpf_program__set_autoload(p,
		                          p == bpf_object__find_program_by_name(l->owing, OWING));
	}
	bpf_object__for_each_map(map, l->owing)
	{
		int fd = bpf_object__find_map_fd_by_name(l->object, bpf_map__name(map));

		if (r >= 0 && fd >= 0)
			r = bpf_map__reuse_fd(map, fd);
	}
	return r;
}

/* Fits the object to the kernel once more, and loads the program. -errno, and nothing stays. */
static int owing_load(struct kwalk *l)
{
	const struct relocate_object object = { .name = "seam",
		                                .bytes = kwalk_object,
		                                .size = kwalk_object_size };
	struct relocate relocate;
	int r = relocate_begin(&relocate);

	if (r >= 0)
		r = relocate_open(&relocate, &object, &l->owing);
	if (r >= 0)
		r = owing_share(l);
	if (r >= 0)
		r = bpf_object__load(l->owing);
	relocate_end(&relocate);
	if (r >= 0)
		load_tell(l, l->owing);
	else
		owing_free(l);
	return r;
}

/* Reads the stacks that tasks that sleep owe into the rings. Tasks of interpreters are those of
 * their programs, once these are loaded. -errno: they stay owed, which the file's account says of
 * each. */
int kwalk_read_owing(struct kwalk *l)
{
	int r = l->owing ? 0 : owing_load(l);

	if (r >= 0)
		r = kwalk_iterate_object(l->owing, OWING, NULL, NULL);
	if (r < 0)
		log_line(l->opts.log, LOG_VERBOSE,
		         "the stacks of tasks that sleep cannot be read: %s", strerror(-r));
	return r < 0 ? r : runtime_read_owing(l);
}

void owing_free(struct kwalk *l)
{
	bpf_object__close(l->owing);
	l->owing = NULL;
}
