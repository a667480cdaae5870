// SPDX-License-Identifier: MIT
// Unit tests of samples/, resolve/ and aggregate/: recordings made by bench/scenario, whose truth
// is known, through the writer and the reader into a profile: every state and every user frame must
// be the true one, however many threads there are and whether the records' bytes last or not; and
// the rules of walking frames.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <seam/reader.h>
#include <seam/writer.h>

#include "../../bench/scenario.h"
#include "base/map.h"
#include "aggregate/load.h"
#include "aggregate/load_cut.h"
#include "samples/samples.h"
#include "resolve/resolver.h"
#include "samples/stacks.h"

/* Where the addresses of the scenario's deferred records begin. */
#define ANSWERS 0x550000000000ULL

static struct scenario_opts machine(uint64_t seed)
{
	return (struct scenario_opts){ .seed = seed,
		                       .tasks = 12,
		                       .cpus = 3,
		                       .frames = 12,
		                       .at_once = 500,
		                       .kernel_only = 800,
		                       .user_mode = 2000,
		                       .again = 4000,
		                       .late = 500,
		                       .lost = 200,
		                       .exec = 200,
		                       .exit = 100,
		                       .twin_sample = 100,
		                       .twin_deferred = 100,
		                       .migrate = 500 };
}

/* Runs the machine into a file until it has n samples; in the order in which things happened. */
static struct scenario *write_recording(const char *path, uint64_t seed, uint32_t n, int compress)
{
	struct scenario_opts opts = machine(seed);
	struct seam_writer_opts how = { .sz = sizeof(how), .compress_level = compress };
	struct scenario_record records[SCENARIO_STEP];
	struct seam_error err = { 0 };
	struct seam_writer *writer;
	struct buf bytes = { 0 };
	struct scenario *sc;
	size_t described;

	assert_int_equal(scenario_new(&sc, &opts), 0);
	assert_int_equal(seam_writer_open(&writer, path, scenario_events(sc), &how, &err), 0);
	while (scenario_samples(sc) < n) {
		described = 0;
		buf_clear(&bytes);
		assert_int_equal(scenario_step(sc, &bytes, records, &described), 0);
		assert_int_equal(seam_writer_write(writer, bytes.bytes, bytes.n, &err), 0);
	}
	scenario_end(sc);
	assert_int_equal(seam_writer_close(writer, &err), 0);
	buf_free(&bytes);
	return sc;
}

struct loaded {
	struct seam_reader *reader;
	struct recording *rec;
	struct load load;
};

static struct loaded load(const char *path, const struct load_opts *opts)
{
	struct seam_error err = { 0 };
	struct loaded l = { 0 };

	assert_int_equal(seam_reader_open(&l.reader, path, NULL, &err), 0);
	assert_int_equal(recording_open(&l.rec, l.reader, NULL, &err), 0);
	assert_int_equal(load_recording(&l.load, l.rec, opts, &err), 0);
	return l;
}

static void unload(struct loaded *l)
{
	load_free(&l->load);
	recording_close(l->rec);
	seam_reader_close(l->reader);
}

static char *temporary(void)
{
	static char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/seam-aggregate-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	return path;
}

/* Samples by state, and the user frames of all of them, summed up from the truth. */
static void truth_of(const struct scenario *sc, uint64_t *states, uint64_t *frames)
{
	*frames = 0;
	memset(states, 0, sizeof(uint64_t) * SEAM_STITCH_STATES);
	for (uint32_t i = 0; i < scenario_samples(sc); i++) {
		const struct scenario_truth *t = scenario_truth(sc, i);

		states[t->state]++;
		for (uint32_t f = 0; t->chain && f < scenario_frames(sc, t->chain); f++)
			*frames += map_mix(scenario_frame(t->chain, f));
	}
}

static uint32_t kind_at(const struct profile *p, uint32_t node)
{
	return node == PROFILE_ROOT ? PROFILE_KINDS
	                            : profile_frame_at(p, profile_node_at(p, node).frame)->kind;
}

/* Is the frame at a node the one that says why the rest is missing? It is the outermost, and only
 * where the row's state says that a part is. */
static bool is_missing(const struct profile *p, const struct profile_row *row, uint32_t node)
{
	bool outermost = profile_node_at(p, node).parent == PROFILE_ROOT;

	assert_int_equal(outermost && profile_state_at(p, row->key.state)->unfinished,
	                 kind_at(p, node) == PROFILE_MISSING);
	return kind_at(p, node) == PROFILE_MISSING;
}

static void assert_true_profile(const struct load *l, const struct scenario *sc)
{
	uint64_t states[SEAM_STITCH_STATES], frames, found = 0, lone = 0, apart = 0;
	struct profile_account account;

	truth_of(sc, states, &frames);
	profile_account(l->profile, 0, &account);
	assert_int_equal(account.samples, scenario_samples(sc));
	for (size_t s = 0; s < SEAM_STITCH_STATES; s++)
		assert_int_equal(account.state[s], states[s]);
	/* No mappings were recorded: user frames are unknown ones with their raw address. */
	for (size_t i = 0; i < profile_n_rows(l->profile); i++) {
		const struct profile_row *row = profile_row_at(l->profile, i);
		uint32_t node = row->key.node, node_above, above;

		for (; node != PROFILE_ROOT; node = profile_node_at(l->profile, node).parent) {
			const struct profile_frame *f =
			        profile_frame_at(l->profile,
			                         profile_node_at(l->profile, node).frame);

			assert_true(f->address < SEAM_CONTEXT_MAX);
			if (is_missing(l->profile, row, node) || f->kind == PROFILE_KERNEL)
				continue;
			if (f->address >= ANSWERS) {
				found += row->samples * map_mix(f->address);
			} else if (row->key.state != SEAM_STITCH_IMMEDIATE) {
				/* Hit user mode: where it hit is known, and is below all of its
				 * answer, if there was one. */
				assert_int_equal(node, row->key.node);
				node_above = profile_node_at(l->profile, node).parent;
				above = kind_at(l->profile, node_above);
				lone += above == PROFILE_KINDS || above == PROFILE_MISSING;
				apart += above != PROFILE_KINDS && above != PROFILE_MISSING;
			}
		}
	}
	assert_int_equal(found, frames);
	assert_true(lone > 0 && apart > 0);
}

static void every_state_and_frame_is_true(void **state)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		char *path = temporary();
		struct scenario *sc = write_recording(path, seed, 20000, 0);
		uint64_t rows = 0;

		for (unsigned threads = 1; threads <= 4; threads += 3) {
			struct load_opts opts = { .sz = sizeof(opts), .threads = threads };
			struct loaded l = load(path, &opts);

			assert_true(l.rec->stable);
			assert_true_profile(&l.load, sc);
			assert_int_equal(l.load.stitch.duplicate_samples,
			                 scenario_counts(sc)->duplicate_samples);
			assert_int_equal(l.load.taken, scenario_samples(sc));
			if (rows)
				assert_int_equal(profile_n_rows(l.load.profile), rows);
			rows = profile_n_rows(l.load.profile);
			unload(&l);
		}
		scenario_free(sc);
		unlink(path);
	}
}

static void compressed_is_the_same(void **state)
{
	char *path = temporary();
	struct scenario *sc = write_recording(path, 9, 20000, 3);
	struct load_opts opts = { .sz = sizeof(opts) };
	struct loaded l = load(path, &opts);

	assert_true_profile(&l.load, sc);
	/* The way of bytes that do not last: the file is read a second time, halves are copied. */
	load_free(&l.load);
	l.rec->stable = false;
	assert_int_equal(load_recording(&l.load, l.rec, &opts, NULL), 0);
	assert_true_profile(&l.load, sc);
	unload(&l);
	scenario_free(sc);
	unlink(path);
}

static void assert_equal_text(const struct profile *a, uint32_t in_a, const struct profile *b,
                              uint32_t in_b)
{
	assert_string_equal(profile_text(a, in_a), profile_text(b, in_b));
}

/* All that two profiles say of rows, stacks and samples. */
static void assert_equal_profiles(const struct profile *a, const struct profile *b)
{
	assert_int_equal(profile_n_rows(a), profile_n_rows(b));
	assert_int_equal(profile_n_nodes(a), profile_n_nodes(b));
	assert_int_equal(profile_n_samples(a), profile_n_samples(b));
	for (size_t i = 0; i < profile_n_rows(a); i++) {
		const struct profile_row *row = profile_row_at(a, i), *other = profile_row_at(b, i);
		const struct profile_task *task = profile_task_at(a, row->key.task);
		const struct profile_task *of_other = profile_task_at(b, other->key.task);

		assert_memory_equal(&row->key, &other->key, sizeof(row->key));
		assert_int_equal(row->samples, other->samples);
		assert_int_equal(row->weight, other->weight);
		assert_equal_text(a, task->comm, b, of_other->comm);
		assert_int_equal(task->pid, of_other->pid);
		assert_int_equal(task->tid, of_other->tid);
	}
	for (uint32_t i = 1; i <= profile_n_nodes(a); i++) {
		struct profile_node node = profile_node_at(a, i);
		const struct profile_frame *f = profile_frame_at(a, node.frame);

		assert_int_equal(node.parent, profile_node_at(b, i).parent);
		assert_int_equal(node.frame, profile_node_at(b, i).frame);
		assert_int_equal(f->address, profile_frame_at(b, node.frame)->address);
		assert_int_equal(f->kind, profile_frame_at(b, node.frame)->kind);
	}
	for (size_t i = 0; i < profile_n_samples(a); i++) {
		const struct profile_sample *x = profile_sample_at(a, i),
		                            *y = profile_sample_at(b, i);

		assert_memory_equal(profile_key_of(a, x), profile_key_of(b, y),
		                    sizeof(struct profile_key));
		assert_int_equal(x->time_ns, y->time_ns);
		assert_int_equal(x->weight, y->weight);
	}
}

static bool takes_all(void *ctx, const struct seam_event *event, const struct seam_id *id,
                      const char *comm)
{
	++*(atomic_uint *)ctx;
	return true;
}

/* A filter that drops nothing says what none says, and is asked for few samples. The same recording
 * is counted as often as one likes, by one thread or by several. */
static void filter_and_threads_change_nothing(void **state)
{
	static const unsigned keep[] = { 0, PROFILE_KEEP_PID | PROFILE_KEEP_TID | PROFILE_KEEP_CPU,
		                         PROFILE_KEEP_SLICE | PROFILE_KEEP_SAMPLES };
	const struct proc_span always = { 0, UINT64_MAX };

	for (uint64_t seed = 20; seed < 26; seed++) {
		char *path = temporary();
		struct scenario *sc = write_recording(path, seed, 20000, seed % 2 ? 3 : 0);
		struct load_opts opts = { .sz = sizeof(opts),
			                  .keep = keep[seed % 3],
			                  .slice_ns = 1000000 };
		struct loaded plain = load(path, &opts), filtered;
		atomic_uint asked = 0;
		struct profile *a, *b;

		assert_true_profile(&plain.load, sc);
		opts.filter = (struct samples_filter){
			.takes = takes_all, .ctx = &asked, .times = &always, .n_times = 1
		};
		opts.threads = seed % 4 + 1;
		filtered = load(path, &opts);
		assert_in_range(asked, 1, 20000);
		assert_int_equal(profile_canonical(&a, plain.load.profile), 0);
		assert_int_equal(profile_canonical(&b, filtered.load.profile), 0);
		assert_equal_profiles(a, b);
		assert_memory_equal(&plain.load.stitch, &filtered.load.stitch,
		                    sizeof(plain.load.stitch));
		assert_int_equal(plain.load.taken, filtered.load.taken);
		assert_int_equal(filtered.load.not_taken, 0);
		profile_free(a);
		profile_free(b);
		load_free(&plain.load);
		assert_int_equal(load_recording(&plain.load, plain.rec, &opts, NULL), 0);
		assert_true_profile(&plain.load, sc);
		unload(&filtered);
		unload(&plain);
		scenario_free(sc);
		unlink(path);
	}
}

/* With few rows to be kept, slices become longer, and the profile is what it is with slices that
 * are as long from the beginning. Stacks, which hardly repeat in these recordings, are left out. */
static void slices_become_longer(void **state)
{
	for (unsigned threads = 1; threads <= 3; threads++) {
		char *path = temporary();
		struct scenario *sc = write_recording(path, 30 + threads, 20000, 0);
		struct load_opts opts = { .sz = sizeof(opts),
			                  .frames = LOAD_FRAMES_NONE,
			                  .keep = PROFILE_KEEP_SLICE | PROFILE_KEEP_TID,
			                  .slice_ns = 1000,
			                  .threads = threads };
		struct loaded all = load(path, &opts), fitted, longer;
		struct profile *a, *b;

		opts.rows_most = profile_n_rows(all.load.profile) / 2;
		fitted = load(path, &opts);
		assert_in_range(profile_n_rows(fitted.load.profile), 2, opts.rows_most);
		opts.rows_most = 0;
		opts.slice_ns = profile_slices(fitted.load.profile)->quantum_ns;
		assert_in_range(opts.slice_ns, 2000, UINT64_MAX);
		longer = load(path, &opts);
		assert_int_equal(profile_slices(fitted.load.profile)->first,
		                 profile_slices(longer.load.profile)->first);
		assert_int_equal(profile_canonical(&a, fitted.load.profile), 0);
		assert_int_equal(profile_canonical(&b, longer.load.profile), 0);
		assert_equal_profiles(a, b);
		profile_free(a);
		profile_free(b);
		unload(&longer);
		unload(&fitted);
		unload(&all);
		scenario_free(sc);
		unlink(path);
	}
}

/* Where stacks alone are more rows than are to be kept, all are there, in one slice. */
static void one_slice_at_the_least(void **state)
{
	char *path = temporary();
	struct scenario *sc = write_recording(path, 40, 20000, 0);
	struct load_opts opts = {
		.sz = sizeof(opts), .keep = PROFILE_KEEP_SLICE, .slice_ns = 1000, .rows_most = 4
	};
	struct loaded loaded = load(path, &opts);
	uint32_t slice;

	assert_true_profile(&loaded.load, sc);
	for (size_t i = 0; i < profile_n_rows(loaded.load.profile); i++) {
		slice = profile_row_at(loaded.load.profile, i)->key.slice;
		assert_true(!slice || slice == PROFILE_NOT_KEPT);
	}
	unload(&loaded);
	scenario_free(sc);
	unlink(path);
}

struct in_order {
	uint64_t last_ns, samples, deferred, others;
	uint64_t states[SEAM_STITCH_STATES], frames;
};

static int count_sample(void *ctx, const struct sample *sample, struct buf *out)
{
	const struct seam_u64s user = sample_user(sample);
	struct in_order *o = ctx;

	assert_true(sample->id.time_ns >= o->last_ns);
	o->last_ns = sample->id.time_ns;
	o->samples++;
	o->states[sample->state]++;
	for (uint64_t i = 0; i < user.n; i++) {
		uint64_t addr = seam_u64s_at(&user, i);

		o->frames += addr >= ANSWERS ? map_mix(addr) : 0;
	}
	return 0;
}

static int count_beside(void *ctx, const struct seam_decoded *d, struct buf *out)
{
	struct in_order *o = ctx;

	assert_true(d->id.time_ns >= o->last_ns);
	o->last_ns = d->id.time_ns;
	if (d->record->type == SEAM_RECORD_CALLCHAIN_DEFERRED)
		o->deferred++;
	else
		o->others++;
	return 0;
}

/* ---- bytes made in threads ---- */

struct text_threads {
	struct in_order_text {
		struct text_threads *all;
	} thread[SAMPLES_THREADS_MAX];
	unsigned n;
	uint64_t last_ns, items, hash;
};

static int text_start(void *ctx, void **ret)
{
	struct text_threads *t = ctx;

	t->thread[t->n].all = t;
	*ret = &t->thread[t->n++];
	return 0;
}

static int text_sample(void *thread, const struct sample *sample, struct buf *out)
{
	const struct callchain chain = sample_callchain(sample);
	uint64_t words[4] = { sample->id.time_ns, sample->index, chain.ip, 0 };

	for (uint64_t i = 0; i < chain.kernel.n; i++)
		words[3] = map_mix(words[3] + seam_u64s_at(&chain.kernel, i));
	for (uint64_t i = 0; i < chain.user.n; i++)
		words[3] = map_mix(words[3] ^ seam_u64s_at(&chain.user, i));
	return buf_put(out, words, sizeof(words));
}

/* Where the record is decoded it says what the index says. */
static int text_decoded(void *thread, const struct sample *sample, struct buf *out)
{
	const struct seam_sample *s = &sample->decoded->sample;
	const struct callchain chain = sample_callchain(sample);

	assert_int_equal(s->period, sample->period);
	assert_int_equal(s->ip, chain.ip);
	assert_int_equal(s->id.time_ns, sample->id.time_ns);
	assert_int_equal(s->id.tid, sample->id.tid);
	assert_ptr_equal(s->event, sample->event);
	assert_int_equal(sample->decoded->record->index, sample->index);
	assert_int_equal(sample->decoded->record->misc, sample->misc);
	return text_sample(thread, sample, out);
}

static int text_write(void *ctx, const struct buf *out)
{
	struct text_threads *t = ctx;

	assert_int_equal(out->n % 32, 0);
	for (size_t at = 0; at < out->n; at += 32) {
		uint64_t words[4];

		memcpy(words, out->bytes + at, sizeof(words));
		assert_true(words[0] >= t->last_ns);
		t->last_ns = words[0];
		t->hash = map_hash_bytes(words, sizeof(words), t->hash);
		t->items++;
	}
	return 0;
}

static int text_full(void *ctx, const struct buf *out)
{
	return ++((struct text_threads *)ctx)->items > 3 ? -ENOSPC : 0;
}

static void threads_write_the_same(void **state)
{
	char *path = temporary();
	struct scenario *sc = write_recording(path, 11, 30000, 0);
	struct load_opts load_opts = { .sz = sizeof(load_opts) };
	struct loaded l = load(path, &load_opts);
	struct text_threads first = { 0 };

	for (unsigned round = 0; round < 4; round++) {
		struct text_threads t = { 0 };
		struct samples_opts opts = { .sz = sizeof(opts),
			                     .order = SAMPLES_BY_TIME,
			                     .needs = round % 2 ? SAMPLES_RECORD : 0,
			                     .threads = (const unsigned[]){ 1, 2, 7, 3 }[round] };
		struct samples_consumer writer = { .start = text_start,
			                           .sample = round % 2 ? text_decoded : text_sample,
			                           .write = text_write,
			                           .ctx = &t };

		l.rec->stable = round < 3; /* bytes that do not last are copied, by one thread */
		assert_int_equal(samples_each(l.rec, &opts, &writer, NULL), 0);
		assert_int_equal(t.n, l.rec->stable ? opts.threads : 1);
		if (!round)
			first = t;
		assert_int_equal(t.items, first.items);
		assert_int_equal(t.hash, first.hash);
		t.items = 0;
		writer.write = text_full;
		t.n = 0;
		assert_int_equal(samples_each(l.rec, &opts, &writer, NULL), -ENOSPC);
	}
	assert_int_equal(first.items, l.load.stitch.samples);
	unload(&l);
	scenario_free(sc);
	unlink(path);
}

static void ordered_gives_all_in_order(void **state)
{
	char *path = temporary();
	struct scenario *sc = write_recording(path, 10, 20000, 0);
	struct load_opts load_opts = { .sz = sizeof(load_opts) };
	uint64_t states[SEAM_STITCH_STATES], frames;
	struct loaded l = load(path, &load_opts);
	struct in_order o = { 0 };
	struct samples_opts opts = { .sz = sizeof(opts), .order = SAMPLES_BY_TIME };
	const struct samples_consumer consumer = { .sample = count_sample,
		                                   .beside = count_beside,
		                                   .ctx = &o };

	truth_of(sc, states, &frames);
	assert_int_equal(samples_each(l.rec, &opts, &consumer, NULL), 0);
	assert_int_equal(o.samples, scenario_samples(sc));
	assert_int_equal(o.deferred + o.others, 0);
	assert_memory_equal(o.states, states, sizeof(states));
	assert_int_equal(o.frames, frames);
	o = (struct in_order){ 0 };
	opts.beside = SAMPLES_BESIDE_DEFERRED | SAMPLES_BESIDE_TASKS;
	assert_int_equal(samples_each(l.rec, &opts, &consumer, NULL), 0);
	assert_int_equal(o.samples, scenario_samples(sc));
	assert_int_equal(o.deferred, l.rec->counts.type[SEAM_RECORD_CALLCHAIN_DEFERRED]);
	assert_int_equal(o.others, l.rec->counts.type[SEAM_RECORD_COMM] +
	                                   l.rec->counts.type[SEAM_RECORD_FORK] +
	                                   l.rec->counts.type[SEAM_RECORD_EXIT]);
	assert_true(o.others > 0);
	unload(&l);
	scenario_free(sc);
	unlink(path);
}

static bool take_cpu_1(void *ctx, const struct seam_event *event, const struct seam_id *id,
                       const char *comm)
{
	return id->cpu == 1;
}

static void take_and_max_stack(void **state)
{
	char *path = temporary();
	struct scenario *sc = write_recording(path, 11, 5000, 0);
	struct load_opts opts = { .sz = sizeof(opts),
		                  .filter.takes = take_cpu_1,
		                  .max_stack = 2,
		                  .keep = PROFILE_KEEP_CPU };
	struct loaded l = load(path, &opts);

	assert_true(l.load.taken > 0 && l.load.not_taken > 0);
	assert_int_equal(l.load.taken + l.load.not_taken, scenario_samples(sc));
	for (size_t i = 0; i < profile_n_rows(l.load.profile); i++) {
		const struct profile_row *row = profile_row_at(l.load.profile, i);
		uint32_t node = row->key.node;
		int depth = 0;

		assert_int_equal(row->key.cpu, 1);
		for (; node != PROFILE_ROOT; node = profile_node_at(l.load.profile, node).parent)
			depth += !is_missing(l.load.profile, row, node);
		assert_true(depth <= 2);
	}
	unload(&l);
	scenario_free(sc);
	unlink(path);
}

/* ---- the walk over one sample ---- */

static struct seam_u64s words(const uint64_t *w, uint64_t n)
{
	return (struct seam_u64s){ .bytes = (const unsigned char *)w, .n = n };
}

static void walk_minds_markers_and_callers(void **state)
{
	static const uint64_t kernel[] = {
		SEAM_CONTEXT_KERNEL, 10, 11, SEAM_CONTEXT_GUEST_KERNEL, 20, SEAM_CONTEXT_KERNEL, 12
	};
	static const uint64_t user[] = { 30, 31 };
	static const struct frame_at expected[] = {
		{ .addr = 10 },
		{ .addr = 11, .caller = true },
		{ .addr = 20, .guest = true },
		{ .addr = 12 },
		{ .addr = 30, .user = true },
		{ .addr = 31, .user = true, .caller = true },
	};
	struct callchain s = { .kernel = words(kernel, 7), .user = words(user, 2) };
	struct frame_walk walk = { 0 };
	struct frame_at at;
	size_t n = 0;

	while (frame_walk_next(&walk, &s, &at)) {
		assert_in_range(n, 0, 5);
		assert_int_equal(at.addr, expected[n].addr);
		assert_int_equal(at.user, expected[n].user);
		assert_int_equal(at.caller, expected[n].caller);
		assert_int_equal(at.guest, expected[n].guest);
		n++;
	}
	assert_int_equal(n, 6);
	assert_false(frame_walk_next(&walk, &s, &at));
}

static void walk_without_a_chain_gives_the_ip(void **state)
{
	struct seam_event event = { .attr = { .sample_type = SEAM_SAMPLE_IP } };
	struct callchain s = { .ip = 77, .event = &event, .misc = SEAM_MISC_USER };
	struct frame_walk walk = { 0 };
	struct frame_at at;

	assert_true(frame_walk_next(&walk, &s, &at));
	assert_int_equal(at.addr, 77);
	assert_true(at.user && !at.caller && !at.guest);
	assert_false(frame_walk_next(&walk, &s, &at));
	event.attr.sample_type = 0; /* nothing at all is known */
	walk = (struct frame_walk){ 0 };
	assert_false(frame_walk_next(&walk, &s, &at));
}

static void stacks_share_only_what_is_equal(void **state)
{
	static const uint64_t a[] = { 1, 2, 3 }, b[] = { 1, 2, 4 };
	struct seam_event event = { .attr = { .sample_type = SEAM_SAMPLE_IP } };
	struct callchain s = { .event = &event, .misc = SEAM_MISC_USER, .user = words(a, 3) };
	struct stacks_key key = { .event = 1 };
	struct callchain copy;
	struct seam_events *events;
	struct stacks t = { 0 };

	assert_int_equal(seam_events_new(&events), 0);

	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_COPY, 0), 0);
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_COPY, 1), 0);
	assert_int_equal(stacks_settle(&t), 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.entries[0].samples, 2);
	assert_int_equal(t.entries[0].weight, 10);
	copy = stacks_callchain(&t, &t.entries[0], events);
	assert_int_equal(copy.user.n, 3);
	assert_ptr_not_equal(copy.user.bytes, a);
	assert_memory_equal(copy.user.bytes, a, sizeof(a));
	s.user = words(b, 3);
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_COPY, 0), 0);
	s.user = words(a, 2);
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_COPY, 0), 0);
	s.kernel = words(a, 2); /* the same words in the other half */
	s.user = words(a, 0);
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_COPY, 0), 0);
	key.user_space = 1;
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_COPY, 0), 0);
	assert_int_equal(stacks_settle(&t), 0);
	assert_int_equal(t.n, 5);
	s.user.n = s.kernel.n = 0; /* without any chain the ip tells them apart */
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_COPY, 0), 0);
	s.ip = 9;
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_COPY, 0), 0);
	assert_int_equal(stacks_settle(&t), 0);
	assert_int_equal(t.n, 7);
	s.user = words(a, 3); /* the same bytes are other words in the other byte order */
	s.user.swap = true;
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_LASTING, 0), 0);
	assert_int_equal(stacks_settle(&t), 0);
	assert_int_equal(t.n, 8);
	copy = stacks_callchain(&t, &t.entries[7], events);
	assert_true(copy.user.swap);
	assert_ptr_equal(copy.user.bytes, a); /* they last */
	s.user.swap = false; /* one chain, which begins where it hit, and elsewhere in two modes */
	s.ip = a[0];
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_LASTING, 0), 0);
	s.ip = a[0] + 1;
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_LASTING, 0), 0);
	s.misc = SEAM_MISC_KERNEL;
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_LASTING, 0), 0);
	s.misc |= SEAM_MISC_EXACT_IP; /* which tells nothing apart */
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_LASTING, 0), 0);
	assert_int_equal(stacks_settle(&t), 0);
	assert_int_equal(t.n, 11);
	copy = stacks_callchain(&t, &t.entries[8], events);
	assert_int_equal(copy.ip, 0);
	copy = stacks_callchain(&t, &t.entries[10], events);
	assert_int_equal(copy.ip, a[0] + 1);
	assert_int_equal(copy.misc, SEAM_MISC_KERNEL);
	key.end = SAMPLE_END_STACK + STACK_END_FAULT; /* one that is whole, and one that is not */
	assert_int_equal(stacks_add(&t, &key, &s, 5, INTERN_LASTING, 0), 0);
	assert_int_equal(stacks_settle(&t), 0);
	assert_int_equal(t.n, 12);
	stacks_free(&t);
	seam_events_free(events);
}

/* The root's text of a stack whose outermost function has this name, in n frames; NULL: it has
 * none. */
static const char *root_text(struct profile *p, struct load_cut *c, const char *name, size_t n,
                             sample_end end, bool in_data)
{
	uint32_t outermost, root;
	struct profile_frame f = { .kind = PROFILE_USER };

	f.symbol = name ? profile_string(p, name) : 0;
	outermost = profile_frame(p, &f);
	root = load_cut_end(c, p, end, in_data, outermost, n);
	assert_int_not_equal(root, PROFILE_FAILED);
	assert_int_equal(load_cut_ended(p, root), root != PROFILE_ROOT);
	if (root == PROFILE_ROOT)
		return NULL;
	return profile_text(p, profile_frame_at(p, profile_node_at(p, root).frame)->symbol);
}

static void what_ended_early_has_a_root(void **state)
{
	const sample_end cut = SAMPLE_END_WALK + WALK_TRUNCATED;
	struct load_cut c = { 0 };
	struct profile *p;

	assert_int_equal(profile_new(&p, 0), 0);
	assert_string_equal(root_text(p, &c, "work", 2, cut, false),
	                    "[unfinished: the stack copy ended]");
	assert_string_equal(root_text(p, &c, NULL, 2, SAMPLE_END_STACK + STACK_END_NO_RULE, false),
	                    "[unfinished: code that its unwind information leaves out]");
	assert_null(root_text(p, &c, "work", 2, 0, false));
	/* __libc_start_call_main has callers, which are missing. _start has none, however its walk
	 * ended; clone has one where it is called, and none where a thread began. */
	assert_non_null(root_text(p, &c, "__libc_start_call_main", 2, cut, false));
	assert_null(root_text(p, &c, "_start", 2, cut, false));
	assert_null(root_text(p, &c, "?clone3", 2, cut, false));
	assert_non_null(root_text(p, &c, "clone3", 1, cut, false));
	/* Data behind a function that nobody knows may be data behind the first one. */
	assert_string_equal(root_text(p, &c, "work", 2, 0, true),
	                    "[unfinished: followed into data]");
	assert_null(root_text(p, &c, "__libc_start_call_main", 2, 0, true));
	assert_null(root_text(p, &c, NULL, 2, 0, true));
	assert_false(load_cut_ended(p, PROFILE_ROOT));
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ended_early_has_a_root),
		cmocka_unit_test(every_state_and_frame_is_true),
		cmocka_unit_test(compressed_is_the_same),
		cmocka_unit_test(filter_and_threads_change_nothing),
		cmocka_unit_test(slices_become_longer),
		cmocka_unit_test(one_slice_at_the_least),
		cmocka_unit_test(ordered_gives_all_in_order),
		cmocka_unit_test(threads_write_the_same),
		cmocka_unit_test(take_and_max_stack),
		cmocka_unit_test(walk_minds_markers_and_callers),
		cmocka_unit_test(walk_without_a_chain_gives_the_ip),
		cmocka_unit_test(stacks_share_only_what_is_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
