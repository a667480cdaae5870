// SPDX-License-Identifier: MIT
/*
 * put.c: puts windows into a store as an agent would: put URL FIRST N ROWS MS. Window number i,
 * from FIRST on, has i + 1 samples in each of ROWS stacks. Each one that is safe is said: "put i";
 * what the store says of itself: "news: ...". MS are between two windows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../window_profile.h"
#include "store/store.h"

#define BEGIN_NS 1790000000000000000ULL
#define SECOND 1000000000ULL

static void wait_ms(unsigned ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static struct profile *profile_of(unsigned i, unsigned rows)
{
	struct profile *p = window_profile();

	for (unsigned row = 0; row < rows; row++) {
		struct profile_key key = window_key(p);
		char name[80];

		for (int depth = 0; depth < 4; depth++) {
			struct profile_frame f = { .kind = PROFILE_USER };

			/* Names that do not pack well: the spool is to be filled. */
			snprintf(name, sizeof(name), "f%d_%08x%08x", depth,
			         (i * 40503u + row) * 2654435761u, (i + row * 977u) * 2246822519u);
			f.symbol = profile_string(p, depth ? name : "main");
			key.node = profile_node(p, key.node, profile_frame(p, &f));
		}
		profile_add(p, &key, i + 1, (i + 1) * 10);
	}
	return p;
}

static void say_news(struct store *s)
{
	char news[700];

	if (store_news(s, news, sizeof(news)))
		printf("news: %s\n", news);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct seam_error err = { 0 };
	struct labels labels = { 0 };
	struct store *s;

	if (argc != 6)
		return 2;
	if (store_open(&s, argv[1], STORE_AGENT, &err) < 0) {
		printf("failed: %s\n", err.text);
		return 1;
	}
	labels_set(&labels, "service", "spooled");
	labels_set(&labels, "comm", "work");
	labels_set(&labels, "host", "here");
	for (unsigned i = (unsigned)atoi(argv[2]), n = i + (unsigned)atoi(argv[3]); i < n; i++) {
		struct store_window w = { .instance = "put",
			                  .from_ns = BEGIN_NS + i * SECOND,
			                  .to_ns = BEGIN_NS + (i + 1) * SECOND,
			                  .series = &labels,
			                  .n_series = 1 };
		struct profile *p = profile_of(i, (unsigned)atoi(argv[4]));

		w.profile = p;
		if (store_put(s, &w, &err) < 0)
			printf("failed: %s\n", err.text);
		else
			printf("put %u\n", i);
		say_news(s);
		profile_free(p);
		wait_ms((unsigned)atoi(argv[5]));
	}
	say_news(s);
	labels_free(&labels);
	store_close(s);
	return 0;
}
