/* SPDX-License-Identifier: MIT */
/* keep.h: what names keep on disk: the running kernel's list, in the cache directory. */
#ifndef SEAM_TABLES_KEEP_H
#define SEAM_TABLES_KEEP_H

#include "symbol/symbol.h"

struct symbol_keep keep_on_disk(void);

#endif
