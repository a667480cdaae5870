// SPDX-License-Identifier: MIT
/*
 * synth.c: walks /proc and says what is there in records.
 *
 * A recording begins in a running system: FORK, COMM and MMAP2 records of what runs already are
 * made here, in the form in which the kernel would have written them. The events are on before this
 * is called, so that what starts meanwhile is told by the kernel; what is told twice does no harm.
 *
 * Invariants: the records of one process are given to the sink in one piece or, when it vanished
 * while it was looked at, as far as they are true. A build-id is that of the mapped file itself and
 * not of whatever has its name now: it is opened through /proc/PID/map_files, and where that is not
 * allowed by name in the process's own root, and then only when the inode is the mapped one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/encode.h"
#include "base/buf.h"
#include "base/map.h"
#include "capture/buildid.h"
#include "base/peek.h"
#include "base/procfs.h"
#include "capture/synth.h"
#include "capture/synth_bpf.h"
#include "capture/synth_cgroup.h"
#include "capture/synth_kernel.h"

#define SYNTH_FLUSH (256u << 10) /* bytes of records kept before the sink gets them */
#define SYNTH_MAPS (32u << 20)   /* bytes of a process's mappings */

/* size 0: the file has none. A file is looked at once, so that the answer "none" is kept, too. */
struct synth_buildid {
	uint8_t size;
	uint8_t bytes[BUILDID_MAX];
};

struct synth {
	struct synth_opts opts;
	struct synth_counts counts;
	int proc, sys;
	struct buf text;    /* of the file being read */
	struct buf out;     /* records not yet given to the sink */
	struct buf pids;    /* pid_t[] of synth_all */
	struct buf tids;    /* pid_t[] of the process being looked at */
	struct buf path;    /* NUL-terminated name of the mapping being looked at */
	struct buf ids;     /* struct synth_buildid[] */
	struct map files;   /* hash of a file's identity -> index in ids */
	struct map leaders; /* processes whose mappings synth_thread has given already */
	/* What the text of this process's own maps ends with: "[vsyscall]", nobody's mapping
	 * and not answered for. Not executable: there is none to be told of. */
	struct procfs_map vsyscall;
	bool vsyscall_known;
	uint64_t mount_ns; /* of the process being looked at; 0: not looked up yet */
};

/* opts->proc and opts->sys stand in for /proc and /sys in tests; NULL: the real ones. That /sys
 * cannot be opened is no failure. */
int synth_new(struct synth **ret, const struct synth_opts *opts)
{
	struct synth *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->opts = *opts;
	s->sys = -1;
	s->proc = open(opts->proc ? opts->proc : "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->proc < 0) {
		int error = -errno;

		free(s);
		return error;
	}
	s->sys = open(opts->sys ? opts->sys : "/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*ret = s;
	return 0;
}

void synth_free(struct synth *s)
{
	if (!s)
		return;
	close(s->proc);
	if (s->sys >= 0)
		close(s->sys);
	buf_free(&s->text);
	buf_free(&s->out);
	buf_free(&s->pids);
	buf_free(&s->tids);
	buf_free(&s->path);
	buf_free(&s->ids);
	map_free(&s->files);
	map_free(&s->leaders);
	free(s);
}

void synth_counts(const struct synth *s, struct synth_counts *ret)
{
	*ret = s->counts;
}

/* Gives the sink what is there once it is `least` bytes; 0: whatever there is. */
static int synth_flush(struct synth *s, size_t least, capture_write write, void *ctx)
{
	int error;

	if (s->out.failed)
		return -ENOMEM;
	if (s->out.n < least || !s->out.n)
		return 0;
	error = write(ctx, s->out.bytes, s->out.n);
	if (error < 0)
		return error;
	s->counts.bytes += s->out.n;
	buf_clear(&s->out);
	return 0;
}

/* -- build-ids -- */

/* exact: the path leads to the mapped file itself, so that its inode need not be compared (that of
 * a link in map_files is the file's own). */
static int synth_open_regular(int proc, const char *path, const struct procfs_map *map, bool exact)
{
	struct stat st;

	/* Never open a device or a FIFO only to look at it. */
	if (fstatat(proc, path, &st, 0) < 0 || !S_ISREG(st.st_mode))
		return -1;
	if (!exact && st.st_ino != map->inode)
		return -1;
	/* O_NONBLOCK, because the file could have been replaced by a FIFO since fstatat. */
	return openat(proc, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* By the mapping itself; else by name in the process's root (containers); else by name here. The
 * descriptor, or -1. */
static int synth_open_mapped(struct synth *s, pid_t pid, const struct procfs_map *map)
{
	const char *name = buf_text(&s->path);
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%d/map_files/%llx-%llx", (int)pid,
	         (unsigned long long)map->start, (unsigned long long)map->end);
	fd = synth_open_regular(s->proc, path, map, true);
	if (fd >= 0 || name[0] != '/')
		return fd;
	/* The root of the process: a name in a container means another file here. */
	if (snprintf(path, sizeof(path), "%d/root%s", (int)pid, name) < (int)sizeof(path))
		fd = synth_open_regular(s->proc, path, map, false);
	return fd >= 0 ? fd : synth_open_regular(AT_FDCWD, name, map, false);
}

/* Asked once per process: a link such as "mnt:[4026531841]". A process whose link may not be read
 * has a namespace of its own, as far as can be told. */
static uint64_t synth_mount_ns(struct synth *s, pid_t pid)
{
	char path[48], link[64];
	ssize_t n;

	if (s->mount_ns)
		return s->mount_ns;
	snprintf(path, sizeof(path), "%d/ns/mnt", (int)pid);
	n = readlinkat(s->proc, path, link, sizeof(link));
	s->mount_ns = n > 0 ? map_hash_bytes(link, (size_t)n, 1) : (uint64_t)pid;
	return s->mount_ns;
}

/*
 * The identity of a file: device and inode. For the device numbers of file systems without a disk
 * of their own it is also the mount namespace and the name, because btrfs and overlayfs use inode
 * numbers more than once there.
 */
static uint64_t synth_identity(struct synth *s, pid_t pid, const struct procfs_map *map)
{
	uint64_t key[3] = { (uint64_t)map->major << 32 | map->minor, map->inode, 0 };

	/* Major number 0: a file system without a disk (btrfs, overlayfs, tmpfs). */
	if (!map->major)
		key[2] = map_hash_bytes(map->path, map->path_size, synth_mount_ns(s, pid));
	return map_hash_bytes(key, sizeof(key), 0);
}

/* Puts the build-id of a mapped file into m, if it has one. Each file is opened once, however many
 * processes map it. */
static void synth_build_id(struct synth *s, pid_t pid, const struct procfs_map *map,
                           struct seam_mmap *m)
{
	struct synth_buildid found = { 0 };
	bool is_new;
	uint64_t *slot = map_slot(&s->files, synth_identity(s, pid, map), &is_new);
	int fd;

	/* Out of memory: the mapping goes into the file without a build-id. */
	if (!slot)
		return;
	if (is_new) {
		*slot = s->ids.n / sizeof(found);
		fd = synth_open_mapped(s, pid, map);
		if (fd >= 0) {
			found.size = (uint8_t)buildid_from_fd(fd, found.bytes);
			close(fd);
		}
		s->counts.files++;
		s->counts.build_ids += found.size != 0;
		if (buf_put(&s->ids, &found, sizeof(found)) < 0)
			return;
	}
	/* Putting the answer failed before: there is none under this number. */
	if ((*slot + 1) * sizeof(found) > s->ids.n)
		return;
	memcpy(&found, s->ids.bytes + *slot * sizeof(found), sizeof(found));
	m->has_build_id = found.size;
	m->build_id_size = found.size;
	memcpy(m->build_id, found.bytes, sizeof(found.bytes));
}

/* -- mappings -- */

/* The kernel calls memory without a file "//anon" in its records. Anonymous huge pages have a name
 * in maps that is no file's. */
static void synth_map_name(struct synth *s, const struct procfs_map *map)
{
	static const char huge[] = "/anon_hugepage";

	buf_clear(&s->path);
	if (!map->path_size ||
	    (map->path_size >= sizeof(huge) - 1 && !memcmp(map->path, huge, sizeof(huge) - 1)))
		buf_put_text(&s->path, "//anon");
	else
		buf_put(&s->path, map->path, map->path_size);
}

/* Appends the record of one mapping. -E2BIG: its name is too long for a record; -ENOMEM. */
static int synth_map(struct synth *s, pid_t pid, const struct procfs_map *map)
{
	struct seam_mmap m = {
		.pid = (uint32_t)pid,
		.tid = (uint32_t)pid,
		.addr = map->start,
		.len = map->end - map->start,
		.pgoff = map->offset,
		.has_prot = true,
		.prot = (map->readable ? PROT_READ : 0u) | (map->writable ? PROT_WRITE : 0u) |
		        (map->executable ? PROT_EXEC : 0u),
		.flags = map->shared ? MAP_SHARED : MAP_PRIVATE,
		.maj = map->major,
		.min = map->minor,
		.ino = map->inode,
	};
	uint16_t misc = SEAM_MISC_USER;

	/* The bit by which the kernel marks mappings that are not executable. */
	if (!map->executable)
		misc |= SEAM_MISC_MMAP_DATA;
	synth_map_name(s, map);
	m.filename = buf_text(&s->path);
	if (s->opts.build_ids && map->inode)
		synth_build_id(s, pid, map, &m);
	s->counts.mappings++;
	return encode_mmap2(&s->out, s->opts.attr, misc, &m, NULL);
}

/* The kernel shows one page of its own in the maps of every process, and all show the same. */
static const struct procfs_map *synth_vsyscall(struct synth *s)
{
	struct procfs_map map;
	char *at;
	int64_t n = 0;

	if (!s->vsyscall_known)
		n = procfs_read(s->proc, "self/maps", &s->text);
	s->vsyscall_known = true;
	at = (char *)s->text.bytes;
	while (n > 0 && procfs_map_next(&at, (char *)s->text.bytes + n, &map))
		if (map.path_size == 10 && !memcmp(map.path, "[vsyscall]", 10)) {
			s->vsyscall = map;
			s->vsyscall.path = "[vsyscall]";
		}
	return s->vsyscall.executable ? &s->vsyscall : NULL;
}

/* Appends the executable mappings of a process as the kernel answers for them one by one. 1: done;
 * 0: they are to be read as text; -ETIME, -EBUSY: not now; -ENOMEM. */
static int synth_maps_query(struct synth *s, pid_t pid, const char *path)
{
	struct procfs_map map;
	bool some = false;
	size_t at = 0;
	int r, error = 0;

	buf_clear(&s->text);
	r = peek_maps(s->opts.peek, (uint32_t)pid, path, SYNTH_MAPS, &s->text);
	while (peek_maps_next(&s->text, &at, &map)) {
		some = true;
		error = synth_map(s, pid, &map);
		if (error < 0 && error != -E2BIG)
			break;
		error = 0;
	}
	if (!error && some && synth_vsyscall(s))
		error = synth_map(s, pid, synth_vsyscall(s));
	/* What was given before a failure is true. */
	return error ? error : some || !r ? 1 : r == -ETIME || r == -EBUSY ? r : 0;
}

/* Appends the executable mappings of a process, and with opts.data the readable ones. Not being
 * allowed to read them is counted, and no failure. */
static int synth_maps(struct synth *s, pid_t pid)
{
	struct procfs_map map;
	char path[4096], *at;
	const char *end;
	int r;

	s->mount_ns = 0;
	snprintf(path, sizeof(path), "%s/%d/maps", s->opts.proc ? s->opts.proc : "/proc", (int)pid);
	r = s->opts.data ? 0 : synth_maps_query(s, pid, path);
	if (!r) {
		buf_clear(&s->text);
		r = peek_file(s->opts.peek, (uint32_t)pid, path, SYNTH_MAPS, &s->text);
	}
	/* Reading maps takes the right to trace the process; and it may keep us waiting. */
	if (r == -EACCES || r == -EPERM || r == -ETIME || r == -EBUSY)
		s->counts.denied++;
	if (r || !s->text.n)
		return r == -ENOMEM ? r : 0;
	at = (char *)s->text.bytes;
	end = at + s->text.n;
	while (procfs_map_next(&at, end, &map)) {
		int error = 0;

		/* Other mappings hold no code, and matter only to addresses of data. */
		if (map.executable || (s->opts.data && map.readable))
			error = synth_map(s, pid, &map);
		if (error < 0 && error != -E2BIG)
			return error;
	}
	return 0;
}

/* -- tasks -- */

/* ppid is also the parent's tid: which thread of the parent it was is not in /proc. */
static int synth_fork(struct synth *s, pid_t pid, pid_t tid, pid_t ppid)
{
	struct seam_task task = {
		.pid = (uint32_t)pid,
		.tid = (uint32_t)tid,
		.ppid = (uint32_t)ppid,
		.ptid = (uint32_t)ppid,
	};

	/* The bit tells readers that the child's mappings follow, so it does not inherit the
	 * parent's. */
	return encode_task(&s->out, s->opts.attr, SEAM_RECORD_FORK, SEAM_MISC_FORK_EXEC, &task,
	                   NULL);
}

static int synth_comm(struct synth *s, pid_t pid, pid_t tid, const char *name)
{
	struct seam_comm comm = { .pid = (uint32_t)pid, .tid = (uint32_t)tid, .comm = name };

	return encode_comm(&s->out, s->opts.attr, 0, &comm, NULL);
}

/* Appends the name of a thread, with its FORK in front. */
static int synth_other_thread(struct synth *s, pid_t pid, pid_t tid)
{
	char path[48];
	int64_t n;
	int error;

	snprintf(path, sizeof(path), "%d/task/%d/comm", (int)pid, (int)tid);
	n = procfs_read(s->proc, path, &s->text);
	/* A thread that ended meanwhile is no error. */
	if (n <= 0) {
		s->counts.gone++;
		return n == -ENOMEM ? -ENOMEM : 0;
	}
	if (s->text.bytes[n - 1] == '\n')
		s->text.bytes[n - 1] = 0;
	s->counts.threads++;
	error = synth_fork(s, pid, tid, pid);
	return error ? error : synth_comm(s, pid, tid, (const char *)s->text.bytes);
}

/* Appends FORK, COMM and mappings of a process, without its other threads; *ret as read from /proc.
 * 0 also if the process has ended: then ret->threads is 0. */
static int synth_leader(struct synth *s, pid_t pid, bool with_fork, struct procfs_stat *ret)
{
	uint64_t denied = s->counts.denied;
	char path[32];
	int64_t n;
	int error = 0;

	*ret = (struct procfs_stat){ 0 };
	snprintf(path, sizeof(path), "%d/stat", (int)pid);
	/* The process ended between two looks; what was written of it already is true. */
	n = procfs_read(s->proc, path, &s->text);
	if (n == -ENOMEM)
		return -ENOMEM;
	if (n <= 0 || procfs_stat_parse((const char *)s->text.bytes, (size_t)n, ret) < 0) {
		s->counts.gone++;
		return 0;
	}
	s->counts.processes++;
	s->counts.threads++;
	/* It is 0 of a process that is just being reaped. */
	if (!ret->threads)
		ret->threads = 1;
	if (with_fork)
		error = synth_fork(s, pid, pid, ret->ppid);
	if (!error)
		error = synth_comm(s, pid, pid, ret->comm);
	/* Kernel threads have no mappings of their own. */
	if (!error && !ret->kernel_thread)
		error = synth_maps(s, pid);
	/* The first few that could not be read are named in a message. */
	if (s->counts.denied != denied && denied < SYNTH_DENIED) {
		struct synth_denied *d = &s->counts.denied_first[denied];

		d->pid = pid;
		snprintf(d->comm, sizeof(d->comm), "%.15s", ret->comm);
	}
	return error;
}

/* Appends what is known of a process and its threads. 0 also if the process has gone. -ENOMEM. */
static int synth_one(struct synth *s, pid_t pid, bool with_fork)
{
	struct procfs_stat stat;
	char path[32];
	int error = synth_leader(s, pid, with_fork, &stat);

	if (error || stat.threads < 2)
		return error;
	buf_clear(&s->tids);
	snprintf(path, sizeof(path), "%d/task", (int)pid);
	if (procfs_numbers(s->proc, path, &s->tids) == -ENOMEM)
		return -ENOMEM;
	for (size_t at = 0; at + sizeof(pid_t) <= s->tids.n && !error; at += sizeof(pid_t)) {
		pid_t tid;

		memcpy(&tid, s->tids.bytes + at, sizeof(tid));
		if (tid != pid)
			error = synth_other_thread(s, pid, tid);
	}
	return error;
}

/* Mappings of the kernel, of its modules, and names of BPF programs. 0 or -errno, or what write
 * returned. */
int synth_kernel(struct synth *s, capture_write write, void *ctx)
{
	int error = synth_kernel_records(&s->opts, s->proc, s->sys, &s->out, &s->counts);

	/* The running kernel's BPF programs; a tree that stands in for /proc has none. */
	if (!error && !s->opts.proc)
		error = synth_bpf_records(&s->opts, &s->out, &s->counts);
	return error ? error : synth_flush(s, 0, write, ctx);
}

/* Names of control groups: samples have their numbers only. */
int synth_cgroups(struct synth *s, capture_write write, void *ctx)
{
	int error = synth_cgroup_records(&s->opts, s->proc, &s->out, &s->counts);

	return error ? error : synth_flush(s, 0, write, ctx);
}

/* All processes of /proc, in its order. The sink gets records by about 256 KiB. */
int synth_all(struct synth *s, capture_write write, void *ctx)
{
	int error;

	buf_clear(&s->pids);
	error = procfs_numbers(s->proc, ".", &s->pids);
	for (size_t at = 0; at + sizeof(pid_t) <= s->pids.n && !error; at += sizeof(pid_t)) {
		pid_t pid;

		memcpy(&pid, s->pids.bytes + at, sizeof(pid));
		error = synth_one(s, pid, true);
		if (!error)
			error = synth_flush(s, SYNTH_FLUSH, write, ctx);
	}
	return error ? error : synth_flush(s, 0, write, ctx);
}

/* One process with its threads and no FORK: its parent is not part of the recording. -ESRCH: it has
 * gone. */
int synth_process(struct synth *s, pid_t pid, capture_write write, void *ctx)
{
	uint64_t before = s->counts.processes;
	int error = synth_one(s, pid, false);

	if (!error)
		error = synth_flush(s, 0, write, ctx);
	return error ? error : s->counts.processes == before ? -ESRCH : 0;
}

/* Gives one thread: its name, and the mappings of its process when the process comes for the first
 * time. -ESRCH: it has gone. */
int synth_thread(struct synth *s, pid_t tid, capture_write write, void *ctx)
{
	struct procfs_stat stat;
	char path[32];
	const char *line;
	bool is_new = true;
	pid_t pid;
	int64_t n;
	int error = 0;

	snprintf(path, sizeof(path), "%d/status", (int)tid);
	n = procfs_read(s->proc, path, &s->text);
	if (n <= 0)
		return n == -ENOMEM ? -ENOMEM : -ESRCH;
	line = strstr((const char *)s->text.bytes, "\nTgid:");
	pid = line ? (pid_t)strtol(line + 6, NULL, 10) : 0;
	if (pid <= 0)
		return -ESRCH;
	/* Threads of one process share mappings: the first thread brings them. */
	if (!map_slot(&s->leaders, (uint64_t)pid, &is_new))
		return -ENOMEM;
	if (is_new)
		error = synth_leader(s, pid, false, &stat);
	if (!error && pid != tid)
		error = synth_other_thread(s, pid, tid);
	return error ? error : synth_flush(s, 0, write, ctx);
}
