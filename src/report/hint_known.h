/* SPDX-License-Identifier: MIT */
/*
 * hint_known.h: the packages of files, as dpkg's lists said when they were read last. To read all
 * lists takes 10 ms, more than all else of a report on a short recording. What was found is kept in
 * $XDG_CACHE_HOME/seam/packages, for as long as the folder of the lists stays the same: dpkg puts
 * each list into it by renaming. What is kept is not trusted: it is taken whole, or not at all.
 */
#ifndef SEAM_REPORT_HINT_KNOWN_H
#define SEAM_REPORT_HINT_KNOWN_H

#include "report/hint.h"

/* As hint_packages of the lists in `info`: what is known is not looked for again. cache_dir: NULL:
 * the user's own. */
void hint_known_packages(const char *info, const char *cache_dir, struct hint_package *files,
                         size_t n);

#endif
