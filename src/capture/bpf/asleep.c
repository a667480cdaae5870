// SPDX-License-Identifier: MIT
/*
 * asleep.c: see asleep.h. Loads the program with the cookies that are wanted, runs the iterator
 * once and takes apart what it gives. Nothing stays loaded. Lengths are checked though the program
 * is ours.
 */
#include "capture/bpf/asleep.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi/stack_end.h"
#include "base/buf.h"
#include "capture/bpf/asleep_shared.h"
#include "capture/bpf/kwalk_parts.h"
#include "capture/bpf/object.h"
#include "capture/bpf/relocate.h"

#define ASLEEP_READ 65536u /* bytes: more than the iterator has at once */

struct asleep {
	struct bpf_object *object;
	int link, fd; /* of the iterator; -1: none */
	struct buf got;
	session_give_asleep *give;
	void *ctx;
};

/* Why the program could not be loaded, in words: types are missing, rights are missing, or else. */
static int asleep_fail(struct seam_error *err, int code)
{
	if (access(RELOCATE_BTF, R_OK) < 0)
		return seam_error_set(err, code, NULL, SEAM_NO_OFFSET, NULL,
		                      "the kernel's types are not at /sys/kernel/btf/vmlinux");
	if (code == EPERM || code == EACCES)
		return seam_error_set(err, code, NULL, SEAM_NO_OFFSET, NULL,
		                      "BPF programs may not be loaded (run as root, or with "
		                      "CAP_BPF and CAP_PERFMON)");
	return seam_error_set(err, code, NULL, SEAM_NO_OFFSET, NULL,
	                      "the BPF program that reads them cannot be used: %s", strerror(code));
}

/* Loads the program with the keys that it must look for. */
static int asleep_load(struct asleep *a, const uint64_t *keys, size_t n, bool by_tid)
{
	const struct relocate_object object = { .name = "seam_asleep",
		                                .bytes = asleep_object,
		                                .size = asleep_object_size };
	const struct asleep_config config = { .by_tid = by_tid };
	struct bpf_map *rodata, *wanted;
	struct relocate relocate;
	uint32_t one = 1;
	int r;

	libbpf_set_print(kwalk_libbpf_print);
	r = relocate_begin(&relocate);
	if (r >= 0)
		r = relocate_open(&relocate, &object, &a->object);
	if (r < 0) {
		relocate_end(&relocate);
		return r;
	}
	rodata = bpf_object__find_map_by_name(a->object, ".rodata.config");
	wanted = bpf_object__find_map_by_name(a->object, "wanted");
	r = rodata && wanted ? bpf_map__set_initial_value(rodata, &config, sizeof(config))
	                     : -ENOENT;
	if (r >= 0)
		r = bpf_map__set_max_entries(wanted, (uint32_t)n);
	if (r >= 0)
		r = bpf_object__load(a->object);
	relocate_end(&relocate);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = bpf_map_update_elem(bpf_map__fd(wanted), &keys[i], &one, BPF_ANY);
	return r;
}

/* The iterator runs when its file is read. */
static int asleep_start(struct asleep *a)
{
	struct bpf_program *p = bpf_object__find_program_by_name(a->object, "read_asleep");

	a->link = p ? relocate_attach(p) : -ENOENT;
	if (a->link < 0)
		return a->link;
	a->fd = bpf_iter_create(a->link);
	return a->fd < 0 ? -errno : 0;
}

/* Gives the stacks that are whole; the beginning of the next one stays in the buffer. */
static void asleep_take(struct asleep *a)
{
	uint64_t ips[ASLEEP_FRAMES];
	struct asleep_stack s;
	size_t at = 0, size;

	for (; a->got.n - at >= sizeof(s); at += size) {
		memcpy(&s, a->got.bytes + at, sizeof(s));
		size = sizeof(s) + (size_t)s.n * sizeof(*ips);
		if (a->got.n - at < size)
			break;
		if (s.n > ASLEEP_FRAMES)
			continue;
		memcpy(ips, a->got.bytes + at + sizeof(s), size - sizeof(s));
		a->give(a->ctx, s.key, s.cpu, s.end < KWALK_ENDS ? s.end + 1 : STACK_END_NOT_SAID,
		        ips, s.n);
	}
	memmove(a->got.bytes, a->got.bytes + at, a->got.n - at);
	a->got.n -= at;
}

/* Reads until the iterator has been at all tasks. */
static int asleep_drain(struct asleep *a)
{
	ssize_t n;

	do {
		void *room = buf_reserve(&a->got, ASLEEP_READ);

		if (!room)
			return -ENOMEM;
		n = read(a->fd, room, ASLEEP_READ);
		a->got.n += n > 0 ? (size_t)n : 0;
		asleep_take(a);
	} while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))); /* EAGAIN: many tasks */
	return n < 0 ? -errno : 0;
}

/* Gives the stacks of the tasks with these keys to give, while they sleep; those that do not sleep
 * any more have none. by_tid: the keys are tids, else cookies. -errno, and err says what is
 * missing. */
static int asleep_run(const uint64_t *keys, size_t n, bool by_tid, session_give_asleep give,
                      void *ctx, struct seam_error *err)
{
	struct asleep a = { .link = -1, .fd = -1, .give = give, .ctx = ctx };
	int r = n > UINT32_MAX ? -E2BIG : 0;

	if (!n)
		return 0;
	if (r >= 0)
		r = asleep_load(&a, keys, n, by_tid);
	if (r >= 0)
		r = asleep_start(&a);
	if (r >= 0)
		r = asleep_drain(&a);
	if (a.fd >= 0)
		close(a.fd);
	if (a.link >= 0)
		close(a.link);
	bpf_object__close(a.object);
	buf_free(&a.got);
	return r < 0 ? asleep_fail(err, -r) : 0;
}

int asleep_read(const uint64_t *cookies, size_t n, session_give_asleep give, void *ctx,
                struct seam_error *err)
{
	return asleep_run(cookies, n, false, give, ctx, err);
}

int asleep_read_threads(const uint64_t *tids, size_t n, session_give_asleep give, void *ctx,
                        struct seam_error *err)
{
	return asleep_run(tids, n, true, give, ctx, err);
}
