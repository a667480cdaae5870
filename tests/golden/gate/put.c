// SPDX-License-Identifier: MIT
/*
 * put.c: a store of services whose two versions differ by what is known.
 *
 *	put URL
 *
 * Each function's share is exact, samples are drawn by it, and hosts differ by a little. Of the
 * services same-N both versions are equal; in version 2 of slower-N the function "f" has 1.3 times
 * the share that it has in version 1. Half of them, N even, have four hosts; the others one, and
 * the spans of its time are what is repeated.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../window_profile.h"
#include "store/store.h"

#define BEGIN_NS 1790000000000000000ULL
#define SECOND 1000000000ULL
#define SERVICES 20u
#define HOSTS 4u
#define WINDOWS 16u
#define SAMPLES 300u
#define OTHERS 12u /* functions beside "f", of equal shares */
#define SHARE 0.2
#define FACTOR 1.3

static uint64_t seed = 16;

/* In [0, 1). */
static double chance(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(seed >> 11) / 9007199254740992.0;
}

static uint32_t call(struct profile *p, uint32_t from, const char *name)
{
	const struct profile_frame f = { .kind = PROFILE_USER, .symbol = profile_string(p, name) };

	return profile_node(p, from, profile_frame(p, &f));
}

/* A window in which a sample is in "f" by this chance. */
static struct profile *window(double share)
{
	struct profile *p = window_profile();

	for (unsigned i = 0; i < SAMPLES; i++) {
		struct profile_key key = window_key(p);
		char other[24];

		snprintf(other, sizeof(other), "other%u", (unsigned)(chance() * OTHERS));
		key.node = call(p, PROFILE_ROOT, "main");
		/* "f" is called by another, so that who counts callees counts it, too. */
		key.node = call(p, key.node, other);
		if (chance() < share)
			key.node = call(p, key.node, "f");
		profile_add(p, &key, 1, 100);
	}
	return p;
}

/* All windows of one version on one host, behind those of its other version. */
static void put(struct store *s, const char *service, unsigned host, unsigned version, double share)
{
	char instance[64], name[16];
	struct labels labels = { 0 };
	struct seam_error err = { 0 };

	snprintf(instance, sizeof(instance), "%s/%u/%u", service, host, version);
	snprintf(name, sizeof(name), "host%u", host);
	labels_set(&labels, "comm", "work");
	labels_set(&labels, "host", name);
	labels_set(&labels, "service", service);
	labels_set(&labels, "version", version == 1 ? "1" : "2");
	for (unsigned i = 0; i < WINDOWS; i++) {
		const uint64_t from = BEGIN_NS + ((version - 1) * WINDOWS + i) * 10 * SECOND;
		struct store_window w = { .instance = instance,
			                  .from_ns = from,
			                  .to_ns = from + 10 * SECOND,
			                  .profile = window(share),
			                  .series = &labels,
			                  .n_series = 1 };

		if (store_put(s, &w, &err) != 1) {
			printf("failed: %s\n", err.text);
			exit(1);
		}
		profile_free((struct profile *)w.profile);
	}
	labels_free(&labels);
}

int main(int argc, char **argv)
{
	struct seam_error err = { 0 };
	struct store *s;

	/* Only so many services of each kind, if that is said. */
	const unsigned most = argc == 3 ? (unsigned)atoi(argv[2]) : SERVICES;

	if (argc < 2 || store_open(&s, argv[1], STORE_WRITE, &err) < 0) {
		printf("failed: %s\n", err.text);
		return 1;
	}
	for (unsigned i = 0; i < 2 * SERVICES; i++) {
		const bool slower = i >= SERVICES;
		char service[24];

		if (i % SERVICES >= most)
			continue;
		snprintf(service, sizeof(service), "%s-%u", slower ? "slower" : "same",
		         i % SERVICES);
		for (unsigned host = 0; host < (i % 2 ? 1 : HOSTS); host++) {
			const double share = SHARE * (0.98 + 0.04 * chance());

			put(s, service, host, 1, share);
			put(s, service, host, 2, share * (slower ? FACTOR : 1));
		}
	}
	store_close(s);
	return 0;
}
