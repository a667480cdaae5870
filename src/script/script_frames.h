/* SPDX-License-Identifier: MIT */
/*
 * script_frames.h: frames of stacks as lines of seam script.
 *
 * What was made once is copied: a whole part of a stack (script_stacks.h), the outer lines of a
 * thread's last stack (script_tail.h), the line of an address (resolver.h). None of it changes what
 * is written.
 */
#ifndef SEAM_SCRIPT_SCRIPT_FRAMES_H
#define SEAM_SCRIPT_SCRIPT_FRAMES_H

#include "script/script_text.h"

struct script_frames;

struct script_spaces {
	uint32_t user, kernel;
	uint32_t tid;
	uint64_t time_ns;
	uint32_t kernel_number, user_number; /* of both parts (samples/stacks.h); 0: none */
	bool by_tables;                      /* walk_result_by_tables */
	bool marks;                          /* called_marks */
};

/* Each thread needs its own; opts outlives it. with: another one of the same recording, which
 * outlives this one and whose symbols are used; or NULL. -ENOMEM. */
int script_frames_new(struct script_frames **ret, struct recording *rec,
                      const struct script_text_opts *opts, const struct script_frames *with);
void script_frames_free(struct script_frames *f);
struct resolver *script_frames_resolver(const struct script_frames *f);
/* To be called between items: forgets the lines if they have become many. */
void script_frames_bound(struct script_frames *f);
/* Whether both parts of a sample, which have numbers, were written before: then all its frames are
 * appended, in the form of script_frames_put. 0: not; its words are not looked at. -ENOMEM. */
int script_frames_known(struct script_frames *f, const struct script_spaces *spaces,
                        struct buf *out);
/* Appends all frames of a sample; each is led by a tab and followed by a newline. -ENOMEM. */
int script_frames_put(struct script_frames *f, const struct callchain *sample,
                      const struct script_spaces *spaces, struct buf *out);
/* Appends where a sample hit, behind a blank, without what is inlined there and without a newline.
 * -ENOMEM. */
int script_frames_hit(struct script_frames *f, const struct callchain *sample,
                      const struct script_spaces *spaces, struct buf *out);

#endif
