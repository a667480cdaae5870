/* SPDX-License-Identifier: MIT */
/*
 * serve.h: answers on the loopback, for one user's browser alone: who asks must know a token that
 * is in the address, and name this machine as the host (a page of somewhere else whose name was
 * made to lead here does not). Served by threads of libmicrohttpd's, one request at a time;
 * serve-none.c stands in for builds without that.
 */
#ifndef SEAM_SERVE_SERVE_H
#define SEAM_SERVE_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include <seam/error.h>

#include "base/buf.h"

#define SERVE_TOKEN_SIZE 33u /* 128 bits in hexadecimal, and the end */

struct serve;

/* What is asked: the path behind the token ("", "data"), and its arguments; NULL: not given. */
struct serve_request {
	const char *path;
	const char *(*argument)(const struct serve_request *request, const char *name);
	void *connection;
};

/* A body and its type. */
struct serve_answer {
	const char *type;
	struct buf body;
};

struct serve_opts {
	size_t sz;
	unsigned port; /* 0: one that is free */
	/* 0; -ENOENT: there is no such thing; -EINVAL: an argument is wrong; -EAGAIN: not yet;
	 * -errno. Never called by two threads at once. */
	int (*answer)(void *ctx, const struct serve_request *request, struct serve_answer *ret);
	void *ctx;
};

/* Listens at 127.0.0.1 and, if this machine has it, ::1. -ENOSYS: this build cannot. */
int serve_open(struct serve **ret, const struct serve_opts *opts, struct seam_error *err);
void serve_close(struct serve *s);
unsigned serve_port(const struct serve *s);
const char *serve_token(const struct serve *s);

/* ---- serve_browser.c ---- */

/* How the user comes to the page. */
enum serve_way {
	SERVE_BROWSER, /* a browser can be opened here */
	SERVE_FORWARD, /* the user is at another machine, over ssh */
	SERVE_NONE,    /* there is no display */
};
enum serve_way serve_way(void);
/* The ssh command that forwards the port, to be given on the user's machine. */
void serve_forward_command(unsigned port, struct buf *to);
/* Opens the user's browser, by way of a file that only the user can read: a command line can be
 * read by everybody. The file's name is put into file, and is the caller's to remove, also after a
 * failure. -errno. */
int serve_open_browser(const char *url, struct buf *file);

/* ---- serve_check.c ---- */

/* Makes a token of the kernel's random numbers. -errno. */
int serve_make_token(char token[SERVE_TOKEN_SIZE]);
/* What stands behind "/TOKEN/" in a path, compared in a time that tells nothing of the token; NULL:
 * it does not begin with that. */
const char *serve_behind_token(const char *path, const char *token);
/* Whether a Host names the loopback, at whatever port (a forwarded one may be another). */
bool serve_host_is_here(const char *host);
/* Whether an Origin is a page of the loopback; NULL, none was sent, is one. */
bool serve_origin_is_here(const char *origin);

#endif
