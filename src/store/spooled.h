/* SPDX-License-Identifier: MIT */
/*
 * spooled.h: a store behind a network, as an agent uses it: what is put waits in a spool on disk,
 * and a thread hands it on. So a server that is slow or away slows nothing, and loses nothing that
 * fits.
 *
 * A failure that may pass is tried again, after 1 s, then 2 s, up to a minute, or when the server
 * says. A window that the server refuses is dropped after some tries, and counted.
 */
#ifndef SEAM_STORE_SPOOLED_H
#define SEAM_STORE_SPOOLED_H

#include "store/backend.h"

/* Options of a URL: the directory; what it may hold. */
#define SPOOLED_OPTIONS "spool", "spool-mb"

/* backend: the kind of store; rest: of its URL. */
int spooled_open(void **ret, const struct store_backend *backend, const char *rest,
                 struct seam_error *err);
/* A store of such a kind; its functions are of a spool that is open. */
extern const struct store_backend spooled_backend;
/* What is to be told to people since the last call: false: nothing. */
bool spooled_news(void *spooled, char *text, size_t room);

#endif
