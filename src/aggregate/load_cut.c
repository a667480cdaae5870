// SPDX-License-Identifier: MIT
/*
 * load_cut.c: see load_cut.h. Knows how many frames each way of taking a stack has room for.
 *
 * The kernel takes attr.sample_max_stack addresses of a chain, its own part first. Where an attr
 * does not say it, the sysctl did, which no file holds: its default is believed where the event's
 * longest chain is just as long, and nothing is said of other limits. A stack that happens to be
 * whole with that many frames is taken for a cut one.
 */
#include "aggregate/load_cut.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/nameless.h"
#include "resolve/beginning.h"
#include "samples/walk_result.h"
#include "samples/unwound.h"
#include "stitch/states.h"

#define CUT_DEFAULT \
	127u /* PERF_MAX_STACK_DEPTH: kernel.perf_event_max_stack, if nobody changed it */
#define CUT_DEFERRED \
	510u /* what fits into the page that the kernel unwinds into; the BPF walk's, too */
/* Limits that attr.sample_max_stack, of 16 bits, can state. */
#define CUT_LIMITS 65536u
#define CUT_OPEN "[unfinished: "
#define CUT_AT "cut at "

/* A chain as the kernel took it: its addresses, without the markers of contexts. */
static uint64_t cut_addresses(const struct callchain *sample)
{
	uint64_t n = sample->user.n;

	for (uint64_t i = 0; i < sample->kernel.n; i++)
		n += seam_u64s_at(&sample->kernel, i) < SEAM_CONTEXT_MAX;
	return n;
}

/* Whether the kernel took the whole chain, by its own limit, and no walk was involved. */
static bool cut_is_kernels(const struct load_cut *c, const struct callchain *sample)
{
	return (sample->state == SEAM_STITCH_IMMEDIATE ||
	        sample->state == SEAM_STITCH_KERNEL_ONLY) &&
	       !c->by_tables && !walk_result_said(&sample->event->attr);
}

int load_cut_start(struct load_cut *c, const struct recording *rec)
{
	for (size_t i = 0; i < STACK_ENDS; i++)
		c->by_tables |= rec->counts.ends[i] != 0;
	c->most = calloc(seam_events_count(rec->events) + 1, sizeof(*c->most));
	c->frames = calloc(CUT_LIMITS, sizeof(*c->frames));
	return c->most && c->frames ? 0 : -ENOMEM;
}

/* Finds for each event the longest chain that the kernel took, by which a limit that no file holds
 * is recognized. */
void load_cut_learn(struct load_cut *c, const struct recording *rec,
                    const struct stacks *const *stacks, size_t n)
{
	if (c->by_tables) /* no chain is the kernel's */
		return;
	for (size_t w = 0; w < n; w++) {
		for (size_t i = 0; i < stacks[w]->n; i++) {
			struct callchain sample =
			        stacks_callchain(stacks[w], &stacks[w]->entries[i], rec->events);
			uint32_t *most = &c->most[sample.event->index];
			uint64_t addresses;

			if (sample.kernel.n + sample.user.n <= *most || !cut_is_kernels(c, &sample))
				continue;
			addresses = cut_addresses(&sample);
			if (addresses > *most)
				*most = addresses < UINT32_MAX ? (uint32_t)addresses : UINT32_MAX;
		}
	}
}

/* A shorter chain than the default is no sign of it. */
bool load_cut_waits(const struct load_cut *c, const struct callchain *sample)
{
	return cut_is_kernels(c, sample) && !sample->event->attr.sample_max_stack &&
	       sample->kernel.n + sample->user.n >= CUT_DEFAULT;
}

void load_cut_free(struct load_cut *c)
{
	free(c->most);
	free(c->frames);
	*c = (struct load_cut){ 0 };
}

/* How many frames there was room for, if the stack has that many; else 0. A walk says itself
 * whether that is why it ended. */
static uint32_t cut_limit(const struct load_cut *c, const struct callchain *sample,
                          const struct stacks_key *key)
{
	const struct seam_event *event = sample->event;
	uint32_t limit;

	if ((key->by_tables || sample->state == SEAM_STITCH_STACK_COPY) &&
	    !sample_end_is_limit(key->end))
		return 0;
	switch (sample->state) {
	case SEAM_STITCH_STITCHED:
	case SEAM_STITCH_STITCHED_EARLIER:
		return sample->user.n >= CUT_DEFERRED ? CUT_DEFERRED : 0;
	case SEAM_STITCH_STACK_COPY:
		return sample->user.n >= WALK_FRAMES_MAX ? WALK_FRAMES_MAX : 0;
	case SEAM_STITCH_IMMEDIATE:
	case SEAM_STITCH_KERNEL_ONLY:
		break;
	default: /* its state says what is missing */
		return 0;
	}
	if (!cut_is_kernels(c, sample)) {
		limit = c->by_tables ? CUT_DEFERRED : WALK_FRAMES_MAX;
		return sample->user.n >= limit ? limit : 0;
	}
	limit = event->attr.sample_max_stack;
	if (!limit && c->most[event->index] == CUT_DEFAULT)
		limit = CUT_DEFAULT;
	if (!limit || sample->kernel.n + sample->user.n < limit)
		return 0;
	return cut_addresses(sample) == limit ? limit : 0;
}

/* Makes the frame that stands for the missing outer ones, when it is first needed. 0: out of
 * memory. */
static uint32_t cut_frame(struct profile *p, uint32_t *slot, const char *why)
{
	struct profile_frame f = { .kind = PROFILE_MISSING };
	char text[128];
	uint32_t id;

	if (*slot)
		return *slot;
	snprintf(text, sizeof(text), CUT_OPEN "%s]", why);
	f.symbol = profile_string(p, text);
	if (f.symbol == PROFILE_FAILED)
		return 0;
	id = profile_frame(p, &f);
	*slot = id == PROFILE_FAILED ? 0 : id;
	return *slot;
}

/* If the reader asked for a limit, a stack is marked only where its user part never came: other
 * frames are missing because they are left out. */
uint32_t load_cut_root(struct load_cut *c, struct profile *p, const struct callchain *sample,
                       const struct stacks_key *key, bool limited)
{
	bool unfinished = states_facts[sample->state].part == STATES_CUT;
	uint32_t limit = limited || unfinished ? 0 : cut_limit(c, sample, key), frame;
	char text[40];

	if (!limit && !unfinished)
		return PROFILE_ROOT;
	snprintf(text, sizeof(text), CUT_AT "%u frames", limit);
	frame = unfinished
	                ? cut_frame(p, &c->states[sample->state], states_facts[sample->state].text)
	                : cut_frame(p, &c->frames[limit], text);
	return frame ? profile_node(p, PROFILE_ROOT, frame) : PROFILE_FAILED;
}

/* A frame without a name may be where the program begins, so that data behind it says nothing. */
static bool cut_begins(const struct profile *p, bool in_data, uint32_t outermost, size_t n)
{
	uint32_t symbol = n ? profile_frame_at(p, outermost)->symbol : 0;
	const char *name = symbol ? profile_text(p, symbol) : NULL;

	if (!name || nameless_is(name, NULL))
		return in_data;
	return in_data ? beginning_is(name) : beginning_is_first(name, n == 1);
}

/* The root of a stack that a walk ended, or that went into data: a frame that says so, unless the
 * outermost frame is one with which programs begin. PROFILE_FAILED. */
uint32_t load_cut_end(struct load_cut *c, struct profile *p, sample_end end, bool in_data,
                      uint32_t outermost, size_t n)
{
	uint32_t frame;

	if ((!end && !in_data) || cut_begins(p, !end, outermost, n))
		return PROFILE_ROOT;
	frame = end ? cut_frame(p, &c->ends[end], sample_end_text(end))
	            : cut_frame(p, &c->data, "followed into data");
	return frame ? profile_node(p, PROFILE_ROOT, frame) : PROFILE_FAILED;
}

/* Whether a node is the root of stacks that ended early for another reason than a limit. */
bool load_cut_ended(const struct profile *p, uint32_t node)
{
	return node != PROFILE_ROOT && load_cut_ended_frame(p, profile_node_at(p, node).frame);
}

bool load_cut_ended_frame(const struct profile *p, uint32_t frame)
{
	const struct profile_frame *f = profile_frame_at(p, frame);

	return f->kind == PROFILE_MISSING &&
	       strncmp(profile_text(p, f->symbol), CUT_OPEN CUT_AT, strlen(CUT_OPEN CUT_AT)) != 0;
}
