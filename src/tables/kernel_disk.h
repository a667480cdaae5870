/* SPDX-License-Identifier: MIT */
/* kernel_disk.h: what names keep on disk: the running kernel's list, in the cache directory. */
#ifndef SEAM_TABLES_KERNEL_DISK_H
#define SEAM_TABLES_KERNEL_DISK_H

#include "symbol/symbol.h"

struct kernel_storage kernel_disk(void);

#endif
