// SPDX-License-Identifier: MIT
// capture_synth.c: texts of /proc as records, over a tree of files made here, and over the live
// one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/record.h"
#include "abi/record_at.h"
#include "base/buf.h"
#include "capture/btf_names.h"
#include "capture/buildid.h"
#include "base/procfs.h"
#include "capture/synth.h"
#include "capture/synth_bpf.h"
#include "capture/target.h"
#include "tree.h"

static char root[64];

static void make_file(const char *path, const void *bytes, size_t n)
{
	tree_put(root, path, bytes, n);
}

static void make_text(const char *path, const char *text)
{
	tree_put_text(root, path, text);
}

static int make_root(void **state)
{
	strcpy(root, "/tmp/seam-synth-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static int collect(void *ctx, const void *bytes, size_t n)
{
	return buf_put(ctx, bytes, n);
}

/* ---- texts ---- */

static void test_stat(void **state)
{
	const char plain[] =
	        "42 (we) (ird) name) S 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 99 1 2";
	const char kernel[] = "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 3 0 0";
	struct procfs_stat s;

	assert_int_equal(procfs_stat_parse(plain, strlen(plain), &s), 0);
	assert_string_equal(s.comm, "we) (ird) name");
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.ppid, 7);
	assert_int_equal(s.threads, 3);
	assert_false(s.kernel_thread);
	assert_int_equal(procfs_stat_parse(kernel, strlen(kernel), &s), 0);
	assert_true(s.kernel_thread);
	for (size_t n = 0; n < 60; n++) /* cut anywhere: refused, never read past */
		assert_int_equal(procfs_stat_parse(plain, n, &s), -EBADMSG);
}

static void test_maps(void **state)
{
	char text[] = "55d0-55e0 r-xp 00002000 fe:01 1234                       /bin/with space\n"
	              "nonsense\n"
	              "7000-6000 r-xp 00000000 00:00 0\n"
	              "7fff0000-7fff1000 rw-s 00000000 00:05 7   /new\\012line (deleted)\n"
	              "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]\n"
	              "a000-b000 rwxp 00000000 00:00 0 ";
	char *at = text;
	const char *end = text + strlen(text);
	struct procfs_map m;

	assert_true(procfs_map_next(&at, end, &m));
	assert_int_equal(m.start, 0x55d0);
	assert_int_equal(m.offset, 0x2000);
	assert_int_equal(m.major, 0xfe);
	assert_int_equal(m.minor, 1);
	assert_int_equal(m.inode, 1234);
	assert_true(m.executable && m.readable && !m.writable && !m.shared);
	assert_int_equal(m.path_size, strlen("/bin/with space"));
	assert_memory_equal(m.path, "/bin/with space", m.path_size);
	assert_true(procfs_map_next(&at, end, &m));
	assert_true(m.shared && !m.executable);
	assert_memory_equal(m.path, "/new\nline (deleted)", m.path_size);
	assert_int_equal(m.path_size, strlen("/new\nline (deleted)"));
	assert_true(procfs_map_next(&at, end, &m));
	assert_int_equal(m.start, 0xffffffffff600000);
	assert_true(procfs_map_next(&at, end, &m));
	assert_int_equal(m.path_size, 0);
	assert_false(procfs_map_next(&at, end, &m));
}

/* The same of this process, by questions and from the text, with a newline in a file's name. */
static void test_query(void **state)
{
	struct procfs_query q = { .fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC) };
	struct procfs_map asked, read;
	struct buf text = { 0 };
	char path[128], *at;
	void *mapped;
	int64_t n;
	int fd, r;

	(void)state;
	snprintf(path, sizeof(path), "%s/new\nline", root);
	make_text("new\nline", "code");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (mapped == MAP_FAILED) /* a file system that is mounted noexec */
		mapped =
		        mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	n = procfs_read(AT_FDCWD, "/proc/self/maps", &text);
	assert_true(n > 0);
	at = (char *)text.bytes;
	r = procfs_map_query(&q, &asked);
	while (procfs_map_next(&at, (char *)text.bytes + n, &read)) {
		if (!read.executable || r == -ENOTTY || read.start >> 63)
			continue;
		assert_int_equal(r, 1);
		assert_int_equal(asked.start, read.start);
		assert_int_equal(asked.end, read.end);
		assert_int_equal(asked.offset, read.offset);
		assert_int_equal(asked.inode, read.inode);
		assert_int_equal(asked.major, read.major);
		assert_int_equal(asked.minor, read.minor);
		assert_true(asked.executable && asked.readable == read.readable &&
		            asked.writable == read.writable && asked.shared == read.shared);
		assert_int_equal(asked.path_size, read.path_size);
		assert_memory_equal(asked.path, read.path, read.path_size);
		r = procfs_map_query(&q, &asked);
	}
	assert_true(r == 0 || r == -ENOTTY);
	q = (struct procfs_query){ .fd = fd };
	assert_int_equal(procfs_map_query(&q, &asked), -ENOTTY);
	munmap(mapped, 4096);
	buf_free(&text);
	close(fd);
}

/* ---- build-ids ---- */

static const unsigned char note[] = { 4,   0,   0,   0, 8, 0, 0, 0, 3, 0, 0, 0,
	                              'G', 'N', 'U', 0, 1, 2, 3, 4, 5, 6, 7, 8 };

static void test_notes(void **state)
{
	unsigned char two[24 + sizeof(note)] = {
		4, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U'
	};
	uint8_t id[BUILDID_MAX];

	assert_int_equal(buildid_from_notes(note, sizeof(note), 4, id), 8);
	assert_memory_equal(id, note + 16, 8);
	memcpy(two + 24, note, sizeof(note));
	assert_int_equal(buildid_from_notes(two, sizeof(two), 4, id), 8);
	for (size_t n = 0; n < sizeof(note); n++)
		assert_int_equal(buildid_from_notes(note, n, 4, id), 0);
	memset(two, 0xff, 12); /* lengths of 4 GiB */
	assert_int_equal(buildid_from_notes(two, sizeof(two), 4, id), 0);
}

/* A file of 64 KiB and more, with its notes far behind, or with a table that lies. */
static void test_elf(void **state)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, 0, 1 },
		              .e_phoff = sizeof(Elf64_Ehdr),
		              .e_phentsize = sizeof(Elf64_Phdr),
		              .e_phnum = 1 };
	Elf64_Phdr segment = { .p_type = PT_NOTE, .p_offset = 5000, .p_filesz = sizeof(note) };
	unsigned char file[6000] = { 0 };
	uint8_t id[BUILDID_MAX];
	char path[128];
	int fd;

	header.e_ident[EI_DATA] =
	        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	segment.p_align = 4;
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), &segment, sizeof(segment));
	memcpy(file + 5000, note, sizeof(note));
	make_file("elf", file, sizeof(file));
	snprintf(path, sizeof(path), "%s/elf", root);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(buildid_from_fd(fd, id), 8);
	assert_memory_equal(id, note + 16, 8);
	segment.p_offset = UINT64_MAX - 4;
	assert_int_equal(pwrite(fd, &segment, sizeof(segment), sizeof(header)), sizeof(segment));
	assert_int_equal(buildid_from_fd(fd, id), 0);
	header.e_phoff = UINT64_MAX - 8;
	header.e_phnum = 0xffff;
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(buildid_from_fd(fd, id), 0);
	close(fd);
}

/* ---- records ---- */

static const struct seam_attr attr = {
	.sample_type = SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_ID,
	.flags = SEAM_ATTR_SAMPLE_ID_ALL,
};

struct expected {
	uint32_t type;
	uint16_t misc;
	uint32_t pid, tid;
	const char *name; /* of COMM and mappings */
};

/* All records of bytes, decoded, against what is expected, in order. */
static void check_records(const struct buf *bytes, const struct expected *expected, size_t n)
{
	struct seam_events *events;
	size_t at = 0, i = 0;

	assert_int_equal(seam_events_new(&events), 0);
	assert_true(seam_events_add(events, &attr, "x", (const uint64_t[]){ 1 }, 1, NULL) >= 0);
	for (; at < bytes->n; i++) {
		struct seam_record r;
		struct seam_decoded d;

		assert_true(record_at(bytes->bytes + at, bytes->n - at, &r));
		assert_true(i < n);
		assert_int_equal(r.type, expected[i].type);
		assert_int_equal(r.misc, expected[i].misc);
		assert_int_equal(record_decode(events, &r, &d, NULL), 0);
		assert_int_equal(d.id.time_ns, 0);
		if (r.type == SEAM_RECORD_FORK) {
			assert_int_equal(d.task.pid, expected[i].pid);
			assert_int_equal(d.task.tid, expected[i].tid);
		} else if (r.type == SEAM_RECORD_COMM) {
			assert_int_equal(d.comm.tid, expected[i].tid);
			assert_string_equal(d.comm.comm, expected[i].name);
		} else {
			assert_int_equal(d.mmap.pid, expected[i].pid);
			assert_string_equal(d.mmap.filename, expected[i].name);
		}
		at += r.size;
	}
	assert_int_equal(i, n);
	seam_events_free(events);
}

static void make_proc(void)
{
	make_text("proc/7/stat", "7 (one) S 1 7 7 0 -1 0 1 2 3 4 5 6 7 8 20 0 2 0 99 1 2\n");
	make_text("proc/7/maps", "1000-2000 r-xp 00000000 00:00 0 \n"
	                         "2000-3000 rw-p 00000000 00:00 0 [heap]\n"
	                         "3000-4000 r-xp 00001000 fe:01 55 /bin/x\n");
	make_text("proc/7/task/7/comm", "one\n");
	make_text("proc/7/task/8/comm", "worker\n");
	make_text("proc/7/status", "Name:\tone\nTgid:\t7\n");
	make_text("proc/8/status", "Name:\tworker\nTgid:\t7\n"); /* reachable, not listed */
	make_text("proc/9/maps", "");                            /* gone but for its directory */
	make_text("proc/self/comm", "");
	make_text("proc/kallsyms", "0000000000000000 A fixed_percpu_data\n"
	                           "ffffffff81000000 T _stext\nffffffff81000000 T _text\n"
	                           "ffffffff82000000 T _etext\n");
	make_text("proc/modules", "b_mod 8192 0 - Live 0xffffffffc0002000\n"
	                          "a_mod 16384 1 b_mod, Live 0xffffffffc0000000 (OE)\n");
	make_text("modules/modules.dep", "kernel/fs/a-mod.ko.xz: kernel/b.ko\nkernel/b.ko:\n");
	make_file("sys/kernel/notes", note, sizeof(note));
}

static struct synth *open_synth(void)
{
	static char proc[128], sys[128], modules[128];
	struct synth_opts opts = { .sz = sizeof(opts),
		                   .attr = &attr,
		                   .build_ids = true,
		                   .proc = proc,
		                   .sys = sys,
		                   .modules = modules };
	struct synth *s;

	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(modules, sizeof(modules), "%s/modules", root);
	assert_int_equal(synth_new(&s, &opts), 0);
	return s;
}

static void test_process(void **state)
{
	static const struct expected expected[] = {
		{ SEAM_RECORD_COMM, 0, 7, 7, "one" },
		{ SEAM_RECORD_MMAP2, SEAM_MISC_USER, 7, 7, "//anon" },
		{ SEAM_RECORD_MMAP2, SEAM_MISC_USER, 7, 7, "/bin/x" },
		{ SEAM_RECORD_FORK, SEAM_MISC_FORK_EXEC, 7, 8, NULL },
		{ SEAM_RECORD_COMM, 0, 7, 8, "worker" },
	};
	struct buf out = { 0 };
	struct synth *s;

	make_proc();
	s = open_synth();
	assert_int_equal(synth_process(s, 7, collect, &out), 0);
	check_records(&out, expected, 5);
	assert_int_equal(synth_process(s, 4711, collect, &out), -ESRCH);
	buf_clear(&out);
	/* A thread, and once more: the mappings of its process only the first time. */
	assert_int_equal(synth_thread(s, 8, collect, &out), 0);
	check_records(&out, expected, 5);
	buf_clear(&out);
	assert_int_equal(synth_thread(s, 8, collect, &out), 0);
	check_records(&out, expected + 3, 2);
	synth_free(s);
	buf_free(&out);
}

static void test_gone(void **state)
{
	struct synth_counts counts;
	struct buf out = { 0 };
	struct synth *s;

	make_proc();
	s = open_synth();
	assert_int_equal(synth_all(s, collect, &out), 0); /* 8 and 9 have no stat: no error */
	synth_counts(s, &counts);
	assert_int_equal(counts.processes, 1);
	assert_int_equal(counts.threads, 2);
	assert_int_equal(counts.gone, 2);
	assert_int_equal(counts.bytes, out.n);
	synth_free(s);
	buf_free(&out);
}

/* Groups of the hierarchy that perf events know, whatever else is mounted; deep ones and links are
 * not followed for ever. */
static void test_cgroups(void **state)
{
	static const char *const paths[] = { "/", "/a b", "/a b/c" };
	struct synth *s = NULL;
	struct buf out = { 0 };
	struct synth_counts counts;
	struct seam_record r;
	char text[1024], path[512];
	size_t at = 0, found = 0;
	struct stat st;

	snprintf(text, sizeof(text),
	         "20 1 0:1 / /nowhere rw - tmpfs tmpfs rw\n"
	         "21 20 0:5 / /elsewhere rw shared:1 - cgroup cgroup rw,cpu,perf_events\n"
	         "22 20 0:6 / %s/the\\040mount rw shared:2 master:1 - cgroup2 cgroup2 rw\n",
	         root);
	make_text("proc/self/mountinfo", text);
	make_text("the mount/cgroup.procs", "");
	make_text("the mount/a b/cgroup.procs", "");
	make_text("the mount/a b/c/cgroup.procs", "");
	snprintf(path, sizeof(path), "%s/the mount/a b/c/up", root);
	assert_int_equal(symlink("../..", path), 0);
	s = open_synth();
	assert_int_equal(synth_cgroups(s, collect, &out), 0);
	for (; at < out.n; at += r.size) {
		uint64_t id;

		assert_true(record_at(out.bytes + at, out.n - at, &r));
		assert_int_equal(r.type, SEAM_RECORD_CGROUP);
		assert_true(found < 3);
		assert_string_equal((const char *)r.bytes + 16, paths[found]);
		snprintf(path, sizeof(path), "%s/the mount%s", root, paths[found++]);
		assert_int_equal(stat(path, &st), 0);
		memcpy(&id, r.bytes + 8, 8);
		assert_int_equal(id, st.st_ino);
	}
	assert_int_equal(found, 3);
	synth_counts(s, &counts);
	assert_int_equal(counts.cgroups, 3);
	synth_free(s);

	/* The first version comes first where it has that controller. */
	snprintf(text, sizeof(text),
	         "22 20 0:6 / %s/the\\040mount rw - cgroup2 cgroup2 rw\n"
	         "21 20 0:5 / %s/v1 rw - cgroup cgroup rw,cpu,perf_event",
	         root, root);
	make_text("proc/self/mountinfo", text);
	make_text("v1/x", "");
	buf_clear(&out);
	s = open_synth();
	assert_int_equal(synth_cgroups(s, collect, &out), 0);
	synth_counts(s, &counts);
	assert_int_equal(counts.cgroups, 1);
	synth_free(s);

	/* Nothing is mounted. */
	make_text("proc/self/mountinfo", "20 1 0:1 / /nowhere rw\n- cgroup2\n");
	buf_clear(&out);
	s = open_synth();
	assert_int_equal(synth_cgroups(s, collect, &out), 0);
	assert_int_equal(out.n, 0);
	synth_free(s);
	buf_free(&out);
}

static void test_kernel(void **state)
{
	char a_mod[128], b_mod[128];
	struct expected expected[] = {
		{ SEAM_RECORD_MMAP2, SEAM_MISC_KERNEL | SEAM_MISC_MMAP_BUILD_ID, UINT32_MAX, 0,
		  "[kernel.kallsyms]_text" },
		{ SEAM_RECORD_MMAP2, SEAM_MISC_KERNEL, UINT32_MAX, 0, a_mod },
		{ SEAM_RECORD_MMAP2, SEAM_MISC_KERNEL, UINT32_MAX, 0, "[b_mod]" },
	};
	struct synth_counts counts;
	struct buf out = { 0 };
	struct synth *s;
	uint64_t length;

	snprintf(a_mod, sizeof(a_mod), "%s/modules/kernel/fs/a-mod.ko.xz", root);
	snprintf(b_mod, sizeof(b_mod), "%s/modules/kernel/b.ko", root);
	make_proc();
	s = open_synth();
	assert_int_equal(synth_kernel(s, collect, &out), 0);
	check_records(&out, expected, 3);
	/* addr, len, pgoff of the first record: len from _etext, as there is no iomem */
	memcpy(&length, out.bytes + 24, 8);
	assert_int_equal(length, 0x1000000);
	synth_counts(s, &counts);
	assert_true(counts.kernel);
	assert_int_equal(counts.modules, 2);
	synth_free(s);

	make_text("proc/kallsyms", "0000000000000000 T _stext\n0000000000000000 T _text\n");
	make_text("proc/modules", "b_mod 8192 0 - Live 0x0000000000000000\n");
	buf_clear(&out);
	s = open_synth();
	assert_int_equal(synth_kernel(s, collect, &out), 0);
	synth_counts(s, &counts);
	assert_false(counts.kernel); /* hidden: no record rather than a wrong one */
	assert_int_equal(out.n, 0);
	synth_free(s);
	buf_free(&out);
}

/* The process that runs this test, as the live /proc shows it: its own build-id is in the
 * records. */
static void test_live(void **state)
{
	struct synth_opts opts = { .sz = sizeof(opts), .attr = &attr, .build_ids = true };
	struct synth_counts counts;
	struct buf out = { 0 };
	uint8_t id[BUILDID_MAX];
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned size = buildid_from_fd(fd, id);
	struct synth *s;

	close(fd);
	assert_int_equal(synth_new(&s, &opts), 0);
	assert_int_equal(synth_process(s, getpid(), collect, &out), 0);
	synth_counts(s, &counts);
	assert_int_equal(counts.processes, 1);
	assert_true(counts.mappings >= 2);
	if (size)
		assert_non_null(memmem(out.bytes, out.n, id, size));
	synth_free(s);
	buf_free(&out);
}

/* As nobody, who may not look into root's process: it is counted, and has a name. The name of what
 * was denied, 0: nothing was. */
static int denied_as_nobody(pid_t pid)
{
	struct synth_opts opts = { .sz = sizeof(opts), .attr = &attr };
	struct synth_counts counts;
	struct buf out = { 0 };
	struct synth *s;

	if (setresuid(65534, 65534, 65534) < 0 || synth_new(&s, &opts) < 0 ||
	    synth_process(s, pid, collect, &out) < 0)
		return 1;
	synth_counts(s, &counts);
	return counts.denied == 1 && counts.denied_first[0].pid == pid &&
	                       !strcmp(counts.denied_first[0].comm, "not to be seen")
	               ? 0
	               : 2;
}

static void test_denied(void **state)
{
	int status;
	pid_t pid;

	if (geteuid())
		skip();
	assert_int_equal(prctl(PR_SET_NAME, "not to be seen"), 0);
	pid = fork();
	if (!pid)
		_exit(denied_as_nobody(getppid()));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A BPF program loaded here and now is found again, by its tag, with code that is somewhere. */
static void test_bpf(void **state)
{
	static const char license[] = "MIT";
	const struct bpf_insn code[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 4711 },
		                         { .code = BPF_JMP | BPF_EXIT } };
	struct synth_opts opts = { .sz = sizeof(opts), .attr = &attr };
	struct synth_counts counts = { 0 };
	struct buf out = { 0 };
	union bpf_attr load = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		                .insn_cnt = 2,
		                .insns = (uint64_t)(uintptr_t)code,
		                .license = (uint64_t)(uintptr_t)license,
		                .prog_name = "seam_test" };
	struct bpf_prog_info info = { 0 };
	union bpf_attr ask = { 0 };
	int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));

	if (fd < 0) {
		print_message("no BPF program can be loaded here: %s\n", strerror(errno));
		skip();
	}
	ask.info.bpf_fd = (uint32_t)fd;
	ask.info.info_len = sizeof(info);
	ask.info.info = (uint64_t)(uintptr_t)&info;
	assert_int_equal(syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &ask, sizeof(ask)), 0);
	assert_int_equal(synth_bpf_records(&opts, &out, &counts), 0);
	if (info.nr_jited_ksyms) {
		assert_true(counts.bpf >= 1);
		assert_non_null(memmem(out.bytes, out.n, "_seam_test", 11));
	}
	close(fd);
	buf_clear(&out);
	assert_int_equal(synth_bpf_records(&opts, &out, &counts), 0);
	buf_free(&out);
}

/* void (a_function_of_some_length)(void), as BTF: INT, FUNC_PROTO, FUNC. A number of it, or
 * -errno. */
static int load_btf(const char *function)
{
	struct buf b = { 0 };
	union bpf_attr load = { 0 };
	uint32_t strings = 1 + 4 + (uint32_t)strlen(function) + 1;
	int fd;

	buf_put_u32(&b, BTF_MAGIC | 1u << 16);
	for (size_t i = 0; i < 5; i++)
		buf_put_u32(&b, (const uint32_t[]){ 24, 0, 16 + 12 + 12, 40, strings }[i]);
	for (size_t i = 0; i < 10; i++) /* int; int (void); the function, global */
		buf_put_u32(&b, (const uint32_t[]){ 1, 1u << 24, 4, 1u << 24 | 32, 0, 13u << 24, 1,
		                                    5, 12u << 24 | 1, 2 }[i]);
	buf_put(&b, "\0int", 5);
	buf_put(&b, function, strlen(function) + 1);
	load.btf = (uint64_t)(uintptr_t)b.bytes;
	load.btf_size = (uint32_t)b.n;
	fd = (int)syscall(SYS_bpf, BPF_BTF_LOAD, &load, sizeof(load));
	fd = fd < 0 ? -errno : fd;
	buf_free(&b);
	return fd;
}

/* The name of its function is longer than what the kernel keeps as the program's. */
static void test_bpf_function(void **state)
{
	static const char license[] = "MIT", function[] = "a_function_of_some_length";
	const struct bpf_insn code[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 4712 },
		                         { .code = BPF_JMP | BPF_EXIT } };
	const struct bpf_func_info info = { .insn_off = 0, .type_id = 3 };
	struct synth_opts opts = { .sz = sizeof(opts), .attr = &attr };
	struct synth_counts counts = { 0 };
	struct buf out = { 0 };
	int btf = load_btf(function), fd;
	union bpf_attr load = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		                .insn_cnt = 2,
		                .insns = (uint64_t)(uintptr_t)code,
		                .license = (uint64_t)(uintptr_t)license,
		                .prog_btf_fd = (uint32_t)btf,
		                .func_info_rec_size = sizeof(info),
		                .func_info = (uint64_t)(uintptr_t)&info,
		                .func_info_cnt = 1 };

	fd = btf < 0 ? btf : (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
	if (fd < 0) {
		print_message("no BPF program can be loaded here: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(synth_bpf_records(&opts, &out, &counts), 0);
	if (counts.bpf)
		assert_non_null(memmem(out.bytes, out.n, function, sizeof(function)));
	close(fd);
	close(btf);
	buf_free(&out);
}

/* Cut anywhere, or with sizes that lead elsewhere, it gives names or none. */
static void test_btf_hostile(void **state)
{
	static const uint32_t whole[] = {
		BTF_MAGIC | 1u << 16,     24,  0, 12, 12, 8, 1, 12u << 24, 0,
		0x6d616e00 /* "\0nam" */, 0x65
	};
	const uint32_t ids[] = { 1, 2 };
	const char *names[2];
	uint32_t bytes[11];

	assert_int_equal(btf_names(whole, sizeof(whole), ids, 2, names), 0);
	assert_string_equal(names[0], "name");
	assert_null(names[1]);
	for (size_t n = 0; n < sizeof(whole); n++) {
		void *cut = malloc(n + 1);

		memcpy(cut, whole, n);
		assert_int_equal(btf_names(cut, n, ids, 2, names), -EBADMSG);
		free(cut);
	}
	for (size_t i = 1; i < 11; i++) {
		memcpy(bytes, whole, sizeof(bytes));
		bytes[i] = UINT32_MAX;
		btf_names(bytes, sizeof(bytes), ids, 2, names);
	}
}

static int refuse(void *ctx, const void *bytes, size_t n)
{
	return -ENOSPC;
}

static void test_sink_fails(void **state)
{
	struct synth *s;

	make_proc();
	s = open_synth();
	assert_int_equal(synth_process(s, 7, refuse, NULL), -ENOSPC);
	synth_free(s);
}

/* ---- the command ---- */

static void test_target(void **state)
{
	struct target t;
	char sh[] = "sh", c[] = "-c", nine[] = "exit 9", kill[] = "kill -9 $$";
	char nowhere[] = "/nonexistent/command";
	char *ends[] = { sh, c, nine, NULL }, *dies[] = { sh, c, kill, NULL };
	char *none[] = { nowhere, NULL };

	assert_int_equal(target_fork(&t, ends, false), 0);
	assert_false(target_poll(&t)); /* held back */
	assert_int_equal(target_go(&t), 0);
	while (!target_poll(&t))
		usleep(1000);
	assert_int_equal(target_exit_code(&t), 9);
	target_close(&t);

	assert_int_equal(target_fork(&t, dies, false), 0);
	assert_int_equal(target_go(&t), 0);
	while (!target_poll(&t))
		usleep(1000);
	assert_int_equal(target_exit_code(&t), 137);
	target_close(&t);

	assert_int_equal(target_fork(&t, none, false), 0);
	assert_int_equal(target_go(&t), -ENOENT);
	target_close(&t);

	/* Never let go: it is gone after close and has run nothing. */
	assert_int_equal(target_fork(&t, ends, false), 0);
	target_close(&t);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_maps),
		cmocka_unit_test_setup_teardown(test_query, make_root, remove_root),
		cmocka_unit_test(test_notes),
		cmocka_unit_test_setup_teardown(test_elf, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_process, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_gone, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_cgroups, make_root, remove_root),
		cmocka_unit_test_setup_teardown(test_kernel, make_root, remove_root),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_denied),
		cmocka_unit_test(test_bpf),
		cmocka_unit_test(test_bpf_function),
		cmocka_unit_test(test_btf_hostile),
		cmocka_unit_test_setup_teardown(test_sink_fails, make_root, remove_root),
		cmocka_unit_test(test_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
