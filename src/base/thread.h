/* SPDX-License-Identifier: MIT */
/*
 * thread.h: starts threads. Signals that come from outside (SIGINT, SIGCHLD ...) are for the thread
 * that the program began with: its handlers run there, and in no other, so that what they use may
 * be taken away there. What a thread itself causes (SIGBUS, of a mapped file that was cut, and the
 * like) it takes.
 */
#ifndef SEAM_BASE_THREAD_H
#define SEAM_BASE_THREAD_H

#include <pthread.h>

/* To be joined. 0, or -errno: there is no thread, and *ret is not set. */
int thread_start(pthread_t *ret, void *(*run)(void *ctx), void *ctx);

#endif
