// SPDX-License-Identifier: MIT
/*
 * scenario.c: see scenario.h.
 *
 * Invariant: a sample's truth is set once, when the machine does the thing that decides it; samples
 * whose fate is open are on exactly one list: of their entry, of their tid in doubt, or of a tid
 * that an exec gave up.
 */
#include "scenario.h"

#include <errno.h>
#include <stdlib.h>

#include "abi/encode.h"

#define NONE UINT32_MAX
#define OPEN SEAM_STITCH_STATES

enum {
	EVENT_DEFER, /* callchains, deferred */
	EVENT_PLAIN, /* none */
	EVENT_OUTPUT
};

struct fate {
	struct scenario_truth truth;
	uint64_t time_ns;
	uint32_t next;
	bool wrong_task; /* another task answered its cookie */
	bool user_last;  /* its entry's last sample was in user mode */
};

struct list {
	uint32_t first;
};

struct entry {
	uint64_t cookie;      /* 0: none is open */
	struct list open;     /* samples since the last exec */
	struct list crossing; /* samples from before an exec */
	uint32_t crossing_tid;
	uint32_t samples, emitted;
	uint32_t chain; /* of the deferred record that came early */
	bool answered, exec_done, exec_since, wrong_task, user_last;
};

struct task {
	bool alive;
	uint32_t pid, tid, cpu;
	struct entry entry;
	struct entry overlapped; /* an entry that is left, its deferred record to come */
	struct list doubt;       /* unanswered, of entries that are left */
};

struct tid {
	struct list given_up; /* unanswered samples of a thread that took another tid */
};

struct scenario {
	struct scenario_opts o;
	uint64_t random, now;
	struct seam_events *events;
	struct task *tasks;
	struct tid *tids;  /* as many as tasks: tid = FIRST_TID + index */
	uint64_t *counter; /* per CPU */
	struct fate *fates;
	uint32_t samples, capacity, chains;
	uint64_t last_lost;
	struct seam_stitch_counts counts;
	/* of the step under way */
	struct buf *bytes;
	struct scenario_record *records;
	size_t n;
	int failed;
};

#define FIRST_TID 1000u
#define STRANGER 999999u

uint64_t scenario_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static uint32_t below(struct scenario *sc, uint32_t n)
{
	return (uint32_t)(scenario_random(&sc->random) % n);
}

static bool chance(struct scenario *sc, unsigned of_10000)
{
	return below(sc, 10000) < of_10000;
}

uint32_t scenario_frames(const struct scenario *sc, uint32_t chain)
{
	return chain & 1 ? 1 + (chain >> 1) % sc->o.frames : 0; /* even: an empty answer */
}

uint64_t scenario_frame(uint32_t chain, uint32_t i)
{
	return 0x550000000000ULL + (uint64_t)chain * 0x1000 + i * 8;
}

static uint32_t chain_new(struct scenario *sc)
{
	sc->chains = sc->o.chains ? below(sc, sc->o.chains) + 1 : sc->chains + 1;
	return sc->chains << 1 | !chance(sc, sc->o.empty);
}

/* ---- records ---- */

/* Where a sample hit the kernel. */
static uint64_t kernel_place(struct scenario *sc)
{
	return 0xffffffff81000000ULL + below(sc, sc->o.places ? sc->o.places : 1 << 20);
}

static struct seam_id now_id(struct scenario *sc, const struct task *t, unsigned event)
{
	return (struct seam_id){
		.pid = t->pid, .tid = t->tid, .time_ns = sc->now, .id = event + 1, .cpu = t->cpu
	};
}

static const struct seam_attr *attr(const struct scenario *sc, unsigned event)
{
	return &seam_events_at(sc->events, event)->attr;
}

/* What stands at `offset` of bytes is a new record; the next one is later. */
static void emitted(struct scenario *sc, size_t offset, uint32_t cpu, uint32_t sample, int r)
{
	if (r < 0 || sc->n == SCENARIO_STEP) {
		sc->failed = r < 0 ? r : -E2BIG;
		return;
	}
	sc->records[sc->n++] = (struct scenario_record){
		.offset = offset, .time_ns = sc->now, .cpu = cpu, .sample = sample
	};
	sc->now += 1 + below(sc, 20000);
}

static void emit_sample(struct scenario *sc, const struct task *t, unsigned event, uint16_t mode,
                        const uint64_t *chain, uint32_t n)
{
	struct seam_sample s = { .id = now_id(sc, t, event),
		                 .ip = n > 1 ? chain[1] : 0x1000,
		                 .period = 250000,
		                 .callchain = encode_words(chain, n) };
	size_t at = sc->bytes->n;

	emitted(sc, at, t->cpu, sc->samples - 1,
	        encode_sample(sc->bytes, attr(sc, event), mode, &s));
	if (n > 1 && chain[n - 2] == SEAM_CONTEXT_USER_DEFERRED && chance(sc, sc->o.twin_sample)) {
		size_t size = sc->bytes->n - at;
		uint64_t time = sc->records[sc->n - 1].time_ns;
		void *copy = buf_reserve(sc->bytes, size);

		if (copy) {
			memcpy(copy, sc->bytes->bytes + at, size);
			sc->bytes->n += size;
		}
		emitted(sc, at + size, t->cpu, sc->samples - 1, copy ? 0 : -ENOMEM);
		sc->records[sc->n - 1].time_ns = time;
		sc->counts.duplicate_samples++;
	}
}

static void emit_deferred(struct scenario *sc, const struct task *t, uint64_t cookie,
                          uint32_t chain)
{
	uint64_t words[512];
	struct seam_callchain_deferred d = { .cookie = cookie };
	struct seam_id id = now_id(sc, t, EVENT_OUTPUT);

	d.ips = encode_words(words, scenario_frames(sc, chain));
	for (uint32_t i = 0; i < d.ips.n; i++)
		words[i] = scenario_frame(chain, i);
	sc->counts.deferred_records++;
	for (int twin = 0; twin < 2; twin++) {
		size_t at = sc->bytes->n;

		emitted(sc, at, t->cpu, SCENARIO_NOT_A_SAMPLE,
		        encode_deferred(sc->bytes, attr(sc, EVENT_OUTPUT), SEAM_MISC_USER, &d,
		                        &id));
		if (twin || !chance(sc, sc->o.twin_deferred))
			break;
		sc->counts.duplicate_records++;
		if (chance(sc, 5000)) /* a second output event's, not the very same bytes */
			id.time_ns = sc->now;
	}
}

static void emit_task(struct scenario *sc, const struct task *t, uint32_t type)
{
	struct seam_task record = {
		.pid = t->pid, .ppid = 1, .tid = t->tid, .ptid = 1, .time_ns = sc->now
	};
	struct seam_id id = now_id(sc, t, EVENT_OUTPUT);
	size_t at = sc->bytes->n;

	emitted(sc, at, t->cpu, SCENARIO_NOT_A_SAMPLE,
	        encode_task(sc->bytes, attr(sc, EVENT_OUTPUT), type, 0, &record, &id));
}

static void emit_exec(struct scenario *sc, const struct task *t)
{
	struct seam_comm comm = { .pid = t->pid, .tid = t->tid, .exec = true, .comm = "new" };
	struct seam_id id = now_id(sc, t, EVENT_OUTPUT);
	size_t at = sc->bytes->n;

	emitted(sc, at, t->cpu, SCENARIO_NOT_A_SAMPLE,
	        encode_comm(sc->bytes, attr(sc, EVENT_OUTPUT), 0, &comm, &id));
}

static void emit_loss(struct scenario *sc, const struct task *t)
{
	struct seam_lost lost = { .id = EVENT_DEFER + 1, .lost = 1 + below(sc, 9) };
	struct seam_id id = now_id(sc, t, EVENT_DEFER);
	size_t at = sc->bytes->n;

	sc->counts.lost += lost.lost;
	sc->last_lost = sc->now;
	emitted(sc, at, t->cpu, SCENARIO_NOT_A_SAMPLE,
	        encode_lost(sc->bytes, attr(sc, EVENT_DEFER), SEAM_RECORD_LOST, 0, &lost, &id));
}

/* ---- fates ---- */

static void decide(struct scenario *sc, uint32_t sample, enum seam_stitch_state state,
                   uint32_t chain)
{
	struct fate *f = &sc->fates[sample];
	bool answered = state == SEAM_STITCH_STITCHED || state == SEAM_STITCH_STITCHED_EARLIER;

	f->truth.state = state;
	f->truth.chain = answered ? chain : 0;
	sc->counts.state[state]++;
	sc->counts.empty_answers += answered && !scenario_frames(sc, chain);
	if (f->wrong_task && !answered && state != SEAM_STITCH_CROSSED_EXEC)
		sc->counts.tid_mismatches++;
}

static void decide_all(struct scenario *sc, struct list *list, enum seam_stitch_state state,
                       uint32_t chain)
{
	for (uint32_t i = list->first; i != NONE; i = sc->fates[i].next)
		decide(sc, i, state, chain);
	list->first = NONE;
}

static void list_add(struct scenario *sc, struct list *list, uint32_t sample)
{
	sc->fates[sample].next = list->first;
	list->first = sample;
}

static void list_move(struct scenario *sc, struct list *to, struct list *from, bool user_last)
{
	for (uint32_t i = from->first, next; i != NONE; i = next) {
		next = sc->fates[i].next;
		sc->fates[i].user_last = user_last;
		list_add(sc, to, i);
	}
	from->first = NONE;
}

/* The task was seen elsewhere. A sample in user mode that has no cookie says nothing of one that
 * was in user mode as well. */
static void seen(struct scenario *sc, struct task *t, bool cookie)
{
	struct list stay = { NONE };

	for (uint32_t i = t->doubt.first, next; i != NONE; i = next) {
		next = sc->fates[i].next;
		if (!cookie && sc->fates[i].user_last)
			list_add(sc, &stay, i);
		else
			decide(sc, i, SEAM_STITCH_RECORD_LOST, 0);
	}
	t->doubt = stay;
}

static struct entry entry_none(void)
{
	return (struct entry){ .open = { NONE }, .crossing = { NONE } };
}

/* An entry that nothing answers any more is left behind. */
static void entry_unanswered(struct scenario *sc, struct task *t, struct entry *e)
{
	list_move(sc, &t->doubt, &e->open, e->user_last);
	if (e->crossing.first == NONE)
		return;
	if (e->crossing_tid == t->tid)
		list_move(sc, &t->doubt, &e->crossing, e->user_last);
	else
		list_move(sc, &sc->tids[e->crossing_tid - FIRST_TID].given_up, &e->crossing, false);
}

static void entry_deferred(struct scenario *sc, struct task *t, struct entry *e)
{
	e->chain = chain_new(sc);
	decide_all(sc, &e->open, SEAM_STITCH_STITCHED, e->chain);
	decide_all(sc, &e->crossing, SEAM_STITCH_CROSSED_EXEC, 0);
	emit_deferred(sc, t, e->cookie, e->chain);
	e->answered = true;
	e->exec_since = false;
}

static void entry_end(struct scenario *sc, struct entry *e)
{
	if (e->answered && !e->samples)
		sc->counts.unclaimed_records++;
	*e = entry_none();
}

/* ---- what tasks do ---- */

static struct fate *sample_new(struct scenario *sc)
{
	if (sc->samples == sc->capacity) {
		uint32_t capacity = sc->capacity ? sc->capacity * 2 : 1024;
		struct fate *fates = realloc(sc->fates, capacity * sizeof(*fates));

		if (!fates) {
			sc->failed = -ENOMEM;
			return NULL;
		}
		sc->fates = fates;
		sc->capacity = capacity;
	}
	sc->fates[sc->samples] =
	        (struct fate){ .truth.state = OPEN, .time_ns = sc->now, .next = NONE };
	sc->counts.samples++;
	return &sc->fates[sc->samples++];
}

/* A sample whose state it carries in itself. */
static void do_plain(struct scenario *sc, struct task *t, unsigned event, bool user,
                     enum seam_stitch_state state)
{
	uint64_t chain[4] = { SEAM_CONTEXT_KERNEL, kernel_place(sc) };
	uint32_t n = event == EVENT_PLAIN ? 0 : user ? 4 : 2;

	if (!sample_new(sc))
		return;
	if (user) {
		chain[0] = SEAM_CONTEXT_USER;
		chain[1] = 0x401000;
		chain[2] = 0x402000;
		chain[3] = 0x403000;
		if (!t->entry.cookie || !t->entry.user_last)
			seen(sc, t, false);
	}
	decide(sc, sc->samples - 1, state, 0);
	emit_sample(sc, t, event, user ? SEAM_MISC_USER : SEAM_MISC_KERNEL, chain, n);
}

static void do_deferred(struct scenario *sc, struct task *t)
{
	struct entry *e = &t->entry;
	bool user = !e->samples && chance(sc, sc->o.user_mode);
	uint64_t chain[5] = { SEAM_CONTEXT_KERNEL, kernel_place(sc), 0xffffffff82000000ULL,
		              SEAM_CONTEXT_USER_DEFERRED, e->cookie };
	struct fate *f = sample_new(sc);

	if (!f)
		return;
	f->wrong_task = e->wrong_task;
	e->samples++;
	e->user_last = user;
	sc->counts.deferred_samples++;
	seen(sc, t, true);
	if (sc->o.no_output)
		decide(sc, sc->samples - 1, SEAM_STITCH_NO_OUTPUT_EVENT, 0);
	else if (e->answered && e->exec_since)
		decide(sc, sc->samples - 1, SEAM_STITCH_CROSSED_EXEC, 0);
	else if (e->answered)
		decide(sc, sc->samples - 1, SEAM_STITCH_STITCHED_EARLIER, e->chain);
	else
		list_add(sc, &e->open, sc->samples - 1);
	emit_sample(sc, t, EVENT_DEFER, user ? SEAM_MISC_USER : SEAM_MISC_KERNEL,
	            user ? chain + 3 : chain, user ? 2 : 5);
	if (t->overlapped.cookie) {
		entry_deferred(sc, t, &t->overlapped);
		entry_end(sc, &t->overlapped);
	}
}

/* answers: a dying task may answer, in front of its EXIT record or behind it. */
static void do_exit(struct scenario *sc, struct task *t, bool answers)
{
	bool behind = chance(sc, 5000);

	answers = answers && !t->entry.answered && !sc->o.no_output;
	if (answers && !behind)
		entry_deferred(sc, t, &t->entry);
	if (answers && behind) {
		emit_task(sc, t, SEAM_RECORD_EXIT);
		entry_deferred(sc, t, &t->entry);
	}
	entry_unanswered(sc, t, &t->overlapped);
	entry_unanswered(sc, t, &t->entry);
	decide_all(sc, &t->doubt, SEAM_STITCH_EXITED, 0);
	entry_end(sc, &t->overlapped);
	entry_end(sc, &t->entry);
	if (!answers || !behind)
		emit_task(sc, t, SEAM_RECORD_EXIT);
	t->alive = false;
}

/* The leader of threads that live on keeps its tid; and a tid given up by exec is not used again
 * at once (numbers are handed out in turn). */
static bool tid_in_use(const struct scenario *sc, uint32_t tid)
{
	for (uint32_t i = 0; i < sc->o.tasks; i++) {
		const struct task *t = &sc->tasks[i];

		if (t->alive && (t->pid == tid ||
		                 (t->entry.crossing.first != NONE && t->entry.crossing_tid == tid)))
			return true;
	}
	return false;
}

/* The tid is free, or its last owner gave it up by exec: then its FORK is the end of that one. */
static void do_fork(struct scenario *sc, struct task *t)
{
	const struct task *parent = &sc->tasks[below(sc, sc->o.tasks)];

	if (tid_in_use(sc, FIRST_TID + (uint32_t)(t - sc->tasks)))
		return;
	*t = (struct task){ .alive = true,
		            .tid = FIRST_TID + (uint32_t)(t - sc->tasks),
		            .cpu = below(sc, sc->o.cpus),
		            .entry = entry_none(),
		            .overlapped = entry_none(),
		            .doubt = { NONE } };
	/* Half of them are threads of a process whose leader lives. */
	t->pid = parent->alive && parent != t && parent->pid == parent->tid && chance(sc, 5000)
	                 ? parent->pid
	                 : t->tid;
	decide_all(sc, &sc->tids[t->tid - FIRST_TID].given_up, SEAM_STITCH_EXITED, 0);
	emit_task(sc, t, SEAM_RECORD_FORK);
}

static struct task *owner(struct scenario *sc, uint32_t tid)
{
	return &sc->tasks[tid - FIRST_TID];
}

/* exec ends the other threads; a thread that is not the leader goes on under the leader's tid. */
static void do_exec(struct scenario *sc, struct task *t)
{
	struct task *leader = owner(sc, t->pid);

	for (uint32_t i = 0; i < sc->o.tasks; i++) {
		struct task *other = &sc->tasks[i];

		if (other->alive && other != t && other->pid == t->pid) {
			if (sc->n > SCENARIO_STEP - 16)
				return; /* too many threads for one step: no exec */
			do_exit(sc, other, false);
		}
	}
	list_move(sc, &t->entry.crossing, &t->entry.open, false);
	t->entry.crossing_tid = t->tid;
	t->entry.exec_done = true;
	t->entry.exec_since = true;
	if (t != leader) {
		/* What was in doubt under the old tid stays there. */
		list_move(sc, &sc->tids[t->tid - FIRST_TID].given_up, &t->doubt, false);
		*leader = *t;
		leader->tid = leader->pid;
		t->alive = false;
		t->doubt = (struct list){ NONE };
		t->entry = t->overlapped = entry_none();
		t = leader;
	}
	emit_exec(sc, t);
}

static void do_enter(struct scenario *sc, struct task *t)
{
	uint32_t cpu = t->cpu;

	t->entry = entry_none();
	t->entry.cookie = sc->counter[cpu] << 32 | (cpu + 1);
	sc->counter[cpu] += 2;
	if (!sc->o.no_output && chance(sc, sc->o.foreign)) { /* no sample of ours */
		entry_deferred(sc, t, &t->entry);
		entry_end(sc, &t->entry);
		return;
	}
	do_deferred(sc, t);
}

static void do_return(struct scenario *sc, struct task *t)
{
	struct entry *e = &t->entry;

	if (e->answered || sc->o.no_output) {
		entry_end(sc, e);
	} else if (chance(sc, sc->o.lost)) {
		entry_unanswered(sc, t, e);
		entry_end(sc, e);
	} else if (e->samples && e->crossing.first == NONE && chance(sc, sc->o.overlap)) {
		t->overlapped = *e;
		*e = entry_none();
	} else {
		entry_deferred(sc, t, e);
		entry_end(sc, e);
	}
}

static void do_outside(struct scenario *sc, struct task *t)
{
	if (chance(sc, sc->o.migrate))
		t->cpu = below(sc, sc->o.cpus);
	if (t->overlapped.cookie) /* its deferred record waits for the next entry's first sample */
		do_enter(sc, t);
	else if (chance(sc, sc->o.at_once))
		do_plain(sc, t, EVENT_DEFER, true, SEAM_STITCH_IMMEDIATE);
	else if (chance(sc, sc->o.kernel_only))
		do_plain(sc, t, EVENT_DEFER, false, SEAM_STITCH_KERNEL_ONLY);
	else if (chance(sc, sc->o.no_callchain))
		do_plain(sc, t, EVENT_PLAIN, chance(sc, 5000), SEAM_STITCH_NO_CALLCHAIN);
	else
		do_enter(sc, t);
}

static void do_inside(struct scenario *sc, struct task *t)
{
	struct entry *e = &t->entry;

	if (e->user_last && chance(sc, sc->o.no_callchain)) { /* a second event, same interrupt */
		do_plain(sc, t, EVENT_PLAIN, true, SEAM_STITCH_NO_CALLCHAIN);
	} else if (chance(sc, sc->o.again)) {
		do_deferred(sc, t);
	} else if (!e->answered && !sc->o.no_output && chance(sc, sc->o.late)) {
		entry_deferred(sc, t, e);
	} else if (!t->overlapped.cookie && !e->exec_done && chance(sc, sc->o.exec)) {
		do_exec(sc, t);
	} else if (!e->answered && !e->wrong_task && e->samples && e->crossing.first == NONE &&
	           !sc->o.no_output && chance(sc, sc->o.wrong_task)) {
		struct task stranger = { .pid = STRANGER, .tid = STRANGER, .cpu = t->cpu };

		e->wrong_task = true;
		for (uint32_t i = e->open.first; i != NONE; i = sc->fates[i].next)
			sc->fates[i].wrong_task = true;
		emit_deferred(sc, &stranger, e->cookie, chain_new(sc));
	} else if (chance(sc, sc->o.exit)) {
		do_exit(sc, t, chance(sc, 5000));
	} else {
		do_return(sc, t);
	}
}

int scenario_step(struct scenario *sc, struct buf *bytes, struct scenario_record *records,
                  size_t *n)
{
	struct task *t = &sc->tasks[below(sc, sc->o.tasks)];

	sc->bytes = bytes;
	sc->records = records;
	sc->n = 0;
	if (chance(sc, 5))
		sc->now += 200000000; /* long enough that a stream stops waiting */
	if (chance(sc, sc->o.loss))
		emit_loss(sc, t);
	if (!t->alive)
		do_fork(sc, t);
	else if (t->entry.cookie)
		do_inside(sc, t);
	else
		do_outside(sc, t);
	*n = sc->n;
	return sc->failed;
}

/* ---- beginning and end ---- */

static void end_list(struct scenario *sc, struct list *list)
{
	for (uint32_t i = list->first; i != NONE; i = sc->fates[i].next)
		decide(sc, i,
		       sc->last_lost >= sc->fates[i].time_ns ? SEAM_STITCH_RECORD_LOST
		                                             : SEAM_STITCH_STILL_IN_KERNEL,
		       0);
	list->first = NONE;
}

void scenario_end(struct scenario *sc)
{
	for (uint32_t i = 0; i < sc->o.tasks; i++) {
		struct task *t = &sc->tasks[i];

		entry_unanswered(sc, t, &t->overlapped);
		entry_unanswered(sc, t, &t->entry);
		end_list(sc, &t->doubt);
		entry_end(sc, &t->overlapped);
		entry_end(sc, &t->entry);
	}
	for (uint32_t i = 0; i < sc->o.tasks; i++)
		end_list(sc, &sc->tids[i].given_up);
}

static int scenario_add_events(struct scenario *sc)
{
	struct seam_attr a = { .size = 144,
		               .type = SEAM_TYPE_SOFTWARE,
		               .sample_period = 250000,
		               .sample_type = SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP |
		                              SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_CPU |
		                              SEAM_SAMPLE_PERIOD,
		               .flags = SEAM_ATTR_SAMPLE_ID_ALL };
	const char *const names[] = { "cpu-clock", "page-faults", "dummy:u" };
	int r = 0;

	for (uint64_t i = EVENT_DEFER; i <= EVENT_OUTPUT && r >= 0; i++) {
		struct seam_attr event = a;
		uint64_t id = i + 1;

		event.config = i == EVENT_DEFER ? 0 : i == EVENT_PLAIN ? 2 : 9;
		if (i == EVENT_DEFER) {
			event.sample_type |= SEAM_SAMPLE_CALLCHAIN;
			event.flags |= SEAM_ATTR_DEFER_CALLCHAIN;
		} else if (i == EVENT_OUTPUT) {
			event.flags |= SEAM_ATTR_TASK | SEAM_ATTR_COMM | SEAM_ATTR_COMM_EXEC;
			if (!sc->o.no_output)
				event.flags |= SEAM_ATTR_DEFER_OUTPUT;
		}
		r = seam_events_add(sc->events, &event, names[i], &id, 1, NULL);
	}
	return r;
}

int scenario_new(struct scenario **ret, const struct scenario_opts *opts)
{
	struct scenario *sc = calloc(1, sizeof(*sc));
	int r;

	if (!sc)
		return -ENOMEM;
	sc->o = *opts;
	sc->random = opts->seed;
	sc->now = 1000000000;
	sc->counts.sz = sizeof(sc->counts);
	sc->tasks = calloc(opts->tasks, sizeof(*sc->tasks));
	sc->tids = calloc(opts->tasks, sizeof(*sc->tids));
	sc->counter = calloc(opts->cpus, sizeof(*sc->counter));
	r = sc->tasks && sc->tids && sc->counter ? seam_events_new(&sc->events) : -ENOMEM;
	if (r >= 0)
		r = scenario_add_events(sc);
	if (r < 0) {
		scenario_free(sc);
		return r;
	}
	for (uint32_t i = 0; i < opts->tasks; i++) {
		sc->tids[i].given_up.first = NONE;
		sc->tasks[i].entry = sc->tasks[i].overlapped = entry_none();
		sc->tasks[i].doubt.first = NONE;
	}
	for (uint32_t i = 0; i < opts->cpus; i++)
		sc->counter[i] = 1;
	*ret = sc;
	return 0;
}

void scenario_free(struct scenario *sc)
{
	if (!sc)
		return;
	seam_events_free(sc->events);
	free(sc->tasks);
	free(sc->tids);
	free(sc->counter);
	free(sc->fates);
	free(sc);
}

const struct seam_events *scenario_events(const struct scenario *sc)
{
	return sc->events;
}

uint32_t scenario_samples(const struct scenario *sc)
{
	return sc->samples;
}

const struct scenario_truth *scenario_truth(const struct scenario *sc, uint32_t sample)
{
	return &sc->fates[sample].truth;
}

const struct seam_stitch_counts *scenario_counts(const struct scenario *sc)
{
	return &sc->counts;
}
