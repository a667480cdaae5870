// SPDX-License-Identifier: MIT
/*
 * relocate.c: see relocate.h. Knows that libbpf reads the kernel's BTF for each program of the type
 * "tracing", and asks a hook for the rest of what a program is loaded with: so they get that type,
 * and what they are attached to, only there.
 */
#include "capture/bpf/relocate.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#define RELOCATE_MOST ((size_t)256 << 20) /* bytes of BTF */

/* ---- the kernel's BTF ---- */

/* Linux before 6.16 does not map that file: it is read then. */
static int relocate_read(struct relocate *r, int fd)
{
	size_t n = 0;

	r->bytes = malloc(r->size);
	if (!r->bytes)
		return -ENOMEM;
	while (n < r->size) {
		ssize_t got = read(fd, (char *)r->bytes + n, r->size - n);

		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		n += (size_t)got;
	}
	return 0;
}

/* Maps the kernel's BTF, or reads it where it cannot be mapped; nothing is looked for yet. */
int relocate_begin(struct relocate *r)
{
	int fd = open(RELOCATE_BTF, O_RDONLY | O_CLOEXEC), error = 0;
	struct stat st;
	void *p;

	*r = (struct relocate){ .fd = -1 };
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		error = -errno;
	else if (st.st_size <= 0 || (size_t)st.st_size > RELOCATE_MOST)
		error = -EFBIG;
	if (!error) {
		r->size = (size_t)st.st_size;
		p = mmap(NULL, r->size, PROT_READ, MAP_PRIVATE, fd, 0);
		r->mapped = p != MAP_FAILED;
		if (r->mapped)
			r->bytes = p;
		else
			error = relocate_read(r, fd);
	}
	close(fd);
	return error;
}

/* Prefix and name are put together; a target beyond the room is not found later. */
void relocate_want(struct relocate *r, enum btf_want kind, const char *prefix, const char *name)
{
	if (r->n_targets == RELOCATE_TARGETS)
		return;
	snprintf(r->names[r->n_targets], sizeof(r->names[0]), "%s%s", prefix, name);
	r->targets[r->n_targets] =
	        (struct btf_wanted){ .name = r->names[r->n_targets], .kind = kind };
	r->n_targets++;
}

/* For a probe, which loads nothing. */
int relocate_find(struct relocate *r)
{
	return btf_cut(r->bytes, r->size, r->targets, r->n_targets, NULL);
}

/* ---- hooks ---- */

struct relocate_hook {
	const char *section; /* and what stands behind it */
	enum bpf_attach_type attach;
	enum btf_want kind; /* of what it is attached to: */
	const char *prefix; /* its name there begins so */
	bool sleeps;
};

static const struct relocate_hook relocate_hooks[] = {
	{ "seam_tp_btf+", BPF_TRACE_RAW_TP, BTF_WANT_TYPEDEF, "btf_trace_", false },
	{ "seam_fexit+", BPF_TRACE_FEXIT, BTF_WANT_FUNC, "", false },
	{ "seam_iter+", BPF_TRACE_ITER, BTF_WANT_FUNC, "bpf_iter_", false },
	{ "seam_iter.s+", BPF_TRACE_ITER, BTF_WANT_FUNC, "bpf_iter_", true },
};
#define RELOCATE_HOOKS (sizeof(relocate_hooks) / sizeof(relocate_hooks[0]))

/* Whose programs are being loaded. libbpf's hooks stay: to take back the last one is to free its
 * list of them twice (libbpf 1.1). */
static _Thread_local const struct relocate *relocate_now;
static size_t relocate_hooked;
static pthread_mutex_t relocate_lock = PTHREAD_MUTEX_INITIALIZER; /* of relocate_hooked */

/* The hook of a program's section; NULL: libbpf's own will do. *name: what stands behind it. */
static const struct relocate_hook *relocate_hook(const char *section, const char **name)
{
	for (size_t i = 0; i < RELOCATE_HOOKS; i++) {
		size_t n = strlen(relocate_hooks[i].section) - 1;

		if (strncmp(section, relocate_hooks[i].section, n) || section[n] != '/')
			continue;
		*name = section + n + 1;
		return &relocate_hooks[i];
	}
	return NULL;
}

/* What libbpf calls before it loads a program. */
static int relocate_prepare(struct bpf_program *p, struct bpf_prog_load_opts *opts, long cookie)
{
	const struct relocate *r = relocate_now;
	const char *name;
	const struct relocate_hook *hook = relocate_hook(bpf_program__section_name(p), &name);
	char target[sizeof(r->names[0])];

	if (!hook || !r)
		return -EINVAL;
	snprintf(target, sizeof(target), "%s%s", hook->prefix, name);
	for (size_t i = 0; i < r->n_targets; i++) {
		if (r->targets[i].kind != hook->kind || strcmp(r->targets[i].name, target))
			continue;
		opts->attach_btf_id = r->targets[i].id;
		if (hook->sleeps)
			opts->prog_flags |= BPF_F_SLEEPABLE;
		return opts->attach_btf_id ? bpf_program__set_type(p, BPF_PROG_TYPE_TRACING)
		                           : -ENOENT;
	}
	return -ENOENT;
}

/* Once in the life of the process: see relocate_hooked. */
static int relocate_hook_all(void)
{
	struct libbpf_prog_handler_opts opts;
	int id = 0;

	LIBBPF_ZEROED(opts);
	opts.prog_prepare_load_fn = relocate_prepare;
	pthread_mutex_lock(&relocate_lock);
	for (; id >= 0 && relocate_hooked < RELOCATE_HOOKS; relocate_hooked += id >= 0) {
		const struct relocate_hook *hook = &relocate_hooks[relocate_hooked];

		id = libbpf_register_prog_handler(hook->section, BPF_PROG_TYPE_RAW_TRACEPOINT,
		                                  hook->attach, &opts);
	}
	pthread_mutex_unlock(&relocate_lock);
	return id < 0 ? id : 0;
}

/* ---- the object ---- */

static void relocate_targets(struct relocate *r, struct bpf_object *object)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, object)
	{
		const char *name;
		const struct relocate_hook *hook =
		        relocate_hook(bpf_program__section_name(p), &name);

		if (hook)
			relocate_want(r, hook->kind, hook->prefix, name);
	}
}

/* The structs that the object knows, whether they are the kernel's or its own. */
static size_t relocate_structs(const struct btf *btf, struct btf_wanted *ret)
{
	size_t n = 0;

	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *name = btf_is_composite(t) ? btf__name_by_offset(btf, t->name_off) : "";

		if (name && *name)
			ret[n++] = (struct btf_wanted){ .name = name, .kind = BTF_WANT_STRUCT };
	}
	return n;
}

/* Writes the small BTF to where libbpf will look for it, and finds what programs are attached
 * to. */
static int relocate_cut(struct relocate *r, struct bpf_object *object)
{
	const struct btf *btf = bpf_object__btf(object);
	size_t most = r->n_targets + (btf ? btf__type_cnt(btf) : 0), n = r->n_targets;
	struct btf_wanted *wanted = malloc((most + 1) * sizeof(*wanted));
	struct buf small = { 0 };
	int error;

	if (!wanted)
		return -ENOMEM;
	memcpy(wanted, r->targets, n * sizeof(*wanted));
	if (btf)
		n += relocate_structs(btf, wanted + n);
	error = btf_cut(r->bytes, r->size, wanted, n, &small);
	if (!error && write(r->fd, small.bytes, small.n) != (ssize_t)small.n)
		error = -EIO;
	memcpy(r->targets, wanted, r->n_targets * sizeof(*wanted));
	buf_free(&small);
	free(wanted);
	return error;
}

/* Opens the object, and makes what libbpf will ask for when it loads it. */
int relocate_open(struct relocate *r, const struct relocate_object *o, struct bpf_object **ret)
{
	struct bpf_object_open_opts opts;
	struct bpf_object *object;
	int error = relocate_hook_all();

	if (error < 0)
		return error;
	LIBBPF_ZEROED(opts);
	opts.object_name = o->name;
	opts.kernel_log_buf = o->log;
	opts.kernel_log_size = o->log ? o->log_size : 0;
	relocate_now = r;
	r->fd = memfd_create("seam-btf", MFD_CLOEXEC);
	if (r->fd < 0)
		return -errno;
	snprintf(r->path, sizeof(r->path), "/proc/self/fd/%d", r->fd);
	opts.btf_custom_path = r->path;
	object = bpf_object__open_mem(o->bytes, o->size, &opts);
	if (!object)
		return -errno;
	relocate_targets(r, object);
	error = relocate_cut(r, object);
	if (error < 0) {
		bpf_object__close(object);
		return error;
	}
	*ret = object;
	return 0;
}

/* 0: it was not wanted, or the kernel has none. */
uint32_t relocate_id(const struct relocate *r, const char *name)
{
	for (size_t i = 0; i < r->n_targets; i++)
		if (!strcmp(r->targets[i].name, name) && r->targets[i].id)
			return r->targets[i].id;
	return 0;
}

void relocate_end(struct relocate *r)
{
	relocate_now = NULL;
	if (r->mapped)
		munmap(r->bytes, r->size);
	else
		free(r->bytes);
	if (r->fd >= 0)
		close(r->fd);
	*r = (struct relocate){ .fd = -1 };
}

int relocate_attach(const struct bpf_program *p)
{
	return bpf_link_create(bpf_program__fd(p), 0, bpf_program__expected_attach_type(p), NULL);
}
