// SPDX-License-Identifier: MIT
// hint.c: see hint.h. Advice is given only where it is known to be of use: a debug file for an
// object whose build-id is known, a package for a file that dpkg lists.
#include "report/hint.h"
#include "report/hint_known.h"
#include "runtimes/runtime_flags.h"

/* Each package has a file here with the paths that it installed, one a line. */
#define DPKG_INFO "/var/lib/dpkg/info"

/* Whether the package of the object's file is worth to be known. */
static bool hint_wants_package(const struct load_unnamed *u)
{
	return u->key && u->key->kind == SYMBOL_KIND_FILE && u->key->build_id.size >= 2 &&
	       (u->state == SYMBOL_NO_SYMBOLS || u->state == SYMBOL_OUTSIDE);
}

/* A file with debugging information by its build-id, and the package that would bring it. */
static void hint_debug_file(const struct symbol_key *key, struct buf *package, struct buf *out)
{
	char hex[IMAGE_BUILD_ID_HEX];

	image_build_id_hex(&key->build_id, hex);
	buf_printf(out, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	if (package->n)
		buf_printf(out, " (package %s-dbgsym or -dbg)", buf_text(package));
	buf_put_text(out, " would name it; or --debuginfod");
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
static void hint_one(const struct load_unnamed *unnamed, const struct proc_table *procs,
                     struct buf *package, struct buf *out)
{
	const struct symbol_key *key = unnamed->key;

	if (!key)
		return;
	if (key->kind == SYMBOL_KIND_ANON)
		hint_made(key->pid, procs, out);
	else if (hint_wants_package(unnamed))
		hint_debug_file(key, package, out);
	else if (unnamed->state == SYMBOL_NO_FILE || unnamed->state == SYMBOL_OTHER_BUILD_ID)
		hint_other_file(key, unnamed->state, out);
	else if (unnamed->state == SYMBOL_HIDDEN)
		buf_put_text(out, "as root, or with sysctl kernel.kptr_restrict=0, it has names");
}

/* dpkg's lists are many: they are read once for all objects, where the answers are not known. */
void hint_unnamed(const struct load_unnamed *unnamed, size_t n, const struct proc_table *procs,
                  struct buf *out)
{
	struct hint_package files[HINTS_MAX] = { 0 };
	size_t wanted = 0;

	n = n < HINTS_MAX ? n : HINTS_MAX;
	for (size_t i = 0; i < n; i++)
		if (hint_wants_package(&unnamed[i]))
			files[wanted++].path = unnamed[i].key->path;
	hint_known_packages(DPKG_INFO, NULL, files, wanted);
	for (size_t i = 0, at = 0; i < n; i++) {
		bool wants = hint_wants_package(&unnamed[i]);

		hint_one(&unnamed[i], procs, &files[wants ? at : 0].name, &out[i]);
		at += wants;
	}
	for (size_t i = 0; i < wanted; i++)
		buf_free(&files[i].name);
}
