/* SPDX-License-Identifier: MIT */
/* flame_asset.h: the page of flame/ as the build put it together: what stands before and behind the
 * data; served is the head of a page that asks its server for it. */
#ifndef SEAM_EXPORT_FLAME_ASSET_H
#define SEAM_EXPORT_FLAME_ASSET_H

#include <stddef.h>

extern const unsigned char flame_asset_head[], flame_asset_served[], flame_asset_tail[];
extern const size_t flame_asset_head_size, flame_asset_served_size, flame_asset_tail_size;

#endif
