/* SPDX-License-Identifier: MIT */
/* own_store.h: a store of SQLite for a test program, in a directory of its own. */
#ifndef SEAM_TESTS_OWN_STORE_H
#define SEAM_TESTS_OWN_STORE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store.h"

static struct store *own_store;
static char own_store_dir[] = "/tmp/seam-store-XXXXXX";

/* 0, or what main returns: 77 without SQLite, 1 if it cannot be made. */
static int own_store_open(void)
{
	struct seam_error err = { 0 };
	char url[80];
	int r;

	if (!mkdtemp(own_store_dir))
		return 1;
	snprintf(url, sizeof(url), "sqlite:%s/a.db", own_store_dir);
	r = store_open(&own_store, url, STORE_WRITE, &err);
	return r == -ENOSYS ? 77 : r < 0;
}

/* Gives what main returns, of what the tests returned. */
static int own_store_close(int r)
{
	char remove[80];

	store_close(own_store);
	snprintf(remove, sizeof(remove), "rm -rf %s", own_store_dir);
	return system(remove) || r;
}

#endif
