// SPDX-License-Identifier: MIT
/*
 * store_day.c: a simulated day of a machine in an SQLite store, as an agent would have put it; or
 * of a small fleet.
 *
 *	store_day FROM TO [CPUS [HOURS [NEW [HOSTS [SERVICES]]]]]
 *
 * FROM is a store with real stacks (seam store import), TO the store that is made, of a day that
 * ended now. A window is 10 s of 19 samples a second and CPU, with the comms, states and stacks of
 * the real samples as often as they are there. NEW of 100 of a window's stacks (65) were never seen
 * before, as seam record -a shows of mixed work: such a one leaves a real stack where that left the
 * others, and goes on from function to function as real stacks do, each next callee drawn from the
 * real callees of the same caller; it is drawn again until it is new. Of HOSTS, each has an equal
 * part of the samples (CPUS are those of all: 0.61 are a million rows a day), runs some of the
 * SERVICES, a few of which have most samples, and gets another version of each at a time of its
 * own. Says what it made, and how long putting took, in CPU time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "fleet/flat_frames.h"
#include "profile/profile.h"
#include "store/store.h"

#define SECOND 1000000000ULL
#define WINDOW_S 10u
#define HZ 19u
#define DEEP 400u
#define TRIES 60u

static uint64_t seed = 20261126;

static uint64_t rnd(uint64_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 20) % n;
}

/* Which nodes are called from a frame, each as often as it has samples. */
struct callees {
	uint32_t *nodes;
	uint64_t *until; /* sum of weights up to and with it */
	size_t n, capacity;
};

struct day {
	struct profile *real;
	uint64_t *until;         /* by row: sum of samples up to and with it */
	uint64_t *inside;        /* by node: samples in it and below */
	uint64_t *here;          /* by node: samples in it */
	struct callees *callees; /* by the frame of the caller; 0: outermost */
	struct map seen;         /* hashes of stacks that were put */
	uint64_t samples, rows, new_rows;
	unsigned hosts, services; /* 0: one machine, without services */
};

static void *need(void *p)
{
	if (p)
		return p;
	fprintf(stderr, "store_day: out of memory\n");
	exit(1);
}

static void read_real(struct day *d, const char *url)
{
	const struct store_query q = { .to_ns = UINT64_MAX };
	struct store_found found = { 0 };
	struct seam_error err = { 0 };
	struct store *s = NULL;
	uint64_t sum = 0;

	if (profile_new(&d->real, 0) < 0 || store_open(&s, url, STORE_READ, &err) < 0 ||
	    store_read(s, &q, d->real, &found, &err) < 0) {
		fprintf(stderr, "store_day: %s: %s\n", url, err.text);
		exit(1);
	}
	store_close(s);
	store_found_free(&found);
	d->until = need(calloc(profile_n_rows(d->real) + 1, sizeof(*d->until)));
	d->inside = need(calloc(profile_n_nodes(d->real) + 1, sizeof(*d->inside)));
	d->here = need(calloc(profile_n_nodes(d->real) + 1, sizeof(*d->here)));
	d->callees = need(calloc(profile_n_frames(d->real) + 1, sizeof(*d->callees)));
	for (size_t i = 0; i < profile_n_rows(d->real); i++) {
		const struct profile_row *row = profile_row_at(d->real, i);

		d->until[i] = sum += row->samples;
		d->inside[row->key.node] += row->samples;
		d->here[row->key.node] += row->samples;
	}
	for (uint32_t id = (uint32_t)profile_n_nodes(d->real); id; id--)
		d->inside[profile_node_at(d->real, id).parent] += d->inside[id];
	for (uint32_t id = 1; id <= profile_n_nodes(d->real); id++) {
		uint32_t parent = profile_node_at(d->real, id).parent;
		struct callees *c =
		        &d->callees[parent ? profile_node_at(d->real, parent).frame : 0];

		if (c->n == c->capacity) {
			c->capacity = c->capacity ? 2 * c->capacity : 4;
			c->nodes = need(realloc(c->nodes, c->capacity * sizeof(*c->nodes)));
			c->until = need(realloc(c->until, c->capacity * sizeof(*c->until)));
		}
		c->nodes[c->n] = id;
		c->until[c->n] = (c->n ? c->until[c->n - 1] : 0) + d->inside[id];
		c->n++;
	}
	printf("%zu real samples' stacks: %zu rows, %zu nodes, %zu frames\n", (size_t)sum,
	       profile_n_rows(d->real), profile_n_nodes(d->real), profile_n_frames(d->real));
}

static size_t pick(const uint64_t *until, size_t n)
{
	uint64_t at = rnd(until[n - 1]);
	size_t from = 0, to = n - 1;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (until[middle] > at)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

/* The path to a node, outermost first. */
static unsigned path_of(const struct profile *p, uint32_t node, uint32_t *frames)
{
	unsigned n = 0;

	for (uint32_t at = node; at && n < DEEP; at = profile_node_at(p, at).parent)
		n++;
	for (unsigned i = n; i--; node = profile_node_at(p, node).parent)
		frames[i] = profile_node_at(p, node).frame;
	return n;
}

/* A stack whose calls are all real: it starts as this one, goes another way from where this one
 * left the last that it shared calls with, or `up` calls further up, and is as deep. */
static unsigned vary(const struct day *d, uint32_t *frames, uint32_t leaf, unsigned depth,
                     unsigned up)
{
	unsigned keep = depth ? depth - 1 : 0, n;
	uint32_t node = leaf, frame;

	while (keep && d->inside[profile_node_at(d->real, node).parent] == d->here[leaf]) {
		node = profile_node_at(d->real, node).parent;
		keep--;
	}
	keep -= up < keep ? up : keep;
	frame = keep ? frames[keep - 1] : 0;
	for (n = keep; n < depth; n++) {
		const struct callees *c = &d->callees[frame];

		if (!c->n || !c->until[c->n - 1])
			break;
		node = c->nodes[pick(c->until, c->n)];
		frames[n] = frame = profile_node_at(d->real, node).frame;
	}
	return n;
}

/* The frames of one sample, some of them never put before. */
static unsigned sample(struct day *d, uint32_t node, unsigned new_of_100, uint32_t *frames)
{
	uint32_t real[DEEP];
	const unsigned n_real = path_of(d->real, node, real);
	const bool is_new = rnd(100) < new_of_100;
	unsigned n = n_real;
	uint64_t *slot;
	bool first;

	memcpy(frames, real, n * sizeof(*frames));
	for (unsigned i = 0; is_new && i < TRIES; i++) {
		memcpy(frames, real, n_real * sizeof(*frames));
		n = vary(d, frames, node, n_real, i / 3);
		if (!map_get(&d->seen, map_hash_bytes(frames, n * sizeof(*frames), 1), NULL))
			break;
	}
	slot = need(map_slot(&d->seen, map_hash_bytes(frames, n * sizeof(*frames), 1), &first));
	d->new_rows += first;
	*slot += 1;
	return n;
}

static uint32_t frame_in(struct profile *p, const struct profile *real, uint32_t id)
{
	struct profile_frame f = *profile_frame_at(real, id);
	const struct profile_object *o = f.object ? profile_object_at(real, f.object) : NULL;

	if (o)
		f.object = profile_object(p, profile_text(real, o->path),
		                          o->build_id ? profile_text(real, o->build_id) : NULL);
	f.symbol = f.symbol ? profile_string(p, profile_text(real, f.symbol)) : 0;
	f.file = f.file ? profile_string(p, profile_text(real, f.file)) : 0;
	return profile_frame(p, &f);
}

/* A sample's task: of a fleet, its process is the host and its thread the service. */
static uint32_t task_of(const struct day *d, struct profile *p, const char *comm)
{
	const uint32_t name = profile_string(p, comm);
	uint64_t slot[2];
	double of;

	if (!d->hosts)
		return profile_task(p, name, 0, 0);
	slot[0] = rnd(d->hosts);
	slot[1] = rnd(8);
	of = (double)(map_hash_bytes(slot, sizeof(slot), 3) % 100000) / 100000;
	return profile_task(p, name, (uint32_t)slot[0],
	                    (uint32_t)(of * of * of * (double)d->services));
}

/* The labels that only a fleet has. */
static void fleet_labels(const struct day *d, struct labels *labels, const struct profile_task *t,
                         uint64_t from_ns)
{
	const uint32_t at[] = { t->pid, t->tid };
	const uint64_t second = map_hash_bytes(at, sizeof(at), 5) % 86400;
	char text[40];

	if (!d->hosts)
		return;
	snprintf(text, sizeof(text), "host-%u", at[0]);
	labels_set(labels, "host", text);
	snprintf(text, sizeof(text), "service-%u", at[1]);
	labels_set(labels, "service", text);
	labels_set(labels, "version", from_ns / SECOND % 86400 > second ? "2.0" : "1.9");
}

/* One window. */
static double put(struct day *d, struct store *s, uint64_t from_ns, unsigned samples,
                  unsigned new_of_100)
{
	static const struct store_count counts[] = { { "lost", 0 },
		                                     { "agent.windows_at_hz.19", 1 },
		                                     { "agent.cpu_ns", 80000000 },
		                                     { "agent.window_ns", 10 * SECOND } };
	struct profile *p;
	struct labels *labels;
	uint32_t *of_row;
	struct store_window w = { .instance = "day",
		                  .from_ns = from_ns,
		                  .to_ns = from_ns + WINDOW_S * SECOND,
		                  .counts = counts,
		                  .n_counts = 4 };
	struct flat flat = { .says = flat_python_says, .frame = flat_frames_say };
	struct flat_frames frames_are = { .flat = &flat };
	struct seam_error err = { 0 };
	clock_t begin;

	if (profile_new(&p, d->hosts ? PROFILE_KEEP_PID | PROFILE_KEEP_TID : 0) < 0)
		exit(1);
	for (uint32_t i = 0; i < profile_n_states(d->real); i++)
		profile_set_state(p, i, profile_state_at(d->real, i));
	for (unsigned i = 0; i < samples; i++) {
		const struct profile_row *row =
		        profile_row_at(d->real, pick(d->until, profile_n_rows(d->real)));
		const char *comm =
		        profile_text(d->real, profile_task_at(d->real, row->key.task)->comm);
		struct profile_key key = row->key;
		uint32_t frames[DEEP];
		unsigned n = sample(d, row->key.node, new_of_100, frames);

		key.event = profile_event_in(p, profile_event_name(d->real, row->key.event),
		                             profile_event_unit(d->real, row->key.event));
		key.task = task_of(d, p, comm);
		key.node = PROFILE_ROOT;
		for (unsigned j = 0; j < n; j++)
			key.node = profile_node(p, key.node, frame_in(p, d->real, frames[j]));
		profile_add(p, &key, 1, SECOND / HZ);
	}
	d->samples += samples;
	d->rows += profile_n_rows(p);
	/* A series for each comm, with the labels that an agent finds. */
	labels = need(calloc(profile_n_tasks(p) + 1, sizeof(*labels)));
	of_row = need(calloc(profile_n_rows(p) + 1, sizeof(*of_row)));
	for (size_t i = 0; i < profile_n_tasks(p); i++) {
		const char *comm = profile_text(p, profile_task_at(p, (uint32_t)i + 1)->comm);
		char build_id[41];

		snprintf(build_id, sizeof(build_id), "%040" PRIx64,
		         map_hash_bytes(comm, strlen(comm), 7));
		labels_set(&labels[i], "host", "here");
		labels_set(&labels[i], "kernel", "6.12.0-1-amd64");
		labels_set(&labels[i], "comm", comm);
		labels_set(&labels[i], "exe", comm);
		labels_set(&labels[i], "build_id", build_id);
		labels_set(&labels[i], "unit", comm[0] < 'm' ? "user.slice" : "system.slice");
		fleet_labels(d, &labels[i], profile_task_at(p, (uint32_t)i + 1), from_ns);
	}
	for (size_t i = 0; i < profile_n_rows(p); i++)
		of_row[i] = profile_row_at(p, i)->key.task - 1;
	flat.ctx = &frames_are;
	w.flat = &flat;
	w.profile = p;
	w.series = labels;
	w.n_series = profile_n_tasks(p);
	w.row_series = of_row;
	begin = clock();
	if (store_put(s, &w, &err) < 0) {
		fprintf(stderr, "store_day: %s\n", err.text);
		exit(1);
	}
	for (size_t i = 0; i < profile_n_tasks(p); i++)
		labels_free(&labels[i]);
	flat_frames_free(&frames_are);
	free(labels);
	free(of_row);
	profile_free(p);
	return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
	struct seam_error err = { 0 };
	struct day d = { 0 };
	struct store *s = NULL;
	const double cpus = argc > 3 ? atof(argv[3]) : 2;
	unsigned hours = argc > 4 ? (unsigned)atoi(argv[4]) : 24;
	unsigned new_of_100 = argc > 5 ? (unsigned)atoi(argv[5]) : 65,
	         windows = hours * 3600 / WINDOW_S;
	uint64_t end_ns = (uint64_t)time(NULL) / 3600 * 3600 * SECOND;
	double took = 0;

	if (argc < 3)
		return 2;
	d.hosts = argc > 6 ? (unsigned)atoi(argv[6]) : 0;
	d.services = argc > 7 ? (unsigned)atoi(argv[7]) : 200;
	read_real(&d, argv[1]);
	if (store_open(&s, argv[2], STORE_AGENT, &err) < 0) {
		fprintf(stderr, "store_day: %s\n", err.text);
		return 1;
	}
	for (unsigned i = 0; i < windows; i++)
		took += put(&d, s, end_ns - (uint64_t)(windows - i) * WINDOW_S * SECOND,
		            (unsigned)(HZ * cpus * WINDOW_S), new_of_100);
	store_close(s);
	printf("%u windows, %" PRIu64 " samples, %" PRIu64
	       " rows, %zu stacks; %.0f of 100 rows had a stack that was not there before; "
	       "put in %.1f s of CPU time\n",
	       windows, d.samples, d.rows, d.seen.n, 100.0 * (double)d.new_rows / (double)d.rows,
	       took);
	return 0;
}
