// SPDX-License-Identifier: MIT
/*
 * flame.c: a flame graph as one page. The page (flame/) is the same for all recordings; what
 * differs is a block of data in it, gzip'd and in base64, so that no name of a recording is ever
 * part of the page's text. It stands in pieces, one element each: a browser puts a long text
 * together by copying what it has of it, again and again, and the page unpacks the first pieces
 * while the others are read.
 *
 * The block: u32 length of a JSON object, the object ("texts" are its strings), padding to 8; then
 * the arrays of flame_arrays.c.
 */
#include "export/flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "export/flame_graph.h"
#include "export/flame_asset.h"
#include "export/gzip.h"
#include "export/runtime.h"

/* ---- bytes -> gzip -> base64 -> the page ---- */

#define FLAME_LEVEL 6 /* of compression: of the page; of what goes no far way */
#define FLAME_LEVEL_SERVED 1

/* Writes one group of three as four characters; a group of fewer bytes is the last, padded with
 * '='. */
static void flame_base64_group(char *to, const unsigned char *from, size_t n)
{
	static const char digits[] =
	        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t v = (uint32_t)from[0] << 16 | (n > 1 ? (uint32_t)from[1] << 8 : 0) |
	             (n > 2 ? from[2] : 0);

	to[0] = digits[v >> 18];
	to[1] = digits[v >> 12 & 63];
	to[2] = n > 1 ? digits[v >> 6 & 63] : '=';
	to[3] = n > 2 ? digits[v & 63] : '=';
}

#define FLAME_PIECE 65536 /* characters of an element: whole groups */

/* Writes bytes as base64, in elements that say how many bytes all of them are when they are
 * unpacked. -errno. */
static int flame_pieces(const struct buf *bytes, size_t unpacked, struct export_out *out)
{
	char text[FLAME_PIECE];
	int r = 0;

	for (size_t i = 0; i < bytes->n && r >= 0;) {
		size_t n = 0;

		for (; n < sizeof(text) && i < bytes->n; n += 4, i += 3)
			flame_base64_group(text + n, bytes->bytes + i, bytes->n - i);
		buf_printf(&out->buf,
		           "<script type=\"application/octet-stream\" class=\"data\" "
		           "data-bytes=\"%zu\">",
		           unpacked);
		buf_put(&out->buf, text, n);
		buf_put_text(&out->buf, "</script>\n");
		r = export_step(out);
	}
	return r;
}

/* ---- the block ---- */

/* Writes for each profile its name, its span of time in seconds, and what of it is missing. */
static void flame_sides_json(const struct flame_graph *g, const struct flame_side *sides, size_t n,
                             struct json *j)
{
	json_key(j, "sides");
	json_open(j, '[');
	for (size_t i = 0; i < n; i++) {
		const struct profile_counts *counts = profile_counts_of(sides[i].profile);

		json_open(j, '{');
		json_key(j, "name");
		json_string(j, sides[i].name);
		json_key(j, "start");
		json_double(j, (double)g->spans[i].start_ns / 1e9, 9);
		json_key(j, "seconds");
		json_double(j, (double)(g->spans[i].end_ns - g->spans[i].start_ns) / 1e9, 9);
		json_key(j, "lost");
		json_u64(j, counts->lost);
		json_key(j, "undecoded");
		json_u64(j, counts->undecoded);
		if (sides[i].to_ns) {
			json_key(j, "from_ns");
			json_u64(j, sides[i].from_ns);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Writes the names of events and of stack states. "first" marks the event that the page opens
 * with. */
static void flame_names_json(const struct flame_graph *g, const struct profile *p,
                             const struct flame_opts *opts, struct json *j)
{
	json_key(j, "events");
	json_open(j, '[');
	for (uint32_t i = 0; i + 1 < g->events.n; i++) {
		json_open(j, '{');
		json_key(j, "name");
		json_string(j, flame_event(g, i));
		json_key(j, "unit");
		json_string(j, export_unit_name(flame_event_unit(g, i)));
		json_key(j, "first");
		json_bool(j, opts->event && !strcmp(flame_event(g, i), opts->event));
		json_close(j, '}');
	}
	json_close(j, ']');
	json_key(j, "states");
	json_open(j, '[');
	for (uint32_t i = 0; i < profile_n_states(p); i++) {
		json_open(j, '{');
		json_key(j, "text");
		json_string(j, profile_state_at(p, i)->text);
		json_key(j, "unfinished");
		json_bool(j, profile_state_at(p, i)->unfinished);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Writes names and colours of the runtimes whose functions have kinds of their own, if there are
 * any. */
static void flame_runtimes_json(const struct flame_graph *g, struct json *j)
{
	const struct runtime *runtime;
	bool any = false;

	for (uint32_t i = 0; i < g->functions.n; i++)
		any |= flame_function(g, i).kind >= FLAME_RUNTIME;
	if (!any)
		return;
	json_key(j, "runtimes");
	json_open(j, '[');
	for (uint32_t i = 0; (runtime = runtime_at(i)); i++) {
		json_open(j, '{');
		json_key(j, "name");
		json_string(j, runtime->name);
		json_key(j, "hue");
		json_u64(j, runtime->hue);
		json_key(j, "saturation");
		json_u64(j, runtime->saturation);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Writes the threads, whose comm is an index into the texts, and then the texts themselves. */
static void flame_threads_json(const struct flame_graph *g, struct json *j)
{
	json_key(j, "threads");
	json_open(j, '[');
	for (uint32_t i = 0; i + 1 < g->threads.n; i++) {
		struct flame_thread t = flame_thread(g, i);

		json_open(j, '[');
		json_u64(j, t.comm);
		json_i64(j, t.pid == PROFILE_NOT_KEPT ? -1 : (int64_t)t.pid);
		json_i64(j, t.tid == PROFILE_NOT_KEPT ? -1 : (int64_t)t.tid);
		json_close(j, ']');
	}
	json_close(j, ']');
	json_key(j, "texts");
	json_open(j, '[');
	for (uint32_t i = 0; i < g->texts.n; i++)
		json_bytes(j, intern_get(&g->texts, i), intern_length(&g->texts, i));
	json_close(j, ']');
}

/* Writes the counts: of nodes, and of what the arrays behind the object hold. */
static void flame_counts_json(const struct flame_graph *g, const struct flame_chains *c,
                              struct json *j)
{
	size_t functions = 0;

	for (uint32_t i = 1; i < c->chains.n; i++)
		functions += intern_length(&c->chains, i) / sizeof(uint32_t);
	json_key(j, "functions");
	json_u64(j, g->functions.n);
	json_key(j, "nodes");
	json_u64(j, flame_nodes(g));
	json_key(j, "chains");
	json_u64(j, c->chains.n - 1);
	json_key(j, "chained");
	json_u64(j, functions);
	json_key(j, "segments");
	json_u64(j, c->n);
	json_key(j, "rows");
	json_u64(j, g->n_keys);
}

/* Writes what rows have in common. */
static void flame_rows_json(const struct flame_rows *rows, struct json *j)
{
	json_key(j, "unit");
	json_u64(j, rows->unit);
	json_key(j, "whats");
	json_open(j, '[');
	for (uint32_t i = 1; i < rows->whats.n; i++) {
		uint32_t what;

		memcpy(&what, intern_get(&rows->whats, i), sizeof(what));
		json_open(j, '[');
		json_u64(j, what & 0xffff);
		json_u64(j, what >> 16 & 0xff);
		json_u64(j, what >> 24);
		json_close(j, ']');
	}
	json_close(j, ']');
}

/* Writes the object at the front of the block. */
static void flame_json(const struct flame_graph *g, const struct flame_chains *c,
                       const struct flame_rows *rows, const struct flame_side *sides, size_t n,
                       const struct flame_opts *opts, struct buf *to)
{
	struct json j = { .out = to };

	json_open(&j, '{');
	json_key(&j, "title");
	json_string(&j, opts->title ? opts->title : sides[0].name);
	json_key(&j, "icicle");
	json_bool(&j, opts->icicle);
	json_key(&j, "slices");
	json_u64(&j, FLAME_SLICES);
	flame_counts_json(g, c, &j);
	flame_rows_json(rows, &j);
	flame_sides_json(g, sides, n, &j);
	flame_names_json(g, sides[0].profile, opts, &j);
	flame_runtimes_json(g, &j);
	flame_threads_json(g, &j);
	if (g->left_out > 0) {
		json_key(&j, "left_out");
		json_double(&j, g->left_out, 12);
	}
	for (size_t i = 0; i < FLAME_SIDES; i++) {
		if (!opts->source_n[i])
			continue;
		json_key(&j, i ? "source_before" : "source");
		json_raw(&j, opts->source[i], opts->source_n[i]);
	}
	json_close(&j, '}');
}

/* Makes the block. All of it is in memory once, because its lengths stand in front. -ENOMEM,
 * -EOVERFLOW. */
static int flame_block(const struct flame_graph *g, const struct flame_side *sides, size_t n,
                       const struct flame_opts *opts, struct buf *block)
{
	struct buf meta = { 0 };
	struct flame_order order = { 0 };
	struct flame_chains chains = { 0 };
	struct flame_rows rows = { 0 };
	int r = flame_order_make(g, &order);

	if (r >= 0)
		r = flame_chains_make(g, &order, &chains);
	if (r >= 0)
		r = flame_rows_make(g, &order, &rows);
	if (r >= 0)
		flame_json(g, &chains, &rows, sides, n, opts, &meta);
	if (r >= 0 && meta.n > UINT32_MAX)
		r = -EOVERFLOW;
	if (r >= 0) {
		buf_put_u32(block, (uint32_t)meta.n);
		buf_put(block, meta.bytes, meta.n);
		buf_put_zeros(block, -block->n & 7);
		r = flame_arrays(g, &order, &chains, &rows, block);
	}
	if (r >= 0 && (meta.failed || block->failed))
		r = -ENOMEM;
	buf_free(&meta);
	flame_order_free(&order);
	flame_chains_free(&chains);
	intern_free(&rows.whats);
	return r;
}

void flame_served_page(struct buf *to)
{
	buf_put(to, flame_asset_served, flame_asset_served_size);
	buf_put(to, flame_asset_tail, flame_asset_tail_size);
}

/* Makes the block, compressed as fast as can be: it goes no far way. -ENOMEM, -EOVERFLOW. */
int flame_served_data(const struct flame_side *sides, size_t n, const struct flame_opts *opts,
                      struct buf *to)
{
	struct buf block = { 0 }, data = { 0 };
	struct flame_graph g;
	int r = flame_graph_build(&g, sides, n);

	if (r >= 0 && opts->bounds)
		r = flame_cut(&g, opts->bounds, &g.left_out);
	if (r >= 0)
		r = flame_block(&g, sides, n, opts, &block);
	flame_graph_free(&g);
	if (r >= 0)
		r = gzip_put(&block, FLAME_LEVEL_SERVED, &data);
	buf_free(&block);
	if (r < 0)
		buf_free(&data);
	else
		*to = data;
	return r;
}

/* Writes the page's head, the block of data, compressed and in base64, and the page's tail.
 * -ENOMEM, or what writing returned. */
int flame_page(const struct flame_side *sides, size_t n, const struct flame_opts *opts,
               struct export_out *out)
{
	struct buf block = { 0 }, data = { 0 };
	struct flame_graph g;
	size_t unpacked;
	int r = flame_graph_build(&g, sides, n);

	if (r >= 0)
		r = flame_block(&g, sides, n, opts, &block);
	flame_graph_free(&g); /* it is in the block */
	if (r >= 0)
		r = gzip_put(&block, FLAME_LEVEL, &data);
	unpacked = block.n;
	buf_free(&block);
	buf_put(&out->buf, flame_asset_head, flame_asset_head_size);
	if (r >= 0)
		r = flame_pieces(&data, unpacked, out);
	buf_free(&data);
	buf_put(&out->buf, flame_asset_tail, flame_asset_tail_size);
	return r < 0 ? r : export_flush(out);
}
