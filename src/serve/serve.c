// SPDX-License-Identifier: MIT
/*
 * serve.c: see serve.h. libmicrohttpd listens and speaks HTTP, one daemon for each address. Only
 * GET and HEAD are answered, with a bounded number of connections (serve_crowd.h).
 *
 * Invariant: nothing of what is served is told to who does not know the token, names another host
 * or is another user; not even that it is there to who does not know the token.
 */
#include "serve/serve.h"
#include "serve/serve_crowd.h"
#include "serve/serve_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/late.h"

#define SERVE_SILENT_SECONDS 3u   /* that a connection may rest before it says the token */
#define SERVE_SECONDS 30u         /* and after that */
#define SERVE_MEMORY (128u << 10) /* of a request's head: names of C++ are long */
#define SERVE_ADDRESSES 2

#define SERVE_SONAME "libmicrohttpd.so.12"
#define SERVE_FUNCTIONS(F)             \
	F(add_response_header)         \
	F(create_response_from_buffer) \
	F(destroy_response)            \
	F(get_connection_info)         \
	F(get_daemon_info)             \
	F(lookup_connection_value)     \
	F(queue_response)              \
	F(set_connection_option)       \
	F(start_daemon)                \
	F(stop_daemon)

/* The library, once it is loaded; it does not change after that. */
static struct {
	bool there;
#define FUNCTION(name) __typeof__(MHD_##name) *name;
	SERVE_FUNCTIONS(FUNCTION)
#undef FUNCTION
} serve_mhd;
static pthread_once_t serve_mhd_once = PTHREAD_ONCE_INIT;

static void serve_load(void)
{
#define FUNCTION(name) { "MHD_" #name, &serve_mhd.name },
	const struct late_symbol symbols[] = { SERVE_FUNCTIONS(FUNCTION) };
#undef FUNCTION

	serve_mhd.there = late_load(SERVE_SONAME, symbols, sizeof(symbols) / sizeof(symbols[0]));
}

/* One address, which one thread serves. */
struct serve_door {
	struct serve *serve;
	struct MHD_Daemon *daemon;
	struct serve_crowd crowd;
};

struct serve {
	struct serve_opts opts;
	struct serve_door doors[SERVE_ADDRESSES];
	pthread_mutex_t lock; /* one answer at a time */
	unsigned port;
	char token[SERVE_TOKEN_SIZE];
};

static const char *serve_argument(const struct serve_request *request, const char *name)
{
	return serve_mhd.lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* Sends a body, which is freed. Nobody else may read, keep, frame or link it. */
static enum MHD_Result serve_send(struct MHD_Connection *c, unsigned status, const char *type,
                                  struct buf *body)
{
	static const char *const headers[][2] = {
		{ "Cache-Control", "no-store" },
		{ "Referrer-Policy", "no-referrer" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "X-Frame-Options", "DENY" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
		{ "Content-Security-Policy",
		  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
		  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
		  "'none'" },
	};
	struct MHD_Response *response =
	        body->failed ? NULL
	                     : serve_mhd.create_response_from_buffer(body->n, body->bytes,
	                                                             MHD_RESPMEM_MUST_FREE);
	enum MHD_Result r;

	if (!response) {
		buf_free(body);
		return MHD_NO;
	}
	serve_mhd.add_response_header(response, "Content-Type", type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		serve_mhd.add_response_header(response, headers[i][0], headers[i][1]);
	r = serve_mhd.queue_response(c, status, response);
	serve_mhd.destroy_response(response);
	return r;
}

static enum MHD_Result serve_refuse(struct MHD_Connection *c, unsigned status, const char *why)
{
	struct buf body = { 0 };

	buf_put_text(&body, why);
	return serve_send(c, status, "text/plain; charset=utf-8", &body);
}

/* Asks the owner, one request after the other, and sends what it says. */
static enum MHD_Result serve_owner(struct serve *s, struct MHD_Connection *c, const char *path)
{
	const struct serve_request request = { path, serve_argument, c };
	struct serve_answer answer = { .type = "application/octet-stream" };
	int r;

	pthread_mutex_lock(&s->lock);
	r = s->opts.answer(s->opts.ctx, &request, &answer);
	pthread_mutex_unlock(&s->lock);
	if (r >= 0 && !answer.body.failed)
		return serve_send(c, MHD_HTTP_OK, answer.type, &answer.body);
	buf_free(&answer.body);
	if (r == -ENOENT)
		return serve_refuse(c, MHD_HTTP_NOT_FOUND, "not found\n");
	if (r == -EINVAL)
		return serve_refuse(c, MHD_HTTP_BAD_REQUEST, "an argument is wrong\n");
	if (r == -EAGAIN)
		return serve_refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, "not yet\n");
	return serve_refuse(c, MHD_HTTP_INTERNAL_SERVER_ERROR,
	                    r == -ENOMEM || r >= 0 ? "out of memory\n" : "it failed\n");
}

/* Keeps account of who is connected. */
static void serve_connection(void *ctx, struct MHD_Connection *c, void **guest,
                             enum MHD_ConnectionNotificationCode code)
{
	struct serve_door *door = ctx;
	const union MHD_ConnectionInfo *info =
	        serve_mhd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*guest = info ? serve_crowd_enter(&door->crowd, info->connect_fd) : NULL;
	else if (*guest)
		serve_crowd_leave(&door->crowd, *guest);
}

/* Whether a connection whose request has the token is of the user's own: if so, it may stay. */
static bool serve_know(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
	        serve_mhd.get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct serve_guest *guest = info ? info->socket_context : NULL;

	if (!guest)
		return false;
	if (guest->is_known)
		return true;
	if (!serve_peer_is_own(guest->fd))
		return false;
	guest->is_known = true;
	serve_mhd.set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, SERVE_SECONDS);
	return true;
}

/* Answers one request, in a thread of the library's. */
static enum MHD_Result serve_request(void *ctx, struct MHD_Connection *c, const char *url,
                                     const char *method, const char *version, const char *data,
                                     size_t *n, void **state)
{
	struct serve_door *door = ctx;
	struct serve *s = door->serve;
	const char *path;

	(void)version;
	(void)data;
	(void)state;
	if (!serve_host_is_here(serve_mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Host")) ||
	    !serve_origin_is_here(serve_mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Origin")))
		return serve_refuse(c, MHD_HTTP_FORBIDDEN, "forbidden\n");
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		/* What is sent with it is not read. */
		if (*n)
			return MHD_NO;
		return serve_refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
	}
	path = serve_behind_token(url, s->token);
	if (!path)
		return serve_refuse(c, MHD_HTTP_NOT_FOUND, "not found\n");
	if (!serve_know(c))
		return serve_refuse(c, MHD_HTTP_FORBIDDEN, "this page is another user's\n");
	return serve_owner(s, c, path);
}

/* Begins to listen at one address. NULL and errno: it could not. */
static struct MHD_Daemon *serve_listen(struct serve *s, struct serve_door *door,
                                       const struct sockaddr *address)
{
	unsigned flags =
	        MHD_USE_AUTO_INTERNAL_THREAD | (address->sa_family == AF_INET6 ? MHD_USE_IPv6 : 0);

	door->serve = s;
	serve_crowd_start(&door->crowd);
	errno = 0;
	return serve_mhd.start_daemon(flags, 0, NULL, NULL, serve_request, door,
	                              MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_CONNECTION_LIMIT,
	                              SERVE_CROWD_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
	                              SERVE_SILENT_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
	                              (size_t)SERVE_MEMORY, MHD_OPTION_NOTIFY_CONNECTION,
	                              serve_connection, door, MHD_OPTION_END);
}

/* Listens at both addresses, at one port. A machine without IPv6 has the first only. -errno. */
static int serve_start(struct serve *s)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)s->port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	const union MHD_DaemonInfo *info;

	v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	v6.sin6_addr = in6addr_loopback;
	s->doors[0].daemon = serve_listen(s, &s->doors[0], (const struct sockaddr *)&v4);
	if (!s->doors[0].daemon)
		return errno ? -errno : -EADDRINUSE;
	info = serve_mhd.get_daemon_info(s->doors[0].daemon, MHD_DAEMON_INFO_BIND_PORT);
	if (!info || !info->port)
		return -EIO;
	s->port = info->port;
	v6.sin6_port = htons((uint16_t)s->port);
	s->doors[1].daemon = serve_listen(s, &s->doors[1], (const struct sockaddr *)&v6);
	/* The address that is shown is the first; somebody else at the second is not asked. */
	return 0;
}

/* Makes the secret and listens; what went wrong is said with the address. */
int serve_open(struct serve **ret, const struct serve_opts *opts, struct seam_error *err)
{
	struct serve *s;
	int r;

	pthread_once(&serve_mhd_once, serve_load);
	if (!serve_mhd.there)
		return seam_error_set(err, ENOSYS, NULL, SEAM_NO_OFFSET, NULL,
		                      "there is no libmicrohttpd (" SERVE_SONAME
		                      "), and seam serves nothing; 'seam flame --source' makes a "
		                      "file of the same page");
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->opts = *opts;
	s->port = opts->port;
	pthread_mutex_init(&s->lock, NULL);
	r = serve_make_token(s->token);
	if (r >= 0)
		r = serve_start(s);
	if (r < 0) {
		serve_close(s);
		return opts->port ? seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL,
		                                   "cannot listen at 127.0.0.1:%u: %s", opts->port,
		                                   strerror(-r))
		                  : seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL,
		                                   "cannot listen at 127.0.0.1: %s", strerror(-r));
	}
	*ret = s;
	return 0;
}

void serve_close(struct serve *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < SERVE_ADDRESSES; i++)
		if (s->doors[i].daemon)
			serve_mhd.stop_daemon(s->doors[i].daemon);
	pthread_mutex_destroy(&s->lock);
	explicit_bzero(s->token, sizeof(s->token));
	free(s);
}

unsigned serve_port(const struct serve *s)
{
	return s->port;
}

const char *serve_token(const struct serve *s)
{
	return s->token;
}
