// SPDX-License-Identifier: MIT
// serve.c: who may ask: tokens, hosts, origins; the way to the page; a browser's arguments.
#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "serve/site.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/serve_crowd.h"
#include "serve/serve_peer.h"

static void tokens_are_long_and_differ(void **state)
{
	char one[SERVE_TOKEN_SIZE], other[SERVE_TOKEN_SIZE];

	(void)state;
	assert_true(serve_make_token(one) >= 0 && serve_make_token(other) >= 0);
	assert_int_equal(strspn(one, "0123456789abcdef"), 32);
	assert_int_equal(strlen(one), 32);
	assert_string_not_equal(one, other);
}

static void only_the_token_opens(void **state)
{
	(void)state;
	assert_string_equal(serve_behind_token("/abc/", "abc"), "");
	assert_string_equal(serve_behind_token("/abc/data", "abc"), "data");
	assert_string_equal(serve_behind_token("/abc//x", "abc"), "/x");
	assert_null(serve_behind_token("", "abc"));
	assert_null(serve_behind_token("/", "abc"));
	assert_null(serve_behind_token("/abc", "abc"));
	assert_null(serve_behind_token("/ab/", "abc"));
	assert_null(serve_behind_token("/abd/data", "abc"));
	assert_null(serve_behind_token("/abcd/", "abc"));
	assert_null(serve_behind_token("/ABC/", "abc"));
	assert_null(serve_behind_token("x/abc/", "abc"));
}

static void only_the_loopback_is_here(void **state)
{
	static const char *const here[] = { "127.0.0.1",       "127.0.0.1:1", "localhost",
		                            "LocalHost:65535", "[::1]:8000",  "[::1]" };
	static const char *const not_here[] = {
		"",
		"evil.example",
		"127.0.0.1.evil.example",
		"127.0.0.1:",
		"localhost.",
		"localhost:1.evil",
		"localhost:80@evil",
		"127.0.0.1:123456",
		"[::1",
		"[::1]evil",
		"0.0.0.0",
		"127.0.0.2",
		"xlocalhost",
		"localhost evil:8000",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(here) / sizeof(*here); i++)
		assert_true(serve_host_is_here(here[i]));
	for (size_t i = 0; i < sizeof(not_here) / sizeof(*not_here); i++)
		assert_false(serve_host_is_here(not_here[i]));
	assert_false(serve_host_is_here(NULL));
	assert_true(serve_origin_is_here(NULL));
	assert_true(serve_origin_is_here("http://localhost:8000"));
	assert_false(serve_origin_is_here("null"));
	assert_false(serve_origin_is_here("https://localhost"));
	assert_false(serve_origin_is_here("http://evil.example"));
}

static void ssh_is_told_what_to_forward(void **state)
{
	struct buf text = { 0 };

	(void)state;
	setenv("SSH_CONNECTION", "192.0.2.7 50000 2001:db8::1 22", 1);
	setenv("DISPLAY", ":0", 1);
	assert_int_equal(serve_way(), SERVE_FORWARD);
	serve_forward_command(8123, &text);
	assert_non_null(strstr(buf_text(&text), "ssh -L 8123:127.0.0.1:8123 "));
	assert_non_null(strstr(buf_text(&text), "2001:db8::1"));
	assert_null(strstr(buf_text(&text), "-p "));
	buf_free(&text);
	unsetenv("SSH_CONNECTION");
	assert_int_equal(serve_way(), SERVE_BROWSER);
	unsetenv("DISPLAY");
	unsetenv("WAYLAND_DISPLAY");
	assert_int_equal(serve_way(), SERVE_NONE);
}

/* The arguments of one request: name, value, name, value. */
static const char *argument(const struct serve_request *request, const char *name)
{
	for (const char *const *at = request->connection; *at; at += 2)
		if (!strcmp(*at, name))
			return at[1];
	return NULL;
}

/* What is answered to a path with these arguments. */
static int answered(const char *path, const char *const *arguments)
{
	struct site site = { .n = 1 };
	const struct serve_request request = { path, argument, (void *)arguments };
	struct serve_answer answer = { 0 };
	int r;

	assert_true(profile_new((struct profile **)&site.sides[0].profile, PROFILE_KEEP_SAMPLES) >=
	            0);
	site.sides[0].name = "x";
	site.opts.sz = sizeof(site.opts);
	site.annotate[0].load.profile = (struct profile *)site.sides[0].profile;
	site_news_start(&site.news);
	site_news_end(&site.news, SITE_READY);
	r = site_answer(&site, &request, &answer);
	site_news_free(&site.news);
	buf_free(&answer.body);
	profile_free((struct profile *)site.sides[0].profile);
	return r;
}

static void arguments_are_not_trusted(void **state)
{
	static const char *const none[] = { NULL };
	static const char *const half[] = { "from", "1", NULL };
	static const char *const turned[] = { "from", "2", "to", "1", NULL };
	static const char *const part[] = { "from", "1", "to", "2", NULL };
	static const char *const signs[] = { "from", "-1", "to", "+2", NULL };
	static const char *const large[] = { "from", "1", "to", "1234567890123456789", NULL };
	static const char *const code[] = { "name", "a", "object", "b",      "from", "1",
		                            "to",   "2", "tids",   "7.-1.8", NULL };
	static const char *const tid[] = { "name", "a", "object", "b", "tids", "5000000000", NULL };
	static const char *const before[] = { "before_from", "2", "before_to", "1", NULL };
	static const char *const letters[] = { "name", "a", "object", "b", "tids", "1.x", NULL };

	(void)state;
	assert_int_equal(answered("", none), 0);
	assert_int_equal(answered("other", none), -ENOENT);
	assert_int_equal(answered("data", none), 0);
	assert_int_equal(answered("data", part), 0);
	assert_int_equal(answered("data", half), -EINVAL);
	assert_int_equal(answered("data", turned), -EINVAL);
	assert_int_equal(answered("data", signs), -EINVAL);
	assert_int_equal(answered("data", large), -EINVAL);
	assert_int_equal(answered("data", before), -EINVAL);
	assert_int_equal(answered("source", none), -EINVAL);
	assert_int_equal(answered("source", code), 0);
	assert_int_equal(answered("source", tid), -EINVAL);
	assert_int_equal(answered("source", letters), -EINVAL);
}

/* Who says nothing is shown out, the first to come first; who knows the token stays. */
static void crowds(void **state)
{
	static struct serve_crowd crowd;
	int pairs[2 * SERVE_CROWD_MAX][2], known = 3;
	struct serve_guest *guests[2 * SERVE_CROWD_MAX] = { NULL };
	char byte;
	size_t out = 0;

	(void)state;
	serve_crowd_start(&crowd);
	for (int i = 0; i < 2 * (int)SERVE_CROWD_MAX; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]), 0);
		guests[i] = serve_crowd_enter(&crowd, pairs[i][0]);
		assert_non_null(guests[i]);
		guests[i]->is_known |= i == known;
		/* Whoever serves them sees that one was shown out, and lets it leave. */
		for (int k = 0; k <= i; k++) {
			if (!guests[k] || recv(pairs[k][0], &byte, 1, MSG_DONTWAIT) != 0)
				continue;
			assert_true(k != known && k < i && k <= (int)out + 1);
			serve_crowd_leave(&crowd, guests[k]);
			guests[k] = NULL;
			out++;
		}
	}
	assert_int_equal(out, 2 * SERVE_CROWD_MAX - SERVE_CROWD_ENOUGH);
	assert_non_null(guests[known]);
	for (size_t i = 0; i < 2 * SERVE_CROWD_MAX; i++) {
		close(pairs[i][0]);
		close(pairs[i][1]);
	}
}

/* The state that a page asks for, as JSON. */
static const char *told(struct site *site, struct buf *body)
{
	const struct serve_request state_of = { .path = "state" };
	struct serve_answer answer = { 0 };

	assert_int_equal(site_answer(site, &state_of, &answer), 0);
	buf_free(body);
	*body = answer.body;
	return buf_text(body);
}

/* What reads has its say before the page has anything else. */
static void what_is_read_is_told(void **state)
{
	const struct serve_request data = { .path = "data" }, seen = { .path = "seen" };
	struct site site = { .n = 1, .opts = { .sz = sizeof(site.opts), .title = "a \"b\"" } };
	struct serve_answer answer = { 0 };
	struct buf body = { 0 };
	bool is_seen = true;

	(void)state;
	site_news_start(&site.news);
	assert_string_equal(told(&site, &body), "{\"title\":\"a \\\"b\\\"\",\"phase\":\"reading\","
	                                        "\"step\":\"\",\"done\":0,\"total\":0,"
	                                        "\"said\":[]}");
	assert_int_equal(site_answer(&site, &data, &answer), -EAGAIN);
	site_news_progress(&site.news, "naming", 3, 7);
	for (int i = 0; i < 60; i++)
		site_news_say(&site.news, i ? "more" : "first");
	assert_non_null(strstr(told(&site, &body), "\"step\":\"naming\",\"done\":3,\"total\":7,"
	                                           "\"said\":[\"first\",\"more\","));
	assert_int_equal(site.news.n_said, 50);
	/* What is not so has not been seen. */
	assert_int_equal(site_answer(&site, &seen, &answer), 0);
	buf_free(&answer.body);
	assert_int_equal(site_news_phase(&site.news, &is_seen), SITE_READS);
	assert_false(is_seen);
	site_news_end(&site.news, SITE_FAILED);
	assert_int_equal(site_answer(&site, &data, &answer), -EAGAIN);
	assert_int_equal(site_answer(&site, &seen, &answer), 0);
	buf_free(&answer.body);
	assert_int_equal(site_news_phase(&site.news, &is_seen), SITE_FAILED);
	assert_true(is_seen);
	buf_free(&body);
	site_news_free(&site.news);
}

/* A connection to a socket that listens at an address; the other end into *ret. */
static int connected(int family, const struct sockaddr *to, socklen_t n, int listens, int *ret)
{
	int c = socket(family, SOCK_STREAM, 0);

	assert_true(c >= 0);
	assert_int_equal(connect(c, to, n), 0);
	*ret = accept(listens, NULL, NULL);
	assert_true(*ret >= 0);
	return c;
}

/* Over IPv4, and by a socket of IPv6 that speaks it. */
static void whose_a_connection_is(void **state)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 mapped = { .sin6_family = AF_INET6 };
	socklen_t n = sizeof(v4);
	int listens = socket(AF_INET, SOCK_STREAM, 0), c, s;
	uid_t user = 12345;

	(void)state;
	v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(listens, (struct sockaddr *)&v4, sizeof(v4)), 0);
	assert_int_equal(listen(listens, 4), 0);
	assert_int_equal(getsockname(listens, (struct sockaddr *)&v4, &n), 0);
	c = connected(AF_INET, (struct sockaddr *)&v4, sizeof(v4), listens, &s);
	assert_int_equal(serve_peer_user(s, &user), 0);
	assert_int_equal(user, geteuid());
	assert_true(serve_peer_is_own(s));
	close(c);
	close(s);
	mapped.sin6_port = v4.sin_port;
	mapped.sin6_addr.s6_addr[10] = mapped.sin6_addr.s6_addr[11] = 0xff;
	memcpy(&mapped.sin6_addr.s6_addr[12], &v4.sin_addr, 4);
	c = socket(AF_INET6, SOCK_STREAM, 0);
	if (c >= 0) {
		close(c);
		c = connected(AF_INET6, (struct sockaddr *)&mapped, sizeof(mapped), listens, &s);
		user = 12345;
		assert_int_equal(serve_peer_user(s, &user), 0);
		assert_int_equal(user, geteuid());
		close(c);
		close(s);
	}
	close(listens);
}

/* A socket that is connected to nobody, and none at all. */
static void nobody_is_not_the_user(void **state)
{
	int lone = socket(AF_INET, SOCK_STREAM, 0);
	uid_t user;

	(void)state;
	assert_int_equal(serve_peer_user(lone, &user), -ENOTCONN);
	assert_false(serve_peer_is_own(lone));
	close(lone);
	assert_int_equal(serve_peer_user(-1, &user), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whose_a_connection_is),
		cmocka_unit_test(nobody_is_not_the_user),
		cmocka_unit_test(crowds),
		cmocka_unit_test(tokens_are_long_and_differ),
		cmocka_unit_test(only_the_token_opens),
		cmocka_unit_test(only_the_loopback_is_here),
		cmocka_unit_test(ssh_is_told_what_to_forward),
		cmocka_unit_test(arguments_are_not_trusted),
		cmocka_unit_test(what_is_read_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
