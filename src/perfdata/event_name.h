/* SPDX-License-Identifier: MIT */
/*
 * event_name.h: the name of an event from its attr, spelled as perf spells it: "cycles:u",
 * "L1-dcache-load-misses", "raw 0x1a8", "mem:0x4011d0:rw". Knows no file; pmu is the name of a PMU
 * that the caller found for event_name_pmu_type (NULL: none): "pmu/config=0x1a8/".
 */
#ifndef SEAM_PERFDATA_EVENT_NAME_H
#define SEAM_PERFDATA_EVENT_NAME_H

#include "base/buf.h"
#include <seam/record.h>

uint32_t event_name_pmu_type(const struct seam_attr *attr);
int event_name(const struct seam_attr *attr, const char *pmu, struct buf *out);

/* The attr's fields that are not zero, as perf evlist -v lists them: "type: 1 (PERF_TYPE_SOFTWARE),
 * size: 144, ..."; assign is ": " there and " = " in a header. */
int event_attr_text(const struct seam_attr *attr, const char *assign, struct buf *out);

#endif
