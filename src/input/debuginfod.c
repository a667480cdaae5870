// SPDX-License-Identifier: MIT
/*
 * debuginfod.c: see debuginfod.h. Knows libdebuginfod's functions by name. image/ checks that what
 * was fetched is the right file.
 *
 * The library is loaded with dlopen when somebody asks for it, so that seam needs neither curl nor
 * TLS to start. Invariants: one question at a time (the lock), because its client is not for
 * several threads; all questions of a run together take at most limit_s seconds, so a server that
 * does not answer cannot hold a report up for each object.
 */
#include "input/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIBRARY "libdebuginfod.so.1"
/* Seconds for all questions together, unless the user says otherwise. */
#define LIMIT_S 60u

typedef int (*find_function)(void *client, const unsigned char *id, int n, char **path);
typedef int (*progress_function)(void *client, long done, long total);

/* On the monotonic clock: the wall clock may be set meanwhile. */
static double debuginfod_seconds_since(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - from->tv_sec) + (double)(now.tv_nsec - from->tv_nsec) / 1e9;
}

/* Whether the time is used up, `more` seconds being under way. It is said once. */
static bool debuginfod_is_over(struct debuginfod *d, double more)
{
	if (!d->over && d->spent_s + more > d->limit_s) {
		d->over = true;
		cmd_error(d->cmd,
		          "debuginfod: no more is asked for after %u s (--debuginfod-limit)",
		          d->limit_s);
	}
	return d->over;
}

/* Called by the library now and then: not 0 stops the transfer. It finds out how the whole run
 * stands through the client's user data, because the library gives its callback nothing else. */
static int debuginfod_on_progress(void *client, long done, long total)
{
	void *(*data)(void *);
	struct debuginfod *d;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);

	*(void **)&data = library ? dlsym(library, "debuginfod_get_user_data") : NULL;
	if (library)
		dlclose(library);
	d = data ? data(client) : NULL;
	if (!d)
		return 1;
	if (isatty(STDERR_FILENO))
		cmd_print(stderr, "\rdebuginfod: %ld of %ld kB\033[K", done / 1000, total / 1000);
	return debuginfod_is_over(d, debuginfod_seconds_since(&d->spent_from));
}

/* Asks the servers for a file, within the time that all questions together may take; one question
 * at a time. 0 and path, or -ENOENT. */
static int debuginfod_fetch(void *ctx, const struct image_build_id *id, bool debug, char *path,
                            size_t n)
{
	struct debuginfod *d = ctx;
	find_function find;
	char *found = NULL;
	int fd = -ENOENT, length = -1;

	*(void **)&find = dlsym(d->library,
	                        debug ? "debuginfod_find_debuginfo" : "debuginfod_find_executable");
	pthread_mutex_lock(&d->lock);
	if (find && !debuginfod_is_over(d, 0)) {
		clock_gettime(CLOCK_MONOTONIC, &d->spent_from);
		fd = find(d->client, id->bytes, id->size, &found);
		d->spent_s += debuginfod_seconds_since(&d->spent_from);
		if (isatty(STDERR_FILENO))
			fputs("\r\033[K", stderr);
	}
	pthread_mutex_unlock(&d->lock);
	if (fd < 0)
		return -ENOENT;
	/* The descriptor of the file in the library's cache: only its path is wanted. */
	close(fd);
	if (found)
		length = snprintf(path, n, "%s", found);
	free(found);
	return length > 0 && (size_t)length < n ? 0 : -ENOENT;
}

/* NULL: the library lacks a function, or gave no client. */
static void *debuginfod_client_new(struct debuginfod *d)
{
	/* dlsym gives an object pointer, and ISO C has no cast from it to a function's: so the
	 * pointers are written through. */
	void *(*begin)(void);
	void (*set_data)(void *, void *);
	void (*set_progress)(void *, progress_function);

	*(void **)&begin = dlsym(d->library, "debuginfod_begin");
	*(void **)&set_data = dlsym(d->library, "debuginfod_set_user_data");
	*(void **)&set_progress = dlsym(d->library, "debuginfod_set_progressfn");
	if (!begin || !set_data || !set_progress)
		return NULL;
	d->client = begin();
	if (d->client) {
		set_data(d->client, d);
		set_progress(d->client, debuginfod_on_progress);
	}
	return d->client;
}

/* The library is loaded only here, so that seam runs without it. NULL, after saying why: no server
 * is named, or the library is not installed. */
const struct image_fetch *debuginfod_start(struct debuginfod *d, const struct cmd *cmd,
                                           const char *urls)
{
	const char *given = getenv("DEBUGINFOD_URLS");

	d->cmd = cmd;
	if (urls && *urls)
		setenv("DEBUGINFOD_URLS", urls, 1); /* read at each question */
	/* A second --debuginfod changes the servers and keeps the client. */
	if (d->client)
		return &d->fetch;
	if (urls && *urls)
		given = urls;
	if (!given || !*given) {
		cmd_error(cmd, "--debuginfod: no server is known: --debuginfod=URLS, or set "
		               "DEBUGINFOD_URLS");
		return NULL;
	}
	d->library = dlopen(LIBRARY, RTLD_NOW);
	if (!d->library || !debuginfod_client_new(d)) {
		cmd_error(cmd, "--debuginfod: " LIBRARY " is missing: apt install libdebuginfod1");
		return NULL;
	}
	if (!d->limit_s)
		d->limit_s = LIMIT_S;
	pthread_mutex_init(&d->lock, NULL);
	d->fetch = (struct image_fetch){ .fetch = debuginfod_fetch, .ctx = d };
	return &d->fetch;
}

/* The library is not unloaded, because the libraries that it brings along (curl, gnutls) are not
 * made for that. */
void debuginfod_stop(struct debuginfod *d)
{
	void (*end)(void *);

	if (!d->client)
		return;
	*(void **)&end = dlsym(d->library, "debuginfod_end");
	if (end)
		end(d->client);
	pthread_mutex_destroy(&d->lock);
	d->client = NULL;
}
