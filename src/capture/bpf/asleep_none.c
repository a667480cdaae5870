// SPDX-License-Identifier: MIT
// asleep_none.c: asleep.h where the program was built without clang or libbpf, or for a machine
// that defers nothing: said so.
#include <errno.h>

#include "capture/bpf/asleep.h"

int asleep_read(const uint64_t *cookies, size_t n, session_give_asleep give, void *ctx,
                struct seam_error *err)
{
	(void)cookies;
	(void)n;
	(void)give;
	(void)ctx;
	return seam_error_set(err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, NULL,
	                      "seam was built without BPF programs");
}

int asleep_read_threads(const uint64_t *tids, size_t n, session_give_asleep give, void *ctx,
                        struct seam_error *err)
{
	return asleep_read(tids, n, give, ctx, err);
}
