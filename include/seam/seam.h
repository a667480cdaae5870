/* SPDX-License-Identifier: MIT */
/* seam/seam.h: all of libseam. */
#ifndef SEAM_SEAM_H
#define SEAM_SEAM_H

#include <seam/error.h>
#include <seam/record.h>
#include <seam/reader.h>
#include <seam/stitch.h>
#include <seam/writer.h>

#endif
