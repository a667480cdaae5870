// SPDX-License-Identifier: MIT
/*
 * feature_put.c: encodes header features for a writer, in this machine's byte order. The layouts
 * are those that perf reads; strings are padded to 64 bytes as perf pads them.
 *
 * What these write, feature.c reads. seam's own features (owners, files) have numbers that perf
 * does not know and passes over.
 */
#include <errno.h>
#include <string.h>

#include "abi/encode.h"
#include "perfdata/feature.h"

/* perf rounds up to NAME_ALIGN, which is 64. */
#define FEATURE_STRING_ALIGN 64u

static int feature_done(const struct buf *out)
{
	return out->failed ? -ENOMEM : 0;
}

/* The length counts the padding. -E2BIG, -ENOMEM. */
int feature_put_string(struct buf *out, const char *text)
{
	size_t n = strlen(text) + 1;
	size_t padded = (n + FEATURE_STRING_ALIGN - 1) & ~(size_t)(FEATURE_STRING_ALIGN - 1);

	if (padded > UINT32_MAX)
		return -E2BIG;
	buf_put_u32(out, (uint32_t)padded);
	buf_put(out, text, n);
	buf_put_zeros(out, padded - n);
	return feature_done(out);
}

int feature_put_nrcpus(struct buf *out, uint32_t online, uint32_t available)
{
	buf_put_u32(out, available);
	buf_put_u32(out, online);
	return feature_done(out);
}

int feature_put_i32(struct buf *out, int32_t v)
{
	return buf_put_u32(out, (uint32_t)v);
}

int feature_put_u64(struct buf *out, uint64_t v)
{
	return buf_put_u64(out, v);
}

int feature_put_owner(struct buf *out, uint32_t pid, uint32_t user)
{
	buf_put_u32(out, pid);
	return buf_put_u32(out, user);
}

/* One entry of FILES: a size that includes itself, fixed fields, the path, padding up to 8
 * bytes. */
int feature_put_file(struct buf *out, const struct feature_file *file)
{
	size_t n = strlen(file->path) + 1, padded = (n + 7) & ~(size_t)7;

	/* No path of Linux is as long (PATH_MAX is 4096). */
	if (padded > UINT16_MAX)
		return -EINVAL;
	buf_put_u32(out, (uint32_t)(FEATURE_FILE_HEAD + padded));
	buf_put_u32(out, file->kind);
	buf_put_u64(out, file->inode);
	buf_put_u64(out, file->changed_ns);
	buf_put_u64(out, file->size);
	buf_put(out, file->digest, sizeof(file->digest));
	buf_put(out, file->path, n);
	buf_put_zeros(out, padded - n);
	return feature_done(out);
}

int feature_put_strings(struct buf *out, size_t n, const char *const *texts)
{
	int rc = buf_put_u32(out, (uint32_t)n);

	for (size_t i = 0; rc >= 0 && i < n; i++)
		rc = feature_put_string(out, texts[i]);
	return rc;
}

int feature_put_cmdline(struct buf *out, size_t argc, const char *const *argv)
{
	return feature_put_strings(out, argc, argv);
}

/* Encodes the EVENT_DESC feature: attr, name and ids of every event of the set. */
int feature_put_event_desc(struct buf *out, const struct seam_events *events)
{
	size_t n = seam_events_count(events);
	int rc = 0;

	/* All attrs have the size of the longest one: readers take zeros for fields that an attr
	 * lacks. */
	buf_put_u32(out, (uint32_t)n);
	/* SEAM_ATTR_SIZE at the time of writing: up to config4. */
	buf_put_u32(out, 144);
	for (size_t i = 0; rc >= 0 && i < n; i++) {
		const struct seam_event *event = seam_events_at(events, i);
		struct seam_attr attr = event->attr;

		attr.size = 144;
		rc = encode_attr(out, &attr);
		buf_put_u32(out, (uint32_t)event->n_ids);
		if (rc >= 0)
			rc = feature_put_string(out, event->name ? event->name : "");
		for (size_t k = 0; k < event->n_ids; k++)
			buf_put_u64(out, event->ids[k]);
	}
	return rc < 0 ? rc : feature_done(out);
}

int feature_put_sample_time(struct buf *out, uint64_t first_ns, uint64_t last_ns)
{
	buf_put_u64(out, first_ns);
	return buf_put_u64(out, last_ns);
}

/* An entry is a record of its own, which perf copies into streams as it is. */
int feature_put_build_id(struct buf *out, uint16_t misc, int32_t pid, const uint8_t *build_id,
                         size_t size, const char *filename)
{
	size_t n = strlen(filename) + 1, padded = (n + 63) & ~(size_t)63;
	uint8_t id[24] = { 0 };

	/* The size of such an entry is a u16. */
	if (size > 20 || padded > UINT16_MAX - 36)
		return -EINVAL;
	memcpy(id, build_id, size);
	id[20] = (uint8_t)size;
	/* perf writes a type of 0 in files; with the type, the entry is a whole record. */
	buf_put_u32(out, SEAM_RECORD_HEADER_BUILD_ID);
	buf_put_u16(out, misc | SEAM_MISC_BUILD_ID_SIZE);
	buf_put_u16(out, (uint16_t)(36 + padded));
	buf_put_u32(out, (uint32_t)pid);
	buf_put(out, id, sizeof(id));
	buf_put(out, filename, n);
	buf_put_zeros(out, padded - n);
	return feature_done(out);
}

int feature_put_clock_data(struct buf *out, uint32_t clockid, uint64_t wall_clock_ns,
                           uint64_t clockid_time_ns)
{
	const uint32_t version = 1;

	buf_put_u32(out, version);
	buf_put_u32(out, clockid);
	buf_put_u64(out, wall_clock_ns);
	buf_put_u64(out, clockid_time_ns);
	return feature_done(out);
}

int feature_put_pmu_mappings(struct buf *out, const struct feature_pmu *pmus, size_t n)
{
	int rc = buf_put_u32(out, (uint32_t)n);

	for (size_t i = 0; rc >= 0 && i < n; i++) {
		buf_put_u32(out, pmus[i].type);
		rc = feature_put_string(out, pmus[i].name);
	}
	return rc;
}

int feature_put_e_machine(struct buf *out, uint32_t machine, uint32_t flags)
{
	buf_put_u32(out, machine);
	return buf_put_u32(out, flags);
}

int feature_put_group_desc(struct buf *out, const struct feature_group *groups, size_t n)
{
	int rc = buf_put_u32(out, (uint32_t)n);

	for (size_t i = 0; rc >= 0 && i < n; i++) {
		rc = feature_put_string(out, groups[i].name);
		buf_put_u32(out, groups[i].leader_index);
		buf_put_u32(out, groups[i].members);
	}
	return rc < 0 ? rc : feature_done(out);
}
