// SPDX-License-Identifier: MIT
/*
 * http.c: see http.h: through libcurl, which is loaded when the first server is spoken to: it and
 * the libraries that it needs would make every command begin later. What a failure means is decided
 * here once: http_status, http_failed.
 */
#include "net/http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "net/gzip.h"

#define CONNECT_S 10L
#define TIMEOUT_S 120u
#define TIMEOUT_MAX 3600u
#define ANSWER_BYTES ((size_t)1 << 20)
#define FIELDS_BYTES ((size_t)1 << 16)
#define SECRET_BYTES 4096u

struct http {
	CURL *curl;
	char *origin;
	char *authorization; /* header; NULL: none */
	char *user, *password, *ca_file;
	unsigned timeout_s, wait_s;
	_Atomic long long until_ms; /* CLOCK_MONOTONIC: requests end then; 0: no such time */
};

/* One answer on its way in. */
struct http_coming {
	struct http_answer *to;
	size_t most;
	bool too_much;
};

/* The functions of libcurl. */
static struct {
	CURLcode (*global_init)(long flags);
	CURL *(*easy_init)(void);
	void (*easy_cleanup)(CURL *curl);
	void (*easy_reset)(CURL *curl);
	CURLcode (*easy_setopt)(CURL *curl, CURLoption option, ...);
	CURLcode (*easy_getinfo)(CURL *curl, CURLINFO info, ...);
	CURLcode (*easy_perform)(CURL *curl);
	const char *(*easy_strerror)(CURLcode code);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
	void (*slist_free_all)(struct curl_slist *list);
	bool there;
} http_curl;
static pthread_once_t http_once = PTHREAD_ONCE_INIT;

/* False: there is no such function. */
static bool http_symbol(void *library, const char *name, void *to)
{
	void *at = dlsym(library, name);

	memcpy(to, &at, sizeof(at));
	return at != NULL;
}

/* Fills http_curl. Debian has libcurl with OpenSSL or with GnuTLS; either will do. */
static void http_load(void)
{
	void *l = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);

	if (!l)
		l = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
	http_curl.there = l && http_symbol(l, "curl_global_init", &http_curl.global_init) &&
	                  http_symbol(l, "curl_easy_init", &http_curl.easy_init) &&
	                  http_symbol(l, "curl_easy_cleanup", &http_curl.easy_cleanup) &&
	                  http_symbol(l, "curl_easy_reset", &http_curl.easy_reset) &&
	                  http_symbol(l, "curl_easy_setopt", &http_curl.easy_setopt) &&
	                  http_symbol(l, "curl_easy_getinfo", &http_curl.easy_getinfo) &&
	                  http_symbol(l, "curl_easy_perform", &http_curl.easy_perform) &&
	                  http_symbol(l, "curl_easy_strerror", &http_curl.easy_strerror) &&
	                  http_symbol(l, "curl_slist_append", &http_curl.slist_append) &&
	                  http_symbol(l, "curl_slist_free_all", &http_curl.slist_free_all) &&
	                  http_curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/* ---- secrets ---- */

/* Reads a file that holds a password or the like. */
int http_secret(char **ret, const char *path, struct seam_error *err)
{
	char text[SECRET_BYTES + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	int error = errno;

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return seam_error_set(err, error, path, SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(error));
	if (n > (ssize_t)SECRET_BYTES)
		return seam_error_set(err, EINVAL, path, SEAM_NO_OFFSET, NULL,
		                      "a secret has at most %u bytes", SECRET_BYTES);
	text[n] = 0;
	text[strcspn(text, "\r\n")] = 0;
	if (!*text)
		return seam_error_set(err, EINVAL, path, SEAM_NO_OFFSET, NULL,
		                      "the file's first line is empty");
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

/* Reads user, password and token as the remote names them. */
static int http_credentials(struct http *h, const struct remote *t, struct seam_error *err)
{
	const char *user = remote_option(t, "user"), *file = remote_option(t, "password-file");
	const char *token_file = remote_option(t, "token-file");
	char *token = NULL;
	int r = 0;

	if (file && !user)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "the URL's option password-file needs user");
	if (user) {
		h->user = strdup(user);
		r = h->user ? 0 : -ENOMEM;
	}
	if (r >= 0 && file)
		r = http_secret(&h->password, file, err);
	if (r >= 0 && token_file)
		r = http_secret(&token, token_file, err);
	if (token && asprintf(&h->authorization, "Authorization: Bearer %s", token) < 0)
		r = -ENOMEM;
	free(token);
	return r;
}

/* Sends nothing: a server that is down is no failure here. */
int http_open(struct http **ret, const struct remote *t, struct seam_error *err)
{
	struct http *h = calloc(1, sizeof(*h));
	const char *ca = remote_option(t, "ca-file");
	unsigned long long timeout;
	int r = h ? 0 : -ENOMEM;

	if (r < 0)
		return r;
	pthread_once(&http_once, http_load);
	if (!http_curl.there) {
		free(h);
		return seam_error_set(err, ENOSYS, NULL, SEAM_NO_OFFSET, NULL,
		                      "libcurl.so.4 cannot be loaded: stores by HTTP need Debian's "
		                      "package libcurl4");
	}
	r = remote_number(t, "timeout", TIMEOUT_S, TIMEOUT_MAX, &timeout, err);
	if (r >= 0) {
		h->timeout_s = (unsigned)timeout;
		h->origin = strdup(t->origin);
		h->ca_file = ca ? strdup(ca) : NULL;
		h->curl = http_curl.easy_init();
		r = h->origin && h->curl && (!ca || h->ca_file) ? http_credentials(h, t, err)
		                                                : -ENOMEM;
	}
	if (r < 0)
		http_close(h);
	else
		*ret = h;
	return r;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	if (h->curl)
		http_curl.easy_cleanup(h->curl);
	free(h->origin);
	free(h->authorization);
	free(h->user);
	free(h->password);
	free(h->ca_file);
	free(h);
}

/* ---- a request ---- */

/* Takes a piece of an answer. Less than what came ends the request. */
static size_t http_take(char *bytes, size_t size, size_t n, void *ctx)
{
	struct http_coming *c = ctx;

	n *= size;
	if (n > c->most - c->to->body.n) {
		c->too_much = true;
		return 0;
	}
	return buf_put(&c->to->body, bytes, n) < 0 ? 0 : n;
}

/* Takes a line of an answer's head or trailer. */
static size_t http_field(char *bytes, size_t size, size_t n, void *ctx)
{
	struct buf *fields = ctx;

	n *= size;
	if (n > FIELDS_BYTES - fields->n)
		return 0;
	return buf_put(fields, bytes, n) < 0 ? 0 : n;
}

static long long http_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

const char *http_origin(const struct http *h)
{
	return h->origin;
}

unsigned http_wait_s(const struct http *h)
{
	return h->wait_s;
}

void http_hurry(struct http *h, unsigned seconds)
{
	atomic_store(&h->until_ms, http_now_ms() + seconds * 1000LL);
}

/* libcurl calls this now and then. 1: the request is to end. */
static int http_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct http *h = ctx;
	long long until = atomic_load(&h->until_ms);

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return until && http_now_ms() >= until;
}

void http_said(const void *bytes, size_t n, char to[HTTP_SAID])
{
	const unsigned char *text = bytes;
	size_t at = 0;

	for (size_t i = 0; i < n && at + 1 < HTTP_SAID; i++) {
		if (at && (text[i] == '\n' || text[i] == '\r'))
			break;
		if (text[i] >= ' ' && text[i] != 0x7f)
			to[at++] = (char)text[i];
	}
	to[at] = 0;
}

/* What a status means, as http_post returns it, and in words. */
static int http_status(const struct http *h, const struct http_answer *a, struct seam_error *err)
{
	char line[HTTP_SAID];
	int code = a->status == 401 || a->status == 403                           ? EACCES
	           : a->status == 408 || a->status == 429 || a->status / 100 == 5 ? EAGAIN
	                                                                          : EBADMSG;

	if (a->status / 100 == 2)
		return 0;
	http_said(a->body.bytes, a->body.n, line);
	return seam_error_set(err, code, NULL, SEAM_NO_OFFSET, NULL, "%s answers %ld%s%s",
	                      h->origin, a->status, *line ? ": " : "", line);
}

/* The same of a request without an answer. */
static int http_failed(const struct http *h, const struct http_coming *c, CURLcode code,
                       const char *why, struct seam_error *err)
{
	int error = EAGAIN;

	if (c->too_much)
		return seam_error_set(err, EMSGSIZE, NULL, SEAM_NO_OFFSET, NULL,
		                      "%s answers more than %zu bytes", h->origin, c->most);
	if (c->to->body.failed || code == CURLE_OUT_OF_MEMORY)
		return -ENOMEM;
	if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
	    code == CURLE_SSL_CERTPROBLEM)
		error = EACCES;
	if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)
		error = EINVAL;
	return seam_error_set(err, error, NULL, SEAM_NO_OFFSET, NULL, "%s: %s", h->origin,
	                      *why ? why : http_curl.easy_strerror(code));
}

/* -ENOMEM. */
static int http_header(struct curl_slist **list, const char *text)
{
	struct curl_slist *more = text ? http_curl.slist_append(*list, text) : *list;

	if (text && !more)
		return -ENOMEM;
	*list = more;
	return 0;
}

/* The headers of a request: Expect is off, because it costs a round trip. -ENOMEM. */
static int http_headers(const struct http *h, const struct http_request *q,
                        struct curl_slist **list)
{
	char type[128];
	int r = http_header(list, "Expect:");

	snprintf(type, sizeof(type), "Content-Type: %s",
	         q->content_type ? q->content_type : "application/octet-stream");
	if (r >= 0)
		r = http_header(list, type);
	if (r >= 0 && q->gzip)
		r = http_header(list, "Content-Encoding: gzip");
	if (r >= 0)
		r = http_header(list, h->authorization);
	for (size_t i = 0; q->headers && q->headers[i] && r >= 0; i++)
		r = http_header(list, q->headers[i]);
	return r;
}

/* What is the same for all requests. curl's options are set anew each time. */
static void http_settings(struct http *h)
{
	CURL *c = h->curl;

	http_curl.easy_reset(c);
	http_curl.easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	http_curl.easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	http_curl.easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	http_curl.easy_setopt(c, CURLOPT_TIMEOUT, (long)h->timeout_s);
	http_curl.easy_setopt(c, CURLOPT_USERAGENT, "seam");
	http_curl.easy_setopt(c, CURLOPT_POST, 1L);
	http_curl.easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	http_curl.easy_setopt(c, CURLOPT_XFERINFOFUNCTION, http_progress);
	http_curl.easy_setopt(c, CURLOPT_XFERINFODATA, h);
	if (h->ca_file)
		http_curl.easy_setopt(c, CURLOPT_CAINFO, h->ca_file);
	if (h->user) {
		http_curl.easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		http_curl.easy_setopt(c, CURLOPT_USERNAME, h->user);
		http_curl.easy_setopt(c, CURLOPT_PASSWORD, h->password ? h->password : "");
	}
}

/* Sends, and waits for the answer. */
static int http_perform(struct http *h, const char *url, const void *body, size_t n,
                        struct http_coming *coming, struct seam_error *err)
{
	struct http_answer *a = coming->to;
	char why[CURL_ERROR_SIZE] = "";
	curl_off_t sent = 0, after = 0;
	CURLcode code;

	http_curl.easy_setopt(h->curl, CURLOPT_URL, url);
	http_curl.easy_setopt(h->curl, CURLOPT_POSTFIELDS, n ? body : "");
	http_curl.easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
	http_curl.easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, http_take);
	http_curl.easy_setopt(h->curl, CURLOPT_WRITEDATA, coming);
	http_curl.easy_setopt(h->curl, CURLOPT_ERRORBUFFER, why);
	code = http_curl.easy_perform(h->curl);
	http_curl.easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &a->status);
	http_curl.easy_getinfo(h->curl, CURLINFO_SIZE_UPLOAD_T, &sent);
	http_curl.easy_getinfo(h->curl, CURLINFO_RETRY_AFTER, &after);
	a->retry_after_s = after > 0 && after < 86400 ? (unsigned)after : 0;
	h->wait_s = a->retry_after_s;
	a->sent = (size_t)sent >= n && (a->status || sent);
	http_curl.easy_setopt(h->curl, CURLOPT_ERRORBUFFER, NULL);
	if (code == CURLE_OK)
		return http_status(h, a, err);
	a->status = 0;
	return http_failed(h, coming, code, why, err);
}

/* A server of gRPC speaks nothing but HTTP/2, with TLS or without. -ENOSYS. */
static int http_second(struct http *h, struct buf *fields, struct seam_error *err)
{
	long version = strncmp(h->origin, "https:", 6) != 0 ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
	                                                    : CURL_HTTP_VERSION_2TLS;

	if (http_curl.easy_setopt(h->curl, CURLOPT_HTTP_VERSION, version) != CURLE_OK)
		return seam_error_set(err, ENOSYS, NULL, SEAM_NO_OFFSET, NULL,
		                      "this libcurl knows no HTTP/2");
	/* A second stream on a connection fails in libcurl 7.88. */
	http_curl.easy_setopt(h->curl, CURLOPT_FORBID_REUSE, 1L);
	http_curl.easy_setopt(h->curl, CURLOPT_HEADERFUNCTION, http_field);
	http_curl.easy_setopt(h->curl, CURLOPT_HEADERDATA, fields);
	return 0;
}

/* Makes the request of its parts and frees them. */
int http_post(struct http *h, const struct http_request *q, struct http_answer *ret,
              struct seam_error *err)
{
	struct http_coming coming = { .to = ret, .most = q->most ? q->most : ANSWER_BYTES };
	struct curl_slist *headers = NULL;
	struct buf url = { 0 }, packed = { 0 };
	int r;

	*ret = (struct http_answer){ 0 };
	buf_printf(&url, "%s%s", h->origin, q->path);
	r = url.failed ? -ENOMEM : http_headers(h, q, &headers);
	if (r >= 0 && q->gzip)
		r = gzip_pack(&packed, q->body, q->n);
	if (r >= 0) {
		http_settings(h);
		http_curl.easy_setopt(h->curl, CURLOPT_HTTPHEADER, headers);
		r = q->http2 ? http_second(h, &ret->fields, err) : 0;
	}
	if (r >= 0)
		r = http_perform(h, buf_text(&url), q->gzip ? packed.bytes : q->body,
		                 q->gzip ? packed.n : q->n, &coming, err);
	http_curl.slist_free_all(headers);
	buf_free(&url);
	buf_free(&packed);
	return r;
}

void http_answer_free(struct http_answer *a)
{
	buf_free(&a->body);
	buf_free(&a->fields);
}

void http_escape(struct buf *to, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		    strchr("-._~", c))
			buf_put(to, text, 1);
		else
			buf_put(to, (const char[]){ '%', digits[c >> 4], digits[c & 15] }, 3);
	}
}
