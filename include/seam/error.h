/* SPDX-License-Identifier: MIT */
/*
 * seam/error.h: where and why something failed, in a struct that the caller owns.
 *
 * Every function of libseam that can fail returns >= 0, or a negative errno value. Where it takes a
 * `struct seam_error *`, that may be NULL; when it is not, a failure fills it whole and a success
 * leaves it untouched.
 *
 * Structs whose first member is `size_t sz` may grow. The caller sets sz to the sizeof that it was
 * compiled with; the library reads and writes no byte beyond it. What only the caller knows of a
 * struct that is filled is 0. An option that is set and not known to the library is refused with
 * -E2BIG; a size that was not set, with -EINVAL.
 *
 * Structs that stand in others, and those that the caller gives without a size, keep theirs: they
 * have members that are reserved for more, and are 0. seam_error, seam_u64s and seam_bytes stay as
 * they are.
 */
#ifndef SEAM_ERROR_H
#define SEAM_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SEAM_API __attribute__((visibility("default")))
#define SEAM_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define SEAM_API
#define SEAM_PRINTF(fmt, args)
#endif

/* "No offset is known", in struct seam_error::offset. */
#define SEAM_NO_OFFSET UINT64_MAX

struct seam_error {
	int code;        /* positive errno value; 0 if nothing failed yet */
	uint64_t offset; /* byte offset in the file, or SEAM_NO_OFFSET */
	char what[32];   /* the record or section concerned: "MMAP2"; "" if none */
	char path[256];  /* the file, "" if none; cut from the left with "..." when longer */
	char text[512];  /* one whole sentence: "perf.data: offset 0x1a38: MMAP2: 40 bytes, need 72"
	                  */
};

/*
 * Fills *err (if not NULL) and returns -code, so that `return seam_error_set(...)` reads well.
 * path and what may be NULL; offset may be SEAM_NO_OFFSET. The text is composed as
 * "PATH: offset 0xOFF: WHAT: MESSAGE", each part only if known.
 */
SEAM_API int seam_error_set(struct seam_error *err, int code, const char *path, uint64_t offset,
                            const char *what, const char *fmt, ...) SEAM_PRINTF(6, 7);

/*
 * Puts path in front of an error that was filled without one: for callers that know the file, of
 * functions that see only bytes. Does nothing when err is NULL or names a path already.
 */
SEAM_API void seam_error_add_path(struct seam_error *err, const char *path);

#ifdef __cplusplus
}
#endif
#endif
