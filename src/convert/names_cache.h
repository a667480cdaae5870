/* SPDX-License-Identifier: MIT */
/*
 * names_cache.h: the directory of files with names that streams refer to, one directory each, by
 * build-id. Nobody tells when a stream's names are of use no more, so time and room do.
 */
#ifndef SEAM_CONVERT_NAMES_CACHE_H
#define SEAM_CONVERT_NAMES_CACHE_H

#define NAMES_CACHE_DAYS 30
#define NAMES_CACHE_MIB 64

/*
 * Removes what nobody wrote for NAMES_CACHE_DAYS days and, beyond NAMES_CACHE_MIB MiB in all, the
 * oldest; never what is younger than an hour. Only directories named by a build-id are looked at,
 * and of them only the file of this name. What cannot be removed stays, which is no failure.
 */
void names_cache_prune(const char *dir, const char *file);

#endif
