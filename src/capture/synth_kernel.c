// SPDX-License-Identifier: MIT
/*
 * synth_kernel.c: knows /proc/kallsyms, /proc/iomem, /proc/modules and where their build-ids are.
 *
 * Invariant: a mapping is written only from an address that the kernel really showed; hidden (zero)
 * addresses give no record rather than a wrong one. The kernel's text ends where /proc/iomem says,
 * because reading all of kallsyms for _etext costs more than everything else here together; that is
 * done only when iomem is silent.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "abi/encode.h"
#include "base/map.h"
#include "capture/buildid.h"
#include "base/procfs.h"
#include "capture/synth_kernel.h"

#define KALLSYMS_CHUNK 65536u

/* Addresses of the three symbols by which the kernel's text is known. */
struct kallsyms_range {
	uint64_t text, stext, etext; /* 0: not seen, or hidden */
	bool hidden;                 /* _text or _stext was seen, without its address */
};

/* "ffffffff81000000 T _text", without the newline. */
static void synth_kallsyms_line(const char *line, size_t n, struct kallsyms_range *r)
{
	uint64_t address = 0;
	size_t i = 0;

	for (; i < n && i < 16; i++) {
		char c = line[i];
		unsigned digit =
		        c >= '0' && c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;

		if (digit > 15)
			break;
		address = address << 4 | digit;
	}
	/* What is left must hold " T _": a type between blanks, and a name. */
	if (n - i < 4)
		return;
	line += i + 3; /* " T " */
	n -= i + 3;
	if (n == 5 && !memcmp(line, "_text", 5))
		r->text = address;
	else if (n == 6 && !memcmp(line, "_stext", 6))
		r->stext = address;
	else if (n == 6 && !memcmp(line, "_etext", 6))
		r->etext = address;
	else
		return;
	r->hidden |= !address;
}

/* Reads until the start is known, and the end if it is wanted. Symbols stand in the order of their
 * addresses, so _text and _stext are both in the first chunk. */
static void synth_kallsyms_scan(int proc, bool want_end, struct kallsyms_range *r)
{
	char *bytes = malloc(KALLSYMS_CHUNK);
	int fd = openat(proc, "kallsyms", O_RDONLY | O_CLOEXEC);
	size_t kept = 0;

	while (bytes && fd >= 0) {
		ssize_t n = read(fd, bytes + kept, KALLSYMS_CHUNK - kept);
		char *at = bytes, *end, *newline;

		if (n <= 0)
			break;
		end = bytes + kept + n;
		while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
			synth_kallsyms_line(at, (size_t)(newline - at), r);
			at = newline + 1;
		}
		kept = (size_t)(end - at);
		/* A line longer than the buffer is none of ours; hidden addresses stay hidden. */
		if (kept == KALLSYMS_CHUNK || r->hidden || (r->text && (r->etext || !want_end)))
			break;
		memmove(bytes, at, kept);
	}
	if (fd >= 0)
		close(fd);
	free(bytes);
}

/* The length of the kernel's text by "01000000-022090c7 : Kernel code"; 0 when it is hidden.
 * Physical addresses: only their difference is used. To unprivileged users the kernel shows
 * zeros. */
static uint64_t synth_iomem_text_length(int proc, struct buf *text)
{
	unsigned long long start, end;
	const char *code, *line;

	if (procfs_read(proc, "iomem", text) < 0)
		return 0;
	code = strstr((const char *)text->bytes, " : Kernel code");
	if (!code)
		return 0;
	for (line = code; line > (const char *)text->bytes && line[-1] != '\n'; line--)
		;
	if (sscanf(line, " %llx-%llx", &start, &end) != 2 || end <= start)
		return 0;
	return end - start + 1;
}

/* Kernel mappings have pid -1. Without build-ids the older MMAP record says all there is. */
static int synth_kernel_put(const struct synth_opts *opts, struct buf *out, struct seam_mmap *m)
{
	m->pid = UINT32_MAX;
	m->has_build_id = m->build_id_size;
	if (!opts->build_ids)
		return encode_mmap(out, opts->attr, SEAM_MISC_KERNEL, m, NULL);
	m->has_prot = true;
	return encode_mmap2(out, opts->attr, SEAM_MISC_KERNEL, m, NULL);
}

/* Appends the record of the kernel's text, unless its addresses are hidden. It is named by the
 * symbol that its start was read from. */
static int synth_kernel_text(const struct synth_opts *opts, int proc, int sys, struct buf *text,
                             struct buf *out, struct synth_counts *counts)
{
	struct seam_mmap m = { .filename = "[kernel.kallsyms]_text" };
	struct kallsyms_range r = { 0 };
	int error;

	m.len = synth_iomem_text_length(proc, text);
	synth_kallsyms_scan(proc, !m.len, &r);
	if (!r.text) {
		r.text = r.stext;
		m.filename = "[kernel.kallsyms]_stext";
	}
	if (!m.len && r.etext > r.text)
		m.len = r.etext - r.text;
	if (!r.text || !m.len)
		return 0;
	m.addr = m.pgoff = r.text;
	if (opts->build_ids && sys >= 0)
		m.build_id_size = (uint8_t)buildid_from_notes_file(sys, "kernel/notes", m.build_id);
	error = synth_kernel_put(opts, out, &m);
	counts->kernel = !error;
	return error;
}

struct module {
	uint64_t address, size;
	char name[64];
};

/* By address, to find which module follows. */
static int synth_module_compare(const void *a, const void *b)
{
	const struct module *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* "name 16384 2 dep,dep, Live 0xffffffffc0a00000 (OE)", one per line. */
static size_t synth_module_list(char *text, struct buf *ret)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct module m = { 0 };
		unsigned long long size, address;

		/* name, size, references, who uses it, state, address. */
		if (sscanf(line, "%63s %llu %*s %*s %*s %llx", m.name, &size, &address) != 3 ||
		    !address || !size)
			continue;
		m.size = size;
		m.address = address;
		if (buf_put(ret, &m, sizeof(m)) < 0)
			break;
	}
	return ret->n / sizeof(struct module);
}

/* A name as the kernel spells it: file names may have '-' where the module has '_'. */
static uint64_t synth_module_hash(const char *name, size_t n)
{
	char plain[64];

	if (n > sizeof(plain))
		n = sizeof(plain);
	for (size_t i = 0; i < n; i++)
		plain[i] = name[i] == '-' ? '_' : name[i];
	return map_hash_bytes(plain, n, 0);
}

/* "kernel/fs/ext4/ext4.ko.xz", n bytes at offset at of modules.dep: the name before ".ko" leads to
 * the line's offset. The suffixes say how it is compressed. */
static void synth_module_file(const char *path, size_t n, size_t at, struct map *ret)
{
	size_t start = n, end;

	while (start && path[start - 1] != '/')
		start--;
	for (end = start; end + 3 <= n; end++) {
		if (!memcmp(path + end, ".ko", 3)) {
			map_put(ret, synth_module_hash(path + start, end - start), at);
			return;
		}
	}
}

/* From modules.dep, "PATH: PATH ...": module name -> offset of its line. */
static void synth_module_files(const char *text, size_t n, struct map *ret)
{
	for (size_t at = 0, next; at < n; at = next) {
		const char *newline = memchr(text + at, '\n', n - at);
		size_t length = newline ? (size_t)(newline - text) - at : n - at;
		const char *colon = memchr(text + at, ':', length);

		if (colon)
			synth_module_file(text + at, (size_t)(colon - text) - at, at, ret);
		next = at + length + 1;
	}
}

/* The path of a module's file by modules.dep, or "[name]" where that does not list it. */
static void synth_module_path(const struct synth_opts *opts, const char *release,
                              const struct map *files, const struct buf *dep, const char *name,
                              char *path, size_t n)
{
	const char *line, *colon;
	uint64_t at;

	/* What the kernel calls a module in its own records, and what stays when no file is
	 * known. */
	snprintf(path, n, "[%s]", name);
	if (!map_get(files, synth_module_hash(name, strlen(name)), &at) || at >= dep->n)
		return;
	line = (const char *)dep->bytes + at;
	colon = memchr(line, ':', dep->n - (size_t)at);
	if (!colon)
		return;
	if (line[0] == '/')
		snprintf(path, n, "%.*s", (int)(colon - line), line);
	else if (opts->modules)
		snprintf(path, n, "%s/%.*s", opts->modules, (int)(colon - line), line);
	else
		snprintf(path, n, "/lib/modules/%s/%.*s", release, (int)(colon - line), line);
}

/* modules.dep of the running kernel, as depmod wrote it. Without it modules are named in
 * brackets. */
static void synth_module_read_files(const struct synth_opts *opts, const char *release,
                                    struct buf *dep, struct map *files)
{
	char path[512];

	if (opts->modules)
		snprintf(path, sizeof(path), "%s/modules.dep", opts->modules);
	else
		snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	if (procfs_read(AT_FDCWD, path, dep) > 0)
		synth_module_files((const char *)dep->bytes, dep->n, files);
}

/* Appends a record for each module whose address the kernel shows. 0, or -errno of encoding. */
static int synth_kernel_modules(const struct synth_opts *opts, int proc, int sys, struct buf *text,
                                struct buf *out, struct synth_counts *counts)
{
	struct buf list = { 0 }, dep = { 0 };
	struct map files = { 0 };
	struct utsname u = { 0 };
	struct module *modules;
	size_t n = 0;
	int error = 0;

	if (procfs_read(proc, "modules", text) > 0)
		n = synth_module_list((char *)text->bytes, &list);
	modules = (struct module *)(void *)list.bytes;
	if (!modules)
		n = 0;
	if (n) {
		qsort(modules, n, sizeof(*modules), synth_module_compare);
		uname(&u);
		synth_module_read_files(opts, u.release, &dep, &files);
	}
	for (size_t i = 0; i < n && !error; i++) {
		char path[512], notes[128];
		struct seam_mmap m = { .addr = modules[i].address, .len = modules[i].size };

		/* The size counts all parts of a module, which may lie apart. So a mapping never
		 * reaches into the next module. */
		if (i + 1 < n && m.len > modules[i + 1].address - m.addr)
			m.len = modules[i + 1].address - m.addr;
		synth_module_path(opts, u.release, &files, &dep, modules[i].name, path,
		                  sizeof(path));
		snprintf(notes, sizeof(notes), "module/%s/notes/.note.gnu.build-id",
		         modules[i].name);
		if (opts->build_ids && sys >= 0)
			m.build_id_size = (uint8_t)buildid_from_notes_file(sys, notes, m.build_id);
		m.filename = path;
		error = synth_kernel_put(opts, out, &m);
		counts->modules += !error;
	}
	map_free(&files);
	buf_free(&list);
	buf_free(&dep);
	return error;
}

/* out grows by the records; counts by what was found. */
int synth_kernel_records(const struct synth_opts *opts, int proc, int sys, struct buf *out,
                         struct synth_counts *counts)
{
	struct buf text = { 0 };
	int error = synth_kernel_text(opts, proc, sys, &text, out, counts);

	if (!error)
		error = synth_kernel_modules(opts, proc, sys, &text, out, counts);
	buf_free(&text);
	return error;
}
