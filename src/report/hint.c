// SPDX-License-Identifier: MIT
// hint.c: see hint.h. Advice is given only where it is known to be of use: a debug file for an
// object whose build-id is known, a package for a file that dpkg lists.
#include "report/hint.h"
#include "runtimes/runtime_flags.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each package has a file here with the paths that it installed, one a line. */
#define DPKG_INFO "/var/lib/dpkg/info"
/* The longest list of a package is below 10 MiB; a larger file is none. */
#define LIST_MAX (16u << 20)

/* Whether the list holds the line. What is no plain file is not opened: a FIFO would block. */
static bool hint_list_has(int dir, const char *name, const struct buf *line, struct buf *text)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t n = -1;

	buf_clear(text);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < LIST_MAX &&
	    buf_reserve(text, (size_t)st.st_size + 1))
		n = read(fd, text->bytes, (size_t)st.st_size);
	if (fd >= 0)
		close(fd);
	return n > 0 && memmem(text->bytes, (size_t)n, line->bytes, line->n);
}

/* "libc6" of "libc6:amd64.list". */
/* 1 and the package's name; 0: no package has the file. */
static int hint_package_find(DIR *dir, const struct buf *line, struct buf *ret)
{
	struct buf text = { 0 };
	struct dirent *entry;
	int found = 0;

	rewinddir(dir);
	while (!found && (entry = readdir(dir))) {
		size_t n = strlen(entry->d_name);

		if (n <= 5 || strcmp(entry->d_name + n - 5, ".list") ||
		    !hint_list_has(dirfd(dir), entry->d_name, line, &text))
			continue;
		buf_clear(ret);
		buf_put(ret, entry->d_name,
		        strcspn(entry->d_name, ":") < n - 5 ? strcspn(entry->d_name, ":") : n - 5);
		found = 1;
	}
	buf_free(&text);
	return found;
}

/* Reads lists until one names the file, so call it only where a hint will be shown. path is
 * absolute. 1: *ret is the package; 0: none, or there is no dpkg. */
int hint_package(const char *info, const char *path, struct buf *ret)
{
	DIR *dir = opendir(info);
	struct buf line = { 0 };
	int found = 0;

	/* What stands in /usr/lib may be listed as /lib. */
	for (int cut = 0; dir && cut < 2 && !found; cut++) {
		if (cut && strncmp(path, "/usr/", 5))
			break;
		buf_clear(&line);
		/* Whole lines only: a path is also the beginning of longer ones. */
		buf_printf(&line, "\n%s\n", cut ? path + 4 : path);
		found = line.failed ? 0 : hint_package_find(dir, &line, ret);
	}
	if (dir)
		closedir(dir);
	buf_free(&line);
	return found;
}

/* A file with debugging information by its build-id, and the package that would bring it. */
static void hint_debug_file(const struct symbol_key *key, struct buf *out)
{
	char hex[IMAGE_BUILD_ID_HEX];
	struct buf package = { 0 };

	if (key->build_id.size < 2)
		return;
	image_build_id_hex(&key->build_id, hex);
	buf_printf(out, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	if (hint_package(DPKG_INFO, key->path, &package))
		buf_printf(out, " (package %s-dbgsym or -dbg)", buf_text(&package));
	buf_put_text(out, " would name it; or --debuginfod");
	buf_free(&package);
}

/* An object whose own file is not here, or is of another build. */
static void hint_other_file(const struct symbol_key *key, enum symbol_state state, struct buf *out)
{
	char hex[IMAGE_BUILD_ID_HEX];

	if (key->kind == SYMBOL_KIND_KERNEL)
		buf_printf(out, "its vmlinux (--vmlinux FILE) would name it%s%s",
		           key->build_id.size ? ": build-id " : "",
		           image_build_id_hex(&key->build_id, hex));
	else if (key->build_id.size)
		buf_printf(out,
		           "the file with build-id %s would name it: --symfs DIR, or "
		           "--debuginfod",
		           image_build_id_hex(&key->build_id, hex));
	else if (key->kind == SYMBOL_KIND_FILE && state == SYMBOL_OTHER_BUILD_ID)
		buf_put_text(out, "a build-id (cc -Wl,--build-id) tells builds apart; --symfs DIR "
		                  "takes the files below it as they are");
}

/* Code that a process made: its runtime's own flag, where the runtime is known. */
static void hint_made(uint32_t pid, const struct proc_table *procs, struct buf *out)
{
	const struct runtime_flags *flags = runtime_flags_of(procs, pid);

	if (flags)
		buf_printf(out, "started with %s, %s names this code in /tmp/perf-%u.map",
		           flags->names, flags->name, pid);
	else
		buf_printf(out,
		           "the program that made this code can name it: a jitdump, or "
		           "/tmp/perf-%u.map (node --perf-basic-prof, java "
		           "-XX:+DumpPerfMapAtExit)",
		           pid);
}

/* Writes what can be done about one object's nameless frames, or nothing. */
void hint_unnamed(const struct load_unnamed *unnamed, const struct proc_table *procs,
                  struct buf *out)
{
	const struct symbol_key *key = unnamed->key;

	if (!key)
		return;
	if (key->kind == SYMBOL_KIND_ANON)
		hint_made(key->pid, procs, out);
	else if (key->kind == SYMBOL_KIND_FILE &&
	         (unnamed->state == SYMBOL_NO_SYMBOLS || unnamed->state == SYMBOL_OUTSIDE))
		hint_debug_file(key, out);
	else if (unnamed->state == SYMBOL_NO_FILE || unnamed->state == SYMBOL_OTHER_BUILD_ID)
		hint_other_file(key, unnamed->state, out);
	else if (unnamed->state == SYMBOL_HIDDEN)
		buf_put_text(out, "as root, or with sysctl kernel.kptr_restrict=0, it has names");
}
