/* SPDX-License-Identifier: MIT */
/*
 * preface.h: the records that stand before all others and say what is recorded: TIME_CONV,
 * THREAD_MAP, CPU_MAP; and FINISHED_INIT, which ends what was synthesized.
 */
#ifndef SEAM_CAPTURE_PREFACE_H
#define SEAM_CAPTURE_PREFACE_H

#include "base/buf.h"
#include "capture/session.h"

/* Both append whole records; out->failed says if memory ran out. pids as in session_opts; n_pids 0
 * means all processes. */
void preface_put(const struct session *session, const pid_t *pids, size_t n_pids, struct buf *out);
void preface_put_finished(struct buf *out);

#endif
