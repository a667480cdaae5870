// SPDX-License-Identifier: MIT
// kwalk_programs.c: programs that are loaded, by their names: attached, run, asked for what the
// kernel knows of them.
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/bpf/kwalk_parts.h"
#include "capture/bpf/relocate.h"

/* Zeros where the program is not loaded. */
struct bpf_prog_info kwalk_program_info(const struct bpf_program *p)
{
	struct bpf_prog_info info = { 0 };
	uint32_t n = sizeof(info);

	if (!p || bpf_program__fd(p) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &n) < 0)
		return (struct bpf_prog_info){ 0 };
	return info;
}

/* Attaches a program by its name; the link is kept until kwalk_unload. */
int kwalk_link(struct kwalk *l, const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(l->object, name);
	int link = p ? relocate_attach(p) : -ENOENT, *links;

	if (link < 0)
		return link;
	/* One by one: there are as many as programs. */
	links = realloc(l->links, (l->n_links + 1) * sizeof(*links));
	if (!links) {
		close(link);
		return -ENOMEM;
	}
	l->links = links;
	l->links[l->n_links++] = link;
	return 0;
}

/* How often the program was skipped because it ran already on that CPU. */
uint64_t kwalk_misses(struct kwalk *l, const char *name)
{
	return kwalk_program_info(bpf_object__find_program_by_name(l->object, name))
	        .recursion_misses;
}

/* 0, or -errno, or what drain returned. */
int kwalk_iterate_object(struct bpf_object *object, const char *name, int (*drain)(void *),
                         void *ctx)
{
	struct bpf_program *p = bpf_object__find_program_by_name(object, name);
	int link = p ? relocate_attach(p) : -ENOENT, fd, r;
	char none[64];

	if (link < 0)
		return link;
	fd = bpf_iter_create(link);
	r = fd < 0 ? -errno : 0;
	/* The program writes to the rings, not to this file: reading it is what runs it. */
	while (fd >= 0 && r >= 0) {
		r = (int)read(fd, none, sizeof(none));
		if (!r)
			break;
		if (r < 0)
			r = errno == EAGAIN && drain ? drain(ctx) : -errno;
	}
	if (fd >= 0)
		close(fd);
	close(link);
	return r;
}

int kwalk_iterate(struct kwalk *l, const char *name, int (*drain)(void *), void *ctx)
{
	return kwalk_iterate_object(l->object, name, drain, ctx);
}
