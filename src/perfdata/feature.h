/* SPDX-License-Identifier: MIT */
/*
 * feature.h: what stands in the features of a perf.data header: decoded, and encoded for a writer.
 *
 * Pure: bytes in, values out. A decoder never reads past its bytes; strings are borrowed from them
 * (they end with a NUL inside). Encoders append to a buf in native byte order; give the result to
 * seam_writer_feature. Values come from the caller: nothing here looks at the running machine.
 */
#ifndef SEAM_PERFDATA_FEATURE_H
#define SEAM_PERFDATA_FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cursor.h"
#include <seam/reader.h>

/* "BUILD_ID"; NULL when the number is not known. */
const char *feature_name(unsigned feature);

/* ---- decoding; every one returns -EBADMSG for bytes that are too short ---- */

/* A length-prefixed string at the cursor; NULL when it is not there whole. */
const char *feature_string(struct cursor *c);

struct feature_build_id {
	uint16_t misc; /* cpumode; SEAM_MISC_BUILD_ID_SIZE: the size is stated */
	int32_t pid;   /* -1: any host process */
	uint8_t build_id[20];
	uint8_t size; /* bytes of build_id */
	const char *filename;
};
/* Gives the next entry of a BUILD_ID feature: 1 and *ret, 0 at the end. A HEADER_BUILD_ID record of
 * a stream has the same layout. */
int feature_next_build_id(struct cursor *c, struct feature_build_id *ret);

struct feature_event_desc {
	struct seam_attr attr;
	const char *name;
	struct seam_u64s ids;
};
struct feature_event_descs { /* state of a walk */
	struct cursor at;
	uint32_t left, attr_size;
};
int feature_event_descs(const struct seam_bytes *bytes, bool swap, struct feature_event_descs *ret);
int feature_next_event_desc(struct feature_event_descs *walk, struct feature_event_desc *ret);

struct feature_pmus { /* state of a walk over PMU_MAPPINGS */
	struct cursor cursor;
	uint32_t left;
};
void feature_pmus(const struct seam_bytes *bytes, bool swap, struct feature_pmus *ret);
/* Gives the next PMU. False: there is none, or the rest cannot be read. *name points into the
 * bytes. */
bool feature_next_pmu(struct feature_pmus *walk, uint32_t *type, const char **name);

int feature_nrcpus(const struct seam_bytes *bytes, bool swap, uint32_t *online,
                   uint32_t *available);
/* Nanoseconds of the first and the last sample. */
int feature_sample_time(const struct seam_bytes *bytes, bool swap, uint64_t *first, uint64_t *last);
struct feature_clock_data {
	uint32_t clockid;
	uint64_t wall_clock_ns, clockid_time_ns; /* the same instant on both clocks */
};
int feature_clock_data(const struct seam_bytes *bytes, bool swap, struct feature_clock_data *ret);

/*
 * seam's own, of a number that perf passes over in a file: pid and user (both u32) of the processes
 * that mapped code made at run time. No more than so many are written or read.
 */
#define FEATURE_OWNERS 254u
#define FEATURE_OWNERS_MAX 16384u
/* The user who owned a process: 1 and *ret. 0: the feature does not say it, or names two users for
 * this pid. */
int feature_owner(const struct seam_bytes *bytes, bool swap, uint32_t pid, uint32_t *ret);

/*
 * seam's own, too: of each file without a build-id that was mapped to be executed, which it was and
 * what was in it when the recording ended. An entry: its size in bytes and kind (u32 each), inode,
 * time of the last change (of contents or inode; ns since 1970) and size of the file (u64 each),
 * digest, path (ends with 0, padded to 8 bytes). tables/contents.h says what kinds and digests
 * are.
 */
#define FEATURE_FILES 253u
#define FEATURE_FILES_MAX 2048u
#define FEATURE_FILE_DIGEST 32u
#define FEATURE_FILE_HEAD (32u + FEATURE_FILE_DIGEST) /* bytes in front of the path */
struct feature_file {
	uint32_t kind;
	uint64_t inode, changed_ns, size;
	unsigned char digest[FEATURE_FILE_DIGEST];
	const char *path;
};
/* The entry of a path: 1 and *ret, whose path lies in the bytes; 0: there is none, or two. */
int feature_file(const struct seam_bytes *bytes, bool swap, const char *path,
                 struct feature_file *ret);

/* The command line as perf prints it: each argument and a blank, quotes escaped. */
int feature_cmdline(const struct seam_bytes *bytes, bool swap, struct buf *out);

/* What the text of a feature needs beside its bytes. */
struct feature_context {
	bool swap;
	bool full;                        /* as perf's -I: topologies and caches too */
	const struct seam_events *events; /* for the names of a group's members */
	uint32_t cpus;                    /* available ones, from NRCPUS; 0: not known */
};
/*
 * The feature as people read it: lines "# hostname : box\n" in the form of perf report
 * --header-only. 0 (with nothing added for a feature that has no text), -EBADMSG, -ENOMEM.
 */
int feature_text(unsigned feature, const struct seam_bytes *bytes,
                 const struct feature_context *context, struct buf *out);

/* ---- encoding ---- */

/* HOSTNAME OSRELEASE VERSION ARCH CPUDESC CPUID: length, text, padding. */
int feature_put_string(struct buf *out, const char *text);
int feature_put_nrcpus(struct buf *out, uint32_t online, uint32_t available);
/* CPU_TOPOLOGY, piece by piece: the lists of packages, those of cores, the ids of each CPU; then,
 * where dies are known, their lists and ids. */
int feature_put_strings(struct buf *out, size_t n, const char *const *strings);
int feature_put_i32(struct buf *out, int32_t v);
int feature_put_u64(struct buf *out, uint64_t v); /* TOTAL_MEM in kB, CLOCKID in ns */
int feature_put_owner(struct buf *out, uint32_t pid, uint32_t user); /* OWNERS: any number */
/* FILES, one entry. -EINVAL: a path too long for it. */
int feature_put_file(struct buf *out, const struct feature_file *file);
int feature_put_cmdline(struct buf *out, size_t argc, const char *const *argv);
int feature_put_event_desc(struct buf *out, const struct seam_events *events);
int feature_put_sample_time(struct buf *out, uint64_t first_ns, uint64_t last_ns);
/* One entry; call once per object. */
int feature_put_build_id(struct buf *out, uint16_t misc, int32_t pid, const uint8_t *build_id,
                         size_t size, const char *filename);
int feature_put_clock_data(struct buf *out, uint32_t clockid, uint64_t wall_clock_ns,
                           uint64_t clockid_time_ns);
struct feature_pmu {
	uint32_t type;
	const char *name;
};
int feature_put_pmu_mappings(struct buf *out, const struct feature_pmu *pmus, size_t n);
/* Sibling lists as the kernel writes them ("0-3"); cores and sockets hold a value per available CPU
 * (dies may be NULL). */
struct feature_topology {
	const char *const *core_siblings;
	size_t n_core_siblings;
	const char *const *thread_siblings;
	size_t n_thread_siblings;
	const char *const *die_siblings;
	size_t n_die_siblings;
	const int32_t *core_ids, *socket_ids, *die_ids;
	size_t n_cpus;
};
int feature_put_e_machine(struct buf *out, uint32_t machine, uint32_t flags);
struct feature_group {
	const char *name; /* "{unnamed}" or what the user gave */
	uint32_t leader_index, members;
};
int feature_put_group_desc(struct buf *out, const struct feature_group *groups, size_t n);

#endif
