/* SPDX-License-Identifier: MIT */
/*
 * seam/reader.h: a perf.data file, pipe stream or directory as a sequence of records.
 *
 * The reader finds records, their events and the header's features. It decompresses. It keeps all
 * that is sound of a damaged file and counts what it had to skip. It does not order records in time
 * and does not interpret them: see seam/record.h and seam/stitch.h.
 */
#ifndef SEAM_READER_H
#define SEAM_READER_H

#include <seam/error.h>
#include <seam/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of the header's feature bitmap (seam_reader_feature). */
enum seam_feature {
	SEAM_FEATURE_TRACING_DATA = 1,
	SEAM_FEATURE_BUILD_ID = 2,
	SEAM_FEATURE_HOSTNAME = 3,
	SEAM_FEATURE_OSRELEASE = 4,
	SEAM_FEATURE_VERSION = 5,
	SEAM_FEATURE_ARCH = 6,
	SEAM_FEATURE_NRCPUS = 7,
	SEAM_FEATURE_CPUDESC = 8,
	SEAM_FEATURE_CPUID = 9,
	SEAM_FEATURE_TOTAL_MEM = 10,
	SEAM_FEATURE_CMDLINE = 11,
	SEAM_FEATURE_EVENT_DESC = 12,
	SEAM_FEATURE_CPU_TOPOLOGY = 13,
	SEAM_FEATURE_NUMA_TOPOLOGY = 14,
	SEAM_FEATURE_BRANCH_STACK = 15,
	SEAM_FEATURE_PMU_MAPPINGS = 16,
	SEAM_FEATURE_GROUP_DESC = 17,
	SEAM_FEATURE_AUXTRACE = 18,
	SEAM_FEATURE_STAT = 19,
	SEAM_FEATURE_CACHE = 20,
	SEAM_FEATURE_SAMPLE_TIME = 21,
	SEAM_FEATURE_MEM_TOPOLOGY = 22,
	SEAM_FEATURE_CLOCKID = 23,
	SEAM_FEATURE_DIR_FORMAT = 24,
	SEAM_FEATURE_BPF_PROG_INFO = 25,
	SEAM_FEATURE_BPF_BTF = 26,
	SEAM_FEATURE_COMPRESSED = 27,
	SEAM_FEATURE_CPU_PMU_CAPS = 28,
	SEAM_FEATURE_CLOCK_DATA = 29,
	SEAM_FEATURE_HYBRID_TOPOLOGY = 30,
	SEAM_FEATURE_PMU_CAPS = 31,
	SEAM_FEATURE_CPU_DOMAIN_INFO = 32,
	SEAM_FEATURE_E_MACHINE = 33,
	SEAM_FEATURE_CLN_SIZE = 34,
	SEAM_FEATURE_MAX = 256,
};

struct seam_reader;

struct seam_reader_opts {
	size_t sz;   /* sizeof(struct seam_reader_opts) */
	bool strict; /* the first damage is an error, instead of a counted skip */
};

/*
 * Opens a file, a directory recording, or "-" (standard input, read as a stream).
 * -ENOENT, -EACCES ...: as open(2). -EBADMSG: not a perf.data file, or its header cannot be used.
 * A file whose data.size is 0 (a killed recorder) or that was cut is opened: see seam_reader_info.
 */
SEAM_API int seam_reader_open(struct seam_reader **ret, const char *path,
                              const struct seam_reader_opts *opts, struct seam_error *err);
/*
 * Opens a file that is in memory, which must stay valid until close. name is for messages; NULL is
 * "memory".
 */
SEAM_API int seam_reader_open_memory(struct seam_reader **ret, const void *bytes, size_t n,
                                     const char *name, const struct seam_reader_opts *opts,
                                     struct seam_error *err);
/* Opens what a file descriptor gives, from its current position on, as a stream unless it is a
 * regular file at 0. fd stays the caller's. */
SEAM_API int seam_reader_open_fd(struct seam_reader **ret, int fd, const char *name,
                                 const struct seam_reader_opts *opts, struct seam_error *err);
/* Closes the file and frees the reader, its events, records and features; NULL is fine. */
SEAM_API void seam_reader_close(struct seam_reader *reader);

/*
 * The next record, in the order of the file (not of time): 1 and *ret filled, 0 at the end, or
 * negative. Compressed records are delivered as what is inside them. The record lives until the
 * next call, or until close when record.stable.
 */
SEAM_API int seam_reader_next(struct seam_reader *reader, struct seam_record *ret,
                              struct seam_error *err);
/* Back to the first record. -ESPIPE for a stream. */
SEAM_API int seam_reader_rewind(struct seam_reader *reader);

/* The events; grows while a stream is read. Owned by the reader. */
SEAM_API const struct seam_events *seam_reader_events(const struct seam_reader *reader);

/* The raw bytes of a header feature: 1 and *ret, or 0 when the file has none. Lives until close. */
SEAM_API int seam_reader_feature(const struct seam_reader *reader, unsigned feature,
                                 struct seam_bytes *ret);
/* A feature that is one string (HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID); NULL when
 * absent. Lives until close. */
SEAM_API const char *seam_reader_feature_string(struct seam_reader *reader, unsigned feature);

/* What is to be known of a file and of its damage. Final once seam_reader_next has returned 0. */
struct seam_reader_info {
	size_t sz; /* set by the caller */
	bool is_pipe;
	bool is_directory;
	bool swapped; /* the other byte order */
	bool big_endian;
	bool compressed; /* at least one COMPRESSED or COMPRESSED2 record, or the feature, was seen
	                  */
	bool unfinished; /* the recorder was killed: data.size is 0, or seam's mark is there */
	uint64_t file_size;   /* bytes; 0 for a stream; all files of a directory */
	uint64_t data_offset; /* bytes */
	/* bytes of the data section, as it is (not as it claims); with all data.N */
	uint64_t data_size;
	uint64_t position;        /* bytes of the input consumed so far, for progress */
	uint64_t records;         /* delivered so far */
	uint64_t skipped_records; /* unsound records that were passed over */
	uint64_t skipped_bytes;
	uint64_t truncated_bytes; /* a last record that was cut: bytes that are there of it */
	uint64_t bad_features;    /* header features that could not be read */
	uint64_t compressed_bytes, decompressed_bytes;
	uint64_t compressed_records;  /* COMPRESSED and COMPRESSED2; not counted in records */
	uint64_t compressed2_records; /* of these, COMPRESSED2 */
	uint64_t feature_offset; /* bytes; where the feature table is said to be, 0 for a pipe */
	unsigned version;        /* of the file format, 1 or 2 */
	uint64_t written_ns;     /* when the file was last written, since the epoch; 0: not known */
};
/* Fills what is known of the file so far, as far as ret->sz reaches. -EINVAL: ret->sz is not
 * set. */
SEAM_API int seam_reader_info(const struct seam_reader *reader, struct seam_reader_info *ret);
/* The i-th description of damage (at most 64 are kept), NULL past the last. Lives until close. */
SEAM_API const struct seam_error *seam_reader_damage(const struct seam_reader *reader, size_t i);
/* True when anything was skipped, cut or missing: the deferred record is partial. */
SEAM_API bool seam_reader_damaged(const struct seam_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
