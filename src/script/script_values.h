/* SPDX-License-Identifier: MIT */
/*
 * script_values.h: what a sample says beside who, when and where: perf script's fields before the
 * stack (trace, data_src, weight, ins_lat, retire_lat, cgroup) and behind it (registers, branches,
 * physical address, page sizes).
 */
#ifndef SEAM_SCRIPT_SCRIPT_VALUES_H
#define SEAM_SCRIPT_SCRIPT_VALUES_H

#include "base/buf.h"
#include "script/script_text.h"
#include "samples/samples.h"
#include "resolve/resolver.h"

/* The fields that script_values_before and script_values_after know. */
#define SCRIPT_BEFORE                                                                    \
	(SCRIPT_TRACE | SCRIPT_ADDR | SCRIPT_DATA_SRC | SCRIPT_WEIGHT | SCRIPT_INS_LAT | \
	 SCRIPT_RETIRE_LAT | SCRIPT_CGROUP)
#define SCRIPT_AFTER                                                                          \
	(SCRIPT_IREGS | SCRIPT_UREGS | SCRIPT_BRSTACK | SCRIPT_PHYS_ADDR | SCRIPT_DATA_PAGE | \
	 SCRIPT_CODE_PAGE)

struct script_values;

/* One thread each. fields: of the whole run; what is not asked for costs nothing. with: another one
 * of the same recording and fields, which outlives it; or NULL. -ENOMEM. */
int script_values_new(struct script_values **ret, struct recording *rec, struct resolver *resolver,
                      unsigned fields, const struct script_values *with);
/* A stream's: a record that is no sample (cgroups' names). */
int script_values_learn(struct script_values *v, const struct seam_record *record);
void script_values_free(struct script_values *v);
/* fields: of this sample's event. */
int script_values_before(struct script_values *v, const struct sample *s, unsigned fields,
                         struct buf *out);
void script_values_after(const struct script_values *v, const struct sample *s, unsigned fields,
                         struct buf *out);
/* What another has counted counts as this one's. */
void script_values_join(struct script_values *v, const struct script_values *other);
/* Samples of tracepoints that had no text so far. */
struct script_textless script_values_textless(const struct script_values *v);

#endif
