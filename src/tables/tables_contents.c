// SPDX-License-Identifier: MIT
/*
 * tables_contents.c: what a table is made from, and what was found out of that.
 *
 * Invariant: two objects have one table if and only if all that a table is made from is the same in
 * both, byte by byte. What a file says it is (its build-id) is no part of that: anybody may write
 * it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tables/crt_code.h"
#include "tables/go_frames.h"
#include "tables/go_stacks.h"
#include "tables/stamp.h"
#include "tables/tables_parts.h"

/* Sections that are not there stay empty. */
static void tables_section(struct image *image, const char *name, struct compile_section *ret)
{
	struct image_section section;

	if (image_section(image, name, &section) >= 0 && section.bytes)
		*ret = (struct compile_section){ section.bytes, section.n, section.vaddr };
}

/* Unwind information of so many bytes takes most of what making a table takes. */
#define LARGE (1u << 20)

/* .eh_frame: a copy that can be let go before the image is closed, if it is large. */
static void tables_eh_frame(struct image *image, struct tables_input *ret)
{
	struct compile_section *to = &ret->in.eh_frame;
	struct image_section section;
	void *bytes = NULL;

	if (image_section_beside(image, ".eh_frame", &section) >= 0 && !section.bytes &&
	    section.n >= LARGE)
		bytes = buf_reserve(&ret->eh, section.n);
	if (bytes && image_section_piece(image, &section, section.vaddr, section.n, bytes))
		*to = (struct compile_section){ bytes, section.n, section.vaddr };
	else
		tables_section(image, ".eh_frame", to);
}

void tables_input_spent(struct tables_input *in)
{
	if (!in->eh.bytes)
		return;
	in->in.eh_frame = (struct compile_section){ 0 };
	buf_free(&in->eh);
}

static uint64_t tables_section_address(struct image *image, const char *name)
{
	struct image_section section;

	return image_section(image, name, &section) >= 0 ? section.vaddr : 0;
}

static bool tables_swapped(const struct image *image)
{
	const uint16_t one = 1;
	bool big_here = !*(const unsigned char *)&one;

	return image_is_big_endian(image) != big_here;
}

/* Collects all that a table is made from. The sections stay the image's, and those of ret->debug,
 * until tables_input_free. */
void tables_input_read(const struct tables *t, struct image *image, struct tables_input *ret)
{
	struct compile_input *in = &ret->in;

	*ret = (struct tables_input){ .image = image };
	in->machine = image_machine(image);
	in->swap = tables_swapped(image);
	for (size_t i = 0; i < image_segments(image) && in->n_ranges < COMPILE_RANGES_MAX; i++) {
		const struct image_segment *s = image_segment_at(image, i);

		if (s->executable && s->memory_size <= UINT64_MAX - s->vaddr)
			in->ranges[in->n_ranges++] =
			        (struct compile_range){ s->vaddr, s->vaddr + s->memory_size };
	}
	in->entry = image_entry(image);
	if (image_section_beside(image, ".text", &ret->text) < 0)
		ret->text.n = 0;
	in->text_address = ret->text.vaddr;
	in->data_address = tables_section_address(image, ".got");
	tables_eh_frame(image, ret);
	tables_section(image, ".sframe", &in->sframe);
	tables_section(image, ".debug_frame", &in->debug_frame);
	go_stacks_find(image, &ret->text, in);
	/* The .debug_frame of its separate debug file if it has none of its own. */
	if (!in->debug_frame.bytes &&
	    image_find_debug(&ret->debug, image, &t->opts.search, NULL) >= 0)
		tables_section(ret->debug, ".debug_frame", &in->debug_frame);
	/* Or what Go's own table says. It is the machine's byte order, as x86_64's files are. */
	if (!in->debug_frame.bytes && !in->swap && go_frames_make(image, &ret->made) >= 0)
		in->debug_frame = (struct compile_section){ ret->made.bytes, ret->made.n, 0 };
	/* Beside other information only: an object without any may be one that keeps frame
	 * pointers, and is walked by those. */
	if (in->eh_frame.bytes || in->sframe.bytes || in->debug_frame.bytes)
		crt_code_find(image, &ret->text, in);
}

/* Whether the stamp of the object's own file stands for all that was read: a debug file elsewhere
 * must be one that nobody else can replace. */
bool tables_input_is_own(const struct tables_input *in)
{
	struct stamp stamp;

	return !in->debug || stamp_of(image_fd(in->debug), &stamp) == STAMP_LASTS;
}

void tables_input_free(struct tables_input *in)
{
	image_close(in->debug);
	buf_free(&in->made);
	buf_free(&in->eh);
}

/* Sizes stand in front, so that bytes cannot move from one section into the next unnoticed. */
static void contents_section(struct blake2 *b, const void *bytes, size_t n, uint64_t address)
{
	const uint64_t words[] = { n, address };

	blake2_add(b, words, sizeof(words));
	blake2_add(b, bytes, n);
}

/* The same of the code, which is read in pieces: of large programs it is much. False: it cannot be
 * read. */
static bool contents_text(struct blake2 *b, const struct tables_input *input)
{
	const struct image_section *text = &input->text;
	const uint64_t words[] = { text->n, text->vaddr };
	unsigned char buf[16384];

	blake2_add(b, words, sizeof(words));
	for (size_t at = 0, n; at < text->n; at += n) {
		const unsigned char *piece;

		n = text->n - at < sizeof(buf) ? text->n - at : sizeof(buf);
		piece = image_section_piece(input->image, text, text->vaddr + at, n, buf);
		if (!piece)
			return false;
		blake2_add(b, piece, n);
	}
	return true;
}

/* Computes a digest of everything that decides what the table will be, so that equal inputs share
 * one table. */
void tables_input_contents(const struct tables_input *input, struct tables_contents *ret)
{
	const struct compile_input *in = &input->in;
	const uint64_t words[] = { FRAMETAB_VERSION, in->machine, in->swap,
		                   in->n_ranges,     in->entry,   in->text_address,
		                   in->data_address };
	struct blake2 b;

	blake2_start(&b);
	blake2_add(&b, words, sizeof(words));
	for (size_t i = 0; i < in->n_ranges; i++) {
		const uint64_t range[] = { in->ranges[i].start, in->ranges[i].end };

		blake2_add(&b, range, sizeof(range));
	}
	blake2_add(&b, in->switches, in->n_switches * sizeof(*in->switches));
	blake2_add(&b, in->pieces, in->n_pieces * sizeof(*in->pieces));
	contents_section(&b, in->eh_frame.bytes, in->eh_frame.n, in->eh_frame.address);
	contents_section(&b, in->sframe.bytes, in->sframe.n, in->sframe.address);
	contents_section(&b, in->debug_frame.bytes, in->debug_frame.n, in->debug_frame.address);
	/* The code counts too: it tells padding from code, and code that keeps frame pointers from
	 * other code. */
	ret->known = contents_text(&b, input);
	blake2_end(&b, ret->digest);
}

/* ---- by stamp ---- */

/* A digest that nothing else has. */
static void contents_alone(struct tables *t, struct tables_contents *ret)
{
	struct blake2 b;
	uint64_t number;

	pthread_mutex_lock(&t->lock);
	number = ++t->alone;
	pthread_mutex_unlock(&t->lock);
	blake2_start(&b);
	blake2_add(&b, "alone", 5);
	blake2_add(&b, &number, sizeof(number));
	blake2_end(&b, ret->digest);
	ret->alone = true;
}

static bool contents_is_fresh(const struct tables *t, const struct stat *st)
{
	struct timespec now;

	return clock_gettime(CLOCK_REALTIME, &now) < 0 ||
	       st->st_ctim.tv_sec > now.tv_sec - (time_t)t->opts.fresh_s;
}

/* A file below a process's root may be one of a container's image, which others have, too, under
 * other numbers: what is in it is worth to be known. */
void tables_contents_by_stamp(struct tables *t, const struct image *image,
                              struct tables_contents *ret)
{
	struct blake2 b;
	struct stat st;

	if (!t->opts.fresh_s || image_fd(image) < 0 || !strncmp(image_path(image), "/proc/", 6) ||
	    fstat(image_fd(image), &st) < 0)
		return;
	ret->known = ret->by_stamp = true;
	ret->alone = !ret->lasts || contents_is_fresh(t, &st);
	if (!ret->stamped) {
		contents_alone(t, ret);
		return;
	}
	blake2_start(&b);
	blake2_add(&b, "by stamp", 8);
	blake2_add(&b, ret->stamp.bytes, sizeof(ret->stamp.bytes));
	blake2_end(&b, ret->digest);
}

/* The stamp was taken before the file was read; what came from another file it does not know. */
void tables_contents_check(struct tables *t, const struct tables_input *in,
                           struct tables_contents *contents)
{
	struct stamp now;

	if (contents->by_stamp && contents->stamped &&
	    (!tables_input_is_own(in) || stamp_of(image_fd(in->image), &now) == STAMP_NEVER ||
	     memcmp(&now, &contents->stamp, sizeof(now)) != 0))
		contents_alone(t, contents);
}

/* ---- what was found out before ---- */

/* A digest's first 8 bytes find it; the whole is compared. */
static uint64_t tables_stamp_key(const struct stamp *stamp)
{
	uint64_t key;

	memcpy(&key, stamp->bytes, sizeof(key));
	return key;
}

static void tables_stamp_name(const struct stamp *stamp, char name[TABLES_NAME])
{
	char hex[BLAKE2_HEX];

	snprintf(name, TABLES_NAME, "%s.contents%u.%u", blake2_hex(stamp->bytes, hex),
	         FRAMETAB_VERSION, TABLES_READ);
}

struct tables_stamp {
	struct stamp stamp;
	struct tables_contents contents;
};

/* Looks in memory first, and on disk if the stamp lasts beyond this run. */
void tables_recall(struct tables *t, int fd, struct tables_contents *ret)
{
	enum stamp_holds holds = stamp_of(fd, &ret->stamp);
	const struct tables_stamp *was = NULL;
	struct buf bytes = { 0 };
	char name[TABLES_NAME];
	uint64_t at;

	ret->known = ret->by_stamp = ret->alone = false;
	ret->lasts = holds == STAMP_LASTS;
	ret->stamped = holds != STAMP_NEVER;
	if (!ret->stamped)
		return;
	pthread_mutex_lock(&t->lock);
	if (map_get(&t->by_stamp, tables_stamp_key(&ret->stamp), &at))
		was = (const struct tables_stamp *)(uintptr_t)at;
	if (was && !memcmp(&was->stamp, &ret->stamp, sizeof(ret->stamp))) {
		memcpy(ret->digest, was->contents.digest, sizeof(ret->digest));
		ret->known = true;
	}
	pthread_mutex_unlock(&t->lock);
	if (ret->known || !ret->lasts)
		return;
	tables_stamp_name(&ret->stamp, name);
	if (table_cache_get(&t->cache, name, &bytes) > 0 && bytes.n == sizeof(ret->digest)) {
		memcpy(ret->digest, bytes.bytes, bytes.n);
		ret->known = true;
	}
	buf_free(&bytes);
}

/* Keeps what a file was found to hold under its stamp, unless the file changed while it was
 * read. */
void tables_remember(struct tables *t, int fd, const struct tables_contents *contents)
{
	struct tables_stamp *add;
	char name[TABLES_NAME];
	struct stamp now;

	/* The stamp was taken before the file was read. Only if it is still the file's does it
	 * stand for what was read. */
	if (!contents->stamped || contents->by_stamp || stamp_of(fd, &now) == STAMP_NEVER ||
	    memcmp(&now, &contents->stamp, sizeof(now)) != 0)
		return;
	pthread_mutex_lock(&t->lock);
	add = arena_alloc(&t->arena, sizeof(*add));
	if (add) {
		add->stamp = now;
		add->contents = *contents;
		map_put(&t->by_stamp, tables_stamp_key(&now),
		        (uintptr_t)add); /* else it is read again */
	}
	if (contents->lasts) {
		tables_stamp_name(&now, name);
		table_cache_put(&t->cache, name, contents->digest, sizeof(contents->digest));
	}
	pthread_mutex_unlock(&t->lock);
}
