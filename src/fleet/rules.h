/* SPDX-License-Identifier: MIT */
/*
 * rules.h: which labels a series gets because of others: "checkout" is the service of what runs in
 * the unit checkout-*.service. A rule has conditions as --where has them (unit=a,exe=/opt/b), whose
 * values are patterns as shells have them; all keys must match. Of the rules for one
 * label the first that fits holds, and a rule sees what those above it have set.
 */
#ifndef SEAM_FLEET_RULES_H
#define SEAM_FLEET_RULES_H

#include "base/labels.h"

#define RULES_MAX 256u

struct rules {
	struct rule *at;
	size_t n;
};

/* key: the label that is set. -EINVAL: the conditions make no sense; -E2BIG; -ENOMEM. */
int rules_add(struct rules *r, const char *key, const char *value, const char *conditions);
void rules_free(struct rules *r);
/* Sets what the rules say. r NULL: none. -ENOMEM, -E2BIG. */
int rules_apply(const struct rules *r, struct labels *l);
/* Calls each with every key that conditions have and that begins so. */
void rules_keys(const struct rules *r, const char *begin, void (*each)(void *ctx, const char *key),
                void *ctx);

#endif
