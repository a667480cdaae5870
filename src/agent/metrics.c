// SPDX-License-Identifier: MIT
/*
 * metrics.c: see metrics.h. libmicrohttpd listens and speaks HTTP; each answer is made from a copy
 * of the values as they were set last. Only GET of two paths is answered, with a bounded number of
 * connections, and only on the loopback: what is served names stores.
 */
#include "agent/metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/late.h"
#include "base/when.h"

#define METRICS_CONNECTIONS 16u
#define METRICS_SECONDS 10u /* that a connection may take */

#define METRICS_SONAME "libmicrohttpd.so.12"
#define METRICS_FUNCTIONS(F)           \
	F(start_daemon)                \
	F(stop_daemon)                 \
	F(create_response_from_buffer) \
	F(add_response_header)         \
	F(queue_response)              \
	F(destroy_response)

/* The library, once it is loaded; it does not change after that. */
static struct {
	bool there;
#define FUNCTION(name) __typeof__(MHD_##name) *name;
	METRICS_FUNCTIONS(FUNCTION)
#undef FUNCTION
} metrics_mhd;
static pthread_once_t metrics_mhd_once = PTHREAD_ONCE_INIT;

static void metrics_load(void)
{
#define FUNCTION(name) { "MHD_" #name, &metrics_mhd.name },
	const struct late_symbol symbols[] = { METRICS_FUNCTIONS(FUNCTION) };
#undef FUNCTION

	metrics_mhd.there =
	        late_load(METRICS_SONAME, symbols, sizeof(symbols) / sizeof(symbols[0]));
}

struct metrics {
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock; /* of values */
	struct metrics_values values;
};

/* Sends a text. It is freed by the library. */
static enum MHD_Result metrics_send(struct MHD_Connection *c, unsigned status, const char *type,
                                    struct buf *text)
{
	struct MHD_Response *response =
	        text->failed ? NULL
	                     : metrics_mhd.create_response_from_buffer(text->n, text->bytes,
	                                                               MHD_RESPMEM_MUST_COPY);
	enum MHD_Result r = MHD_NO;

	if (response) {
		metrics_mhd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
		r = metrics_mhd.queue_response(c, status, response);
		metrics_mhd.destroy_response(response);
	}
	buf_free(text);
	return r;
}

/* Answers one request, in the library's thread. */
static enum MHD_Result metrics_answer(void *ctx, struct MHD_Connection *c, const char *url,
                                      const char *method, const char *version, const char *data,
                                      size_t *n, void **state)
{
	struct metrics *m = ctx;
	struct metrics_values v;
	struct buf text = { 0 };
	bool is_well;

	(void)version;
	(void)data;
	(void)n;
	(void)state;
	pthread_mutex_lock(&m->lock);
	v = m->values;
	pthread_mutex_unlock(&m->lock);
	if (strcmp(method, "GET") != 0) {
		buf_put_text(&text, "only GET\n");
		return metrics_send(c, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", &text);
	}
	if (!strcmp(url, "/metrics")) {
		metrics_text(&v, &text);
		return metrics_send(c, MHD_HTTP_OK, "text/plain; version=0.0.4", &text);
	}
	if (!strcmp(url, "/health")) {
		is_well = metrics_health(&v, when_now_ns(), &text);
		return metrics_send(c, is_well ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
		                    "text/plain", &text);
	}
	buf_put_text(&text, "/metrics, /health\n");
	return metrics_send(c, MHD_HTTP_NOT_FOUND, "text/plain", &text);
}

/* "127.0.0.1:9464", "[::1]:9464", "9464". -EINVAL: no such address, or not of the loopback. */
static int metrics_address(const char *text, struct sockaddr_in *v4, struct sockaddr_in6 *v6)
{
	const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
	char host[64] = "127.0.0.1", *end;
	unsigned long number = strtoul(port, &end, 10);
	size_t n = colon ? (size_t)(colon - text) : 0;

	if (*port < '0' || *port > '9' || *end || !number || number > 65535 || n >= sizeof(host))
		return -EINVAL;
	if (n >= 2 && text[0] == '[' && text[n - 1] == ']')
		snprintf(host, sizeof(host), "%.*s", (int)n - 2, text + 1);
	else if (colon)
		snprintf(host, sizeof(host), "%.*s", (int)n, text);
	*v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)number) };
	*v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
		                     .sin6_port = htons((uint16_t)number) };
	if (inet_pton(AF_INET, !strcmp(host, "localhost") ? "127.0.0.1" : host, &v4->sin_addr) == 1)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127 ? AF_INET : -EINVAL;
	if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1)
		return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ? AF_INET6 : -EINVAL;
	return -EINVAL;
}

/* Begins to listen. What is served is zeros until metrics_set. */
int metrics_open(struct metrics **ret, const char *address, struct seam_error *err)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct metrics *m;
	int family = metrics_address(address, &v4, &v6);

	if (family < 0)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "metrics: '%s' is no address of the loopback with a port, as "
		                      "127.0.0.1:9464",
		                      address);
	pthread_once(&metrics_mhd_once, metrics_load);
	if (!metrics_mhd.there)
		return seam_error_set(err, ENOSYS, NULL, SEAM_NO_OFFSET, NULL,
		                      "metrics: there is no libmicrohttpd (" METRICS_SONAME ")");
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	pthread_mutex_init(&m->lock, NULL);
	errno = 0;
	m->daemon = metrics_mhd.start_daemon(
	        MHD_USE_INTERNAL_POLLING_THREAD | (family == AF_INET6 ? MHD_USE_IPv6 : 0), 0, NULL,
	        NULL, metrics_answer, m, MHD_OPTION_SOCK_ADDR,
	        family == AF_INET6 ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4,
	        MHD_OPTION_CONNECTION_LIMIT, METRICS_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
	        METRICS_SECONDS, MHD_OPTION_END);
	if (!m->daemon) {
		int error = errno ? errno : EADDRINUSE;

		metrics_close(m);
		return seam_error_set(err, error, NULL, SEAM_NO_OFFSET, NULL,
		                      "metrics: cannot listen at %s: %s", address, strerror(error));
	}
	*ret = m;
	return 0;
}

void metrics_close(struct metrics *m)
{
	if (!m)
		return;
	if (m->daemon)
		metrics_mhd.stop_daemon(m->daemon);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

void metrics_set(struct metrics *m, const struct metrics_values *v)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	m->values = *v;
	pthread_mutex_unlock(&m->lock);
}
