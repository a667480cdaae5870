// SPDX-License-Identifier: MIT
/*
 * feature.c: decodes header features. Their text form is feature_text.c, encoding is feature_put.c.
 *
 * The header names features by number, and each has a layout of its own: they came one by one since
 * 2.6.31, and none can be taken for another. All readers here are bounded by the feature's bytes,
 * and strings stay in them: they are valid as long as the reader is open.
 */
#include "perfdata/feature.h"
#include "base/shown.h"

#include <errno.h>
#include <string.h>

#define FEATURE(name) [SEAM_FEATURE_##name] = #name

static const char *const feature_names[] = {
	FEATURE(TRACING_DATA),  FEATURE(BUILD_ID),        FEATURE(HOSTNAME),
	FEATURE(OSRELEASE),     FEATURE(VERSION),         FEATURE(ARCH),
	FEATURE(NRCPUS),        FEATURE(CPUDESC),         FEATURE(CPUID),
	FEATURE(TOTAL_MEM),     FEATURE(CMDLINE),         FEATURE(EVENT_DESC),
	FEATURE(CPU_TOPOLOGY),  FEATURE(NUMA_TOPOLOGY),   FEATURE(BRANCH_STACK),
	FEATURE(PMU_MAPPINGS),  FEATURE(GROUP_DESC),      FEATURE(AUXTRACE),
	FEATURE(STAT),          FEATURE(CACHE),           FEATURE(SAMPLE_TIME),
	FEATURE(MEM_TOPOLOGY),  FEATURE(CLOCKID),         FEATURE(DIR_FORMAT),
	FEATURE(BPF_PROG_INFO), FEATURE(BPF_BTF),         FEATURE(COMPRESSED),
	FEATURE(CPU_PMU_CAPS),  FEATURE(CLOCK_DATA),      FEATURE(HYBRID_TOPOLOGY),
	FEATURE(PMU_CAPS),      FEATURE(CPU_DOMAIN_INFO), FEATURE(E_MACHINE),
	FEATURE(CLN_SIZE),
};

/* NULL for a feature that this version does not know; it is copied all the same. */
const char *feature_name(unsigned feature)
{
	return feature < sizeof(feature_names) / sizeof(feature_names[0]) ? feature_names[feature]
	                                                                  : NULL;
}

static struct cursor feature_cursor(const struct seam_bytes *bytes, bool swap)
{
	return cursor_of(bytes->bytes, bytes->n, swap);
}

/* A length and that many bytes. NULL, and the cursor fails: the string has no NUL or passes the
 * end. */
const char *feature_string(struct cursor *c)
{
	uint32_t n = cursor_u32(c);
	const unsigned char *text = cursor_bytes(c, n);

	/* The length includes the padding behind the NUL. An empty name may have no byte at all. */
	if (text && !n)
		return "";
	if (!text || !memchr(text, 0, n)) {
		cursor_fail(c);
		return NULL;
	}
	return (const char *)text;
}

/*
 * The layout: header (8 bytes), pid (4), build-id (24: 20 bytes, its size, 3 of padding), and the
 * filename up to the end. The size is valid only with a bit of misc; without it the build-id has
 * all 20 bytes.
 */
int feature_next_build_id(struct cursor *c, struct feature_build_id *ret)
/* 1 and *ret, 0 at the end, -EBADMSG. The filename is the feature's. */
{
	struct cursor e = *c;
	struct feature_build_id b = { .size = 20 };
	const unsigned char *id;
	uint16_t size;

	if (!cursor_left(c))
		return 0;
	cursor_u32(&e); /* the type is 0 in files of some perfs */
	b.misc = cursor_u16(&e);
	size = cursor_u16(&e);
	b.pid = (int32_t)cursor_u32(&e);
	id = cursor_bytes(&e, 24);
	/* 36 bytes stand in front of the filename. A smaller size would not move the cursor on. */
	if (!id || size < 36 || !cursor_bytes(c, size)) {
		cursor_fail(c);
		return -EBADMSG;
	}
	/* The name must end within its own entry. */
	e.end = c->at;
	memcpy(b.build_id, id, 20);
	if (b.misc & SEAM_MISC_BUILD_ID_SIZE && id[20] <= 20)
		b.size = id[20];
	b.filename = cursor_string(&e);
	if (!b.filename) {
		cursor_fail(c);
		return -EBADMSG;
	}
	*ret = b;
	return 1;
}

/* Begins a walk over EVENT_DESC. The attrs have the size that the writer's attrs had. */
int feature_event_descs(const struct seam_bytes *bytes, bool swap, struct feature_event_descs *ret)
{
	struct cursor c = feature_cursor(bytes, swap);
	uint32_t n = cursor_u32(&c), attr_size = cursor_u32(&c);

	/* The same bounds as for the attr section of the header. */
	if (c.failed || attr_size < SEAM_ATTR_SIZE_MIN || attr_size > 4096)
		return -EBADMSG;
	*ret = (struct feature_event_descs){ .at = c, .left = n, .attr_size = attr_size };
	return 0;
}

/* Gives the next event of an EVENT_DESC feature: 1 and *ret, 0 at the end. -EBADMSG: the feature
 * ends before the event does; the walk is over then. Strings and ids stay in the feature. */
int feature_next_event_desc(struct feature_event_descs *walk, struct feature_event_desc *ret)
{
	struct cursor *c = &walk->at;
	struct feature_event_desc d = { 0 };
	const unsigned char *attr;
	uint32_t n_ids;

	if (!walk->left)
		return 0;
	attr = cursor_bytes(c, walk->attr_size);
	n_ids = cursor_u32(c);
	d.name = feature_string(c);
	d.ids = (struct seam_u64s){ cursor_array(c, n_ids, 8), n_ids, c->swap };
	if (c->failed || seam_attr_decode(attr, walk->attr_size, c->swap, &d.attr, NULL) < 0) {
		walk->left = 0;
		return -EBADMSG;
	}
	walk->left--;
	*ret = d;
	return 1;
}

/* Begins a walk over PMU_MAPPINGS: pairs of a type (a number that the kernel gives at boot) and a
 * name. */
void feature_pmus(const struct seam_bytes *bytes, bool swap, struct feature_pmus *ret)
{
	ret->cursor = feature_cursor(bytes, swap);
	ret->left = cursor_u32(&ret->cursor);
}

/* A feature that ends too early gives the pairs that are whole. */
bool feature_next_pmu(struct feature_pmus *walk, uint32_t *type, const char **name)
{
	while (walk->left && !walk->cursor.failed) {
		walk->left--;
		*type = cursor_u32(&walk->cursor);
		*name = feature_string(&walk->cursor);
		if (*name)
			return true;
	}
	return false;
}

/* The feature has the available processors first. */
int feature_nrcpus(const struct seam_bytes *bytes, bool swap, uint32_t *online, uint32_t *available)
{
	struct cursor c = feature_cursor(bytes, swap);
	uint32_t first = cursor_u32(&c), second = cursor_u32(&c);

	if (c.failed)
		return -EBADMSG;
	*available = first;
	*online = second;
	return 0;
}

/* Times of the first and the last sample, in ns of the recording's clock. */
int feature_sample_time(const struct seam_bytes *bytes, bool swap, uint64_t *first, uint64_t *last)
{
	struct cursor c = feature_cursor(bytes, swap);
	uint64_t a = cursor_u64(&c), b = cursor_u64(&c);

	if (c.failed)
		return -EBADMSG;
	*first = a;
	*last = b;
	return 0;
}

/* Looks the user of a process up in a feature that seam writes itself. Two different users for one
 * pid are no answer, because pids are reused. */
/* 1 and *ret, or 0: not said, or said in two ways. */
int feature_owner(const struct seam_bytes *bytes, bool swap, uint32_t pid, uint32_t *ret)
{
	struct cursor c = feature_cursor(bytes, swap);
	uint32_t user = 0;
	bool found = false;

	/* The bound stands for hostile features: pids of a real recording are fewer. */
	for (unsigned n = 0; n < FEATURE_OWNERS_MAX && cursor_left(&c) >= 8; n++) {
		uint32_t of = cursor_u32(&c), is = cursor_u32(&c);

		if (of != pid)
			continue;
		if (found && is != user)
			return 0;
		user = is;
		found = true;
	}
	if (found)
		*ret = user;
	return found;
}

/* The next entry of FILES; false: that was the last, or the rest makes no sense. Each entry states
 * its size, so that a later version can add fields behind those known here. */
static bool feature_next_file(struct cursor *c, struct feature_file *ret)
{
	uint32_t size = cursor_u32(c);
	struct cursor entry;
	const unsigned char *bytes, *digest;

	/* A size below the head would not move on, and one beyond the end is a lie. */
	if (c->failed || size < FEATURE_FILE_HEAD || size - 4 > cursor_left(c))
		return false;
	bytes = cursor_bytes(c, size - 4);
	entry = cursor_of(bytes, size - 4, c->swap);
	ret->kind = cursor_u32(&entry);
	ret->inode = cursor_u64(&entry);
	ret->changed_ns = cursor_u64(&entry);
	ret->size = cursor_u64(&entry);
	digest = cursor_bytes(&entry, FEATURE_FILE_DIGEST);
	ret->path = cursor_string(&entry);
	if (entry.failed || !digest || !ret->path)
		return false;
	memcpy(ret->digest, digest, FEATURE_FILE_DIGEST);
	return true;
}

/* What seam recorded of a file's identity when it was mapped. 0 also for two entries of the same
 * path: the file was replaced during the recording, and nobody can say which one a mapping
 * meant. */
int feature_file(const struct seam_bytes *bytes, bool swap, const char *path,
                 struct feature_file *ret)
{
	struct cursor c = feature_cursor(bytes, swap);
	struct feature_file file;
	int found = 0;

	for (unsigned n = 0; n < FEATURE_FILES_MAX && feature_next_file(&c, &file); n++) {
		if (strcmp(file.path, path) != 0)
			continue;
		if (found++)
			return 0;
		*ret = file;
	}
	return found;
}

/* One moment on two clocks. With it a time of the recording becomes a time of day. */
int feature_clock_data(const struct seam_bytes *bytes, bool swap, struct feature_clock_data *ret)
{
	struct cursor c = feature_cursor(bytes, swap);
	struct feature_clock_data d;

	cursor_u32(&c); /* version, 1 */
	d.clockid = cursor_u32(&c);
	d.wall_clock_ns = cursor_u64(&c);
	d.clockid_time_ns = cursor_u64(&c);
	if (c.failed)
		return -EBADMSG;
	*ret = d;
	return 0;
}

/* Appends the command line as perf prints it. -EBADMSG: the feature ends before its last
 * argument. */
int feature_cmdline(const struct seam_bytes *bytes, bool swap, struct buf *out)
{
	struct cursor c = feature_cursor(bytes, swap);
	uint32_t n = cursor_u32(&c);

	while (n-- && !c.failed) {
		const char *arg = feature_string(&c);

		if (!arg)
			return -EBADMSG;
		/* Quotes are escaped, not quoted, as perf prints them. */
		for (const char *quote; (quote = strchr(arg, '\'')); arg = quote + 1) {
			shown_put(out, arg, (size_t)(quote - arg));
			buf_put_text(out, "\\'");
		}
		shown_put_text(out, arg);
		buf_put_text(out, " ");
	}
	return c.failed ? -EBADMSG : out->failed ? -ENOMEM : 0;
}
