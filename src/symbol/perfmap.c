// SPDX-License-Identifier: MIT
/*
 * perfmap.c: names of JIT code: from the process's jitdump (jitdump.c), or from /tmp/perf-PID.map,
 * into which JIT compilers write lines of "START SIZE NAME", in hex. Which of these files is
 * believed, process_file.c knows.
 *
 * Invariant: each line that makes sense becomes one symbol, and the last line of an address wins.
 */
#include <errno.h>
#include <string.h>

#include "symbol/object.h"
#include "symbol/process_file.h"

/* Reads a number in hexadecimal, with or without 0x, and the blank behind it; *at moves behind
 * both. False: there is none, or it has more than 64 bits. */
static bool perfmap_read_hex(const char **at, const char *end, uint64_t *ret)
{
	const char *p = *at;
	unsigned digits = 0;
	uint64_t v = 0;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (; p < end && digits < 17; p++, digits++) {
		int digit = *p >= '0' && *p <= '9'   ? *p - '0'
		            : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10
		            : *p >= 'A' && *p <= 'F' ? *p - 'A' + 10
		                                     : -1;

		if (digit < 0)
			break;
		v = v << 4 | (unsigned)digit;
	}
	if (!digits || digits > 16 || p == end || *p != ' ')
		return false;
	*at = p + 1;
	*ret = v;
	return true;
}

/* Takes one line. rank: its number, because code that was compiled later has the address. */
static int perfmap_take_line(struct symbol_object *object, const char *at, const char *end,
                             uint32_t rank)
{
	struct table_symbol symbol = { .rank = rank, .bind = TABLE_GLOBAL };
	uint64_t size;

	if (!perfmap_read_hex(&at, end, &symbol.start) || !perfmap_read_hex(&at, end, &size) ||
	    !size || size > UINT64_MAX - symbol.start || at == end ||
	    memchr(at, 0, (size_t)(end - at))) {
		object->bad_lines++;
		return 0;
	}
	symbol.end = symbol.start + size;
	return table_put(&object->table, &symbol, at, (size_t)(end - at), "");
}

/* Takes all lines of a map. -ENOMEM. */
int perfmap_text(struct symbol_object *object, const struct buf *text)
{
	const char *at = (const char *)text->bytes, *stop = at + text->n, *end;
	uint32_t rank = 0;
	int r = 0;

	for (; !r && at < stop; at = end + 1) {
		end = memchr(at, '\n', (size_t)(stop - at));
		/* The last line may lack its newline: it is still being written. */
		if (!end)
			end = stop;
		if (end > at)
			r = perfmap_take_line(object, at, end, rank++);
	}
	return r;
}

/* Names code by the process's jitdump: 1, or 0 if there is none that names any. */
static int perfmap_load_jitdump(struct symbol_object *object)
{
	const char *dump = process_file_jitdump_of(object->cache, object->key.pid);
	struct buf path = { 0 }, bytes = { 0 };
	int r = dump ? process_file_jitdump(&object->cache->opts, object->key.pid, dump, &path,
	                                    &bytes)
	             : -ENOENT;

	if (r >= 0)
		r = jitdump_take(object, bytes.bytes, bytes.n);
	if (r < 0 && r != -ENOMEM && dump)
		object_reason(object, SYMBOL_NO_FILE, "%s: %s", buf_text(&path),
		              r == -EPERM ? "its owner is neither root, nor you, nor the process's"
		                          : strerror(-r));
	if (r >= 0 && object->ambiguous)
		object_reason(
		        object, SYMBOL_NAMED, "%s: code was replaced by other code in its place%s",
		        buf_text(&path),
		        object->cache->opts.jit_timed
		                ? ""
		                : ", and the recording has not the clock to tell which it was "
		                  "(seam record -k monotonic)");
	if (r >= 0 && (object->table.n || object->ambiguous)) {
		object->state = SYMBOL_NAMED;
		buf_put_text(&object->source, buf_text(&path));
		r = 1;
	}
	buf_free(&path);
	buf_free(&bytes);
	return r == -ENOMEM ? r : r > 0;
}

/* Reads the map under the pid that we know; else, for a process in a container, the map that it
 * wrote there under its own pid. */
static int perfmap_read_map(const struct symbol_object *object, struct buf *path, struct buf *ret)
{
	const struct symbol_opts *opts = &object->cache->opts;
	uint32_t pid = object->key.pid, own;
	/* A copy has the time of copying, so its time says nothing. */
	uint64_t began = opts->began && !opts->map_dir ? opts->began(opts->began_ctx, pid) : 0;
	struct buf inside = { 0 };
	int r;

	buf_printf(path, "%s/perf-%u.map", opts->map_dir ? opts->map_dir : "/tmp", pid);
	r = process_file_read(opts, buf_text(path), pid, began, ret);
	own = r == -ENOENT && !opts->map_dir ? process_file_own_pid(pid) : 0;
	if (own) {
		buf_printf(&inside, "/tmp/perf-%u.map", own);
		if (process_file_read_inside(opts, &inside, pid, began, ret) >= 0) {
			buf_clear(path);
			buf_put_text(path, buf_text(&inside));
			r = 0;
		}
	}
	buf_free(&inside);
	return r;
}

/* Fills the object's table from the process's perf map. That there is none, or that it cannot be
 * trusted, is no failure: state and reason say so. */
static int perfmap_load_map(struct symbol_object *object)
{
	struct buf path = { 0 }, text = { 0 };
	int r = perfmap_read_map(object, &path, &text);

	if (!r)
		r = perfmap_text(object, &text);
	if (r < 0)
		object_reason(object, SYMBOL_NO_FILE, "%s: %s", buf_text(&path),
		              r == -EPERM ? "its owner is neither root, nor you, nor the process's"
		              : r == -ESTALE
		                      ? "it was last written before the process began: another's"
		                      : strerror(-r));
	else if (object->table.n)
		object->state = SYMBOL_NAMED;
	else
		object_reason(object, SYMBOL_NO_SYMBOLS, "%s: no line of it makes sense",
		              buf_text(&path));
	if (!r)
		buf_put_text(&object->source, buf_text(&path));
	buf_free(&path);
	buf_free(&text);
	return r == -ENOMEM ? r : 0;
}

/* A jitdump wins over a map: it tells more, and knows what was replaced. */
int perfmap_load(struct symbol_object *object)
{
	const struct symbol_opts *opts = &object->cache->opts;
	int r;

	object->terms = OBJECT_ADDRESS;
	if (opts->foreign && !opts->map_dir) {
		object_reason(object, SYMBOL_NO_FILE, "%s: recorded elsewhere", object->name);
		return 0;
	}
	r = perfmap_load_jitdump(object);
	return r ? (r < 0 ? r : 0) : perfmap_load_map(object);
}
