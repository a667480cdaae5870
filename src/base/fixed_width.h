/* SPDX-License-Identifier: MIT */
/*
 * fixed_width.h: stdint.h's names also where there is no C library: in programs for the kernel
 * (BPF), whose types come from the kernel's headers, which they include before.
 */
#ifndef SEAM_BASE_FIXED_WIDTH_H
#define SEAM_BASE_FIXED_WIDTH_H

#ifdef __bpf__
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __s16 int16_t;
typedef __s32 int32_t;
#else
#include <stdint.h>
#endif

#endif
