/* SPDX-License-Identifier: MIT */
/*
 * when.h: times as people type them: now; -1h, -1h30m (before now; s, m, h, d, w);
 * 14:02 or 14:02:30 (the last time the clock showed that); 2026-11-20, 2026-11-20T14:02[:05],
 * 2026-11-20 14:02, each with Z or +01:00 behind it, else local time; @1795000000 (seconds since
 * 1970).
 */
#ifndef SEAM_BASE_WHEN_H
#define SEAM_BASE_WHEN_H

#include <stdint.h>

/* The time of day, in ns since 1970. */
uint64_t when_now_ns(void);
/* In ns since 1970. -EINVAL: it is no time. */
int when_parse(const char *text, uint64_t now_ns, uint64_t *ret);
/* "10s", "2m", "1h30m", "7d", "50ms"; a bare number is seconds. In ns. -EINVAL. */
int when_parse_duration(const char *text, uint64_t *ret);
/* "2026-11-20 14:02:05", local time. Returns buf. */
#define WHEN_TEXT_MAX 40
const char *when_text(uint64_t ns, char buf[WHEN_TEXT_MAX]);

#endif
