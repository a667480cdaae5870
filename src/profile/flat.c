// SPDX-License-Identifier: MIT
// flat.c: see flat.h. Sums are put here in any order; who reads them adds up those of one key.
#include "profile/flat.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define FLAT_PYTHON_LOOP "_PyEval_EvalFrameDefault"

unsigned char flat_python_says(const struct profile *p, uint32_t frame)
{
	const uint32_t symbol = profile_frame_at(p, frame)->symbol;
	const char *name = symbol ? profile_text(p, symbol) : "";

	if (!strncmp(name, "py::", 4))
		return FLAT_PYTHON_NAMED;
	return strncmp(name, FLAT_PYTHON_LOOP, sizeof(FLAT_PYTHON_LOOP) - 1) ? 0 : FLAT_PYTHON_RUNS;
}

/* Of all else nothing is left: keys of one row of the table are the same. */
struct profile_key flat_key(const struct flat *f, const struct profile_key *key)
{
	const unsigned task = 1u << ROLLUP_COMM | 1u << ROLLUP_PID | 1u << ROLLUP_TID;
	struct profile_key k = *key;

	k.node = PROFILE_ROOT;
	if (!(f->columns & task))
		k.task = 0;
	if (!(f->columns & 1u << ROLLUP_STATE))
		k.state = 0;
	if (!(f->columns & 1u << ROLLUP_LABEL))
		k.label = PROFILE_NOT_KEPT;
	if (!(f->columns & 1u << ROLLUP_SLICE))
		k.slice = PROFILE_NOT_KEPT;
	return k;
}

int flat_add_total(struct flat *f, const struct profile_row *row)
{
	int r = ARRAY_ROOM(&f->totals, &f->totals_capacity, f->n_totals + 1);

	if (r >= 0)
		f->totals[f->n_totals++] = *row;
	return r;
}

int flat_add_top(struct flat *f, const struct flat_top *top)
{
	int r = ARRAY_ROOM(&f->tops, &f->tops_capacity, f->n_tops + 1);

	if (r >= 0)
		f->tops[f->n_tops++] = *top;
	return r;
}

int flat_add_nameless(struct flat *f, uint32_t object, uint64_t samples)
{
	int r = ARRAY_ROOM_ZEROED(&f->nameless, &f->nameless_capacity, (size_t)object + 1);

	if (r >= 0)
		f->nameless[object] += samples;
	return r;
}

uint64_t flat_samples(const struct flat *f, unsigned with, unsigned without)
{
	uint64_t samples = 0;

	for (unsigned i = 0; i < FLAT_SAYS; i++)
		if ((i & with) == with && !(i & without))
			samples += f->samples[i];
	return samples;
}

/* What was asked for stays. */
void flat_free(struct flat *f)
{
	free(f->totals);
	free(f->tops);
	free(f->nameless);
	*f = (struct flat){ .columns = f->columns, .says = f->says };
}
