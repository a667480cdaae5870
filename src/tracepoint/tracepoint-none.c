// SPDX-License-Identifier: MIT
// tracepoint-none.c: tracepoint.h in a build without libtraceevent: there is no text, and it says
// so.
#include <errno.h>
#include <stdlib.h>

#include "tracepoint/tracepoint.h"

struct tracepoints {
	char nothing;
};

int tracepoint_new(struct tracepoints **ret, const void *bytes, size_t n,
                   const struct tracepoint_names *names, struct seam_error *err)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void tracepoint_free(struct tracepoints *t)
{
	free(t);
}

int tracepoint_text(struct tracepoints *t, uint64_t id, uint32_t cpu, const void *raw, size_t n,
                    struct buf *out, const char **reason)
{
	*reason = "seam was built without libtraceevent";
	return 0;
}
