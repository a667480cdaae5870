// SPDX-License-Identifier: MIT
/*
 * kwalk_context.c: for whom threads work: what the programs are told of a process, and what they
 * read of a thread as sets of labels (abi/context.h), for the records that say them.
 *
 * A record is written where a thread's set on a CPU is another than at its sample before: rings
 * are read CPU by CPU, so that only within one of them it is known what came before. What is said
 * of a thread is held by whoever reads until something else is said; so a thread is noted here as
 * long as what was said is not "nobody".
 *
 * Names of attributes, and the service, are read of the process (OTEP 4719): when its first record
 * comes, and again where a key is not known; of others, some time after they were sampled first.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "abi/context.h"
#include "base/intern.h"
#include "base/peek.h"
#include "capture/context/kwalk_context.h"
#include "runtimes/otel_process.h"

#define SETS_MOST 65536u              /* that are known by number; then all are forgotten */
#define SETS_BYTES ((size_t)32 << 20) /* likewise */
#define PROCESSES_MOST 16384u
#define MAPS_MOST ((size_t)4 << 20) /* bytes of /proc/PID/maps */
#define LABELS_MOST 300u            /* of a set: attributes and what is beside them */
#define AGAIN_NS 50000000ull        /* a message is not read more often */
#define TOUCHES_MOST 256u           /* pages that are brought into memory in TOUCHES_NS */
#define TOUCHES_NS 1000000000ull
/* When a process is asked that began while it was recorded, which had no time yet to say anything,
 * and one that was there before, or of which the news are not there yet. */
#define CONTEXT_YOUNG_NS 300000000ull
#define CONTEXT_OLD_NS 20000000ull

/* What a process says of itself. */
struct context_said {
	uint64_t since_ns;  /* when it began its program; 0: before the recording */
	uint64_t looked_ns; /* 0: not yet */
	uint64_t next_ns;   /* when it is looked for next; UINT64_MAX: not any more */
	unsigned tries;
	uint64_t head; /* the mapping's address; 0: it was not found */
	struct otel_process *said;
};

struct context {
	struct peek *peek;
	struct intern sets; /* texts; their numbers are base + */
	uint32_t base;
	size_t bytes;
	struct map processes; /* pid -> struct context_said * */
	struct buf text, hex, maps;
	struct context_label labels[LABELS_MOST];
	struct otel_process *room;
	uint64_t begins; /* of kwalk.context_begins, that were taken over */
	uint64_t touches_since_ns;
	unsigned touches; /* since then */
};

int context_open(struct kwalk *l)
{
	l->context = calloc(1, sizeof(*l->context));
	if (!l->context)
		return -ENOMEM;
	l->context->base = CONTEXT_FIRST;
	l->context->peek = l->opts.peek;
	l->context->room = malloc(sizeof(*l->context->room));
	return l->context->room ? 0 : -ENOMEM;
}

static void context_forget(struct context *c)
{
	uint64_t pid, at;
	size_t i = 0;

	while (map_next(&c->processes, &i, &pid, &at)) {
		struct context_said *s = (struct context_said *)(uintptr_t)at;

		free(s->said);
		free(s);
	}
	map_free(&c->processes);
	c->processes = (struct map){ 0 };
}

void context_close(struct kwalk *l)
{
	struct context *c = l->context;

	for (size_t i = 0; l->rings && i < l->n_cpus; i++)
		map_free(&l->rings[i].contexts);
	if (!c)
		return;
	context_forget(c);
	intern_free(&c->sets);
	buf_free(&c->text);
	buf_free(&c->hex);
	buf_free(&c->maps);
	free(c->room);
	free(c);
	buf_free(&l->context_begun);
}

/* Tells the programs where the threads of a process say it. */
void context_publish(struct kwalk *l, const struct kwalk_space *s)
{
	const struct kwalk_vma *m = NULL;
	struct context_process p;
	uint32_t step = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct context_process *one = s->at[i].context;

		if (one && one->vector_step)
			step = one->vector_step;
		if (one && one->source != CONTEXT_NONE && !m)
			m = &s->at[i];
	}
	if (!m) {
		bpf_map_delete_elem(l->contexts, &s->pid);
		return;
	}
	p = *m->context;
	p.execs = s->execs;
	p.losses = s->losses;
	p.slot += m->start - m->vaddr;
	p.vector_step = step;
	bpf_map_update_elem(l->contexts, &s->pid, &p, BPF_ANY);
}

/* ---- what a process says of itself ---- */

static bool context_memory(const struct context *c, uint32_t pid, uint64_t at, void *to, size_t n)
{
	return peek_memory(c->peek, pid, at, to, n) >= 0;
}

/* The mapping's address; 0: there is none. */
static uint64_t context_mapping(struct context *c, uint32_t pid)
{
	char path[32];
	const char *at, *text;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	buf_clear(&c->maps);
	peek_file(c->peek, pid, path, MAPS_MOST, &c->maps);
	text = buf_text(&c->maps);
	at = strstr(text, OTEL_PROCESS_NAME);
	while (at && at > text && at[-1] != '\n')
		at--;
	return at ? strtoull(at, NULL, 16) : 0;
}

/* Reads the message. One that is changed while it is read is left out: the next reading finds
 * it. */
static void context_message(struct context *c, uint32_t pid, struct context_said *s)
{
	struct otel_process_head h, again;
	struct otel_process *p = c->room;

	if (!s->head || !context_memory(c, pid, s->head, &h, sizeof(h)) ||
	    !otel_process_head_is_sound(&h) ||
	    !context_memory(c, pid, h.payload, p->text, h.size) ||
	    !context_memory(c, pid, s->head, &again, sizeof(again)) ||
	    memcmp(&h, &again, sizeof(h)))
		return;
	otel_process_read(p, h.size);
	if (!s->said)
		s->said = malloc(sizeof(*s->said));
	if (s->said)
		memcpy(s->said, p, offsetof(struct otel_process, text) + h.size);
}

static void context_look(struct context *c, uint32_t pid, struct context_said *s, uint64_t now_ns)
{
	static const uint64_t waits_ns[] = { 1000000000, 3000000000, 10000000000, 30000000000 };

	s->looked_ns = now_ns;
	s->head = context_mapping(c, pid);
	context_message(c, pid, s);
	s->next_ns = s->said || s->tries >= sizeof(waits_ns) / sizeof(waits_ns[0])
	                     ? UINT64_MAX
	                     : now_ns + waits_ns[s->tries];
	s->tries++;
}

/* NULL: memory is out. */
static struct context_said *context_process(struct context *c, uint32_t pid, uint64_t now_ns)
{
	struct context_said *s;
	uint64_t *slot, known;

	if (map_get(&c->processes, pid, &known))
		return (struct context_said *)(uintptr_t)known;
	if (c->processes.n >= PROCESSES_MOST)
		context_forget(c);
	s = calloc(1, sizeof(*s));
	slot = s ? map_slot(&c->processes, pid, NULL) : NULL;
	if (!slot) {
		free(s);
		return NULL;
	}
	s->next_ns = now_ns + CONTEXT_OLD_NS;
	*slot = (uintptr_t)s;
	return s;
}

struct context_began {
	uint64_t time_ns;
	uint32_t pid, unused;
};

/* Called by who follows the processes; the reader takes them over. */
void context_begin(struct kwalk *l, uint32_t pid, uint64_t time_ns)
{
	const struct context_began b = { time_ns, pid, 0 };

	if (!l->context)
		return;
	buf_put(&l->context_begun, &b, sizeof(b));
	__atomic_add_fetch(&l->context_begins, 1, __ATOMIC_RELEASE);
}

/* Forgets what processes said before they began anew. If memory was out, all are asked anew. */
static void context_begins(struct kwalk *l)
{
	struct context *c = l->context;
	uint64_t n = __atomic_load_n(&l->context_begins, __ATOMIC_ACQUIRE);
	struct buf begun;

	if (n == c->begins || !lock_soon(l, &l->lock))
		return;
	c->begins = n;
	begun = l->context_begun;
	l->context_begun = (struct buf){ 0 };
	pthread_mutex_unlock(&l->lock);
	if (begun.failed)
		context_forget(c);
	for (size_t at = 0; at < begun.n && !begun.failed; at += sizeof(struct context_began)) {
		struct context_began b;
		struct context_said *s;

		memcpy(&b, begun.bytes + at, sizeof(b));
		s = context_process(c, b.pid, b.time_ns);
		if (!s)
			continue;
		free(s->said);
		*s = (struct context_said){ .since_ns = b.time_ns,
			                    .next_ns = b.time_ns + CONTEXT_YOUNG_NS };
	}
	buf_free(&begun);
}

/* ---- sets ---- */

/* The number of the set in c->text; *is_new: its text is to be written. */
static uint32_t context_set(struct context *c, bool *is_new)
{
	uint32_t id;
	size_t before;

	*is_new = false;
	if (!c->text.n)
		return CONTEXT_NOBODY;
	if (c->sets.n > SETS_MOST || c->bytes > SETS_BYTES) {
		c->base += (uint32_t)c->sets.n;
		c->bytes = 0;
		intern_free(&c->sets);
		c->sets = (struct intern){ .n = 0 };
	}
	before = c->sets.n;
	id = intern_bytes(&c->sets, c->text.bytes, c->text.n);
	if (id == INTERN_FAILED)
		return CONTEXT_NOBODY;
	*is_new = id >= before;
	c->bytes += *is_new ? c->text.n : 0;
	return c->base + id;
}

/* Hexadecimal digits, as W3C writes ids; NULL: all bytes are 0. */
static void context_id(struct context *c, const char *key, const uint8_t *bytes, size_t n,
                       size_t *labels)
{
	size_t at = c->hex.n;
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		buf_printf(&c->hex, "%02x", bytes[i]);
		any |= bytes[i] != 0;
	}
	if (any && !c->hex.failed)
		c->labels[(*labels)++] = (struct context_label){ .key = key,
			                                         .key_n = strlen(key),
			                                         .value = (char *)c->hex.bytes + at,
			                                         .value_n = 2 * n };
}

/* The name of an attribute; n 0: the process has not said it. */
static struct otel_process_text context_key(const struct context_said *s, uint8_t index)
{
	return s->said && index < s->said->n_keys ? s->said->keys[index]
	                                          : (struct otel_process_text){ 0 };
}

/* The labels of a record. An attribute that is not whole ends it; one without a name is none. */
static size_t context_otel(struct kwalk *l, const struct kwalk_context *k, struct context_said *s)
{
	const struct context_record *head = (const void *)k->bytes;
	struct context *c = l->context;
	size_t n = 0, at = sizeof(*head), end = at + head->size;

	if (k->n < sizeof(*head))
		return 0;
	buf_clear(&c->hex);
	if (!buf_reserve(&c->hex, 128))
		return 0;
	context_id(c, "trace_id", head->trace, sizeof(head->trace), &n);
	context_id(c, "span_id", head->span, sizeof(head->span), &n);
	end = end < k->n ? end : k->n;
	while (end - at >= 2 && end - at - 2 >= k->bytes[at + 1] && n < LABELS_MOST - 1) {
		struct otel_process_text key = context_key(s, k->bytes[at]);

		/* Keys are added while the process runs. */
		if (!key.n && k->of > s->looked_ns + AGAIN_NS) {
			context_look(c, k->pid, s, kwalk_now_ns());
			key = context_key(s, k->bytes[at]);
		}
		l->context_unnamed += !key.n;
		if (key.n)
			c->labels[n++] = (struct context_label){
				.key = s->said->text + key.at,
				.key_n = key.n,
				.value = (const char *)k->bytes + at + 2,
				.value_n = k->bytes[at + 1],
			};
		at += 2u + k->bytes[at + 1];
	}
	return n;
}

#define TEXT_CUT 255u   /* a text of so many bytes may go on */
#define TEXT_SHOWN 252u /* of such a text, with "..." behind it */

/* A text of a label: one that was cut says so, and ends between two characters of UTF-8. c->hex has
 * room for it. */
static const char *context_whole(struct context *c, const uint8_t *text, size_t *n)
{
	size_t at = c->hex.n;

	if (*n < TEXT_CUT)
		return (const char *)text;
	*n = TEXT_SHOWN;
	while (*n > TEXT_SHOWN - 3 && (text[*n] & 0xc0) == 0x80)
		(*n)--;
	buf_put(&c->hex, text, *n);
	buf_put(&c->hex, "...", 3);
	*n += 3;
	return (const char *)c->hex.bytes + at;
}

/* The labels of a goroutine. */
static size_t context_go(struct context *c, const struct kwalk_context *k)
{
	size_t n = 0, at = 0;

	buf_clear(&c->hex);
	if (!buf_reserve(&c->hex, KWALK_CONTEXT_BYTES))
		return 0;
	while (at < k->n && n < LABELS_MOST - 1) {
		size_t key = k->bytes[at], value = at + 1 + key;
		struct context_label *l;

		if (value >= k->n || value + 1 + k->bytes[value] > k->n)
			break;
		l = &c->labels[n++];
		l->key_n = key;
		l->key = context_whole(c, k->bytes + at + 1, &l->key_n);
		l->value_n = k->bytes[value];
		l->value = context_whole(c, k->bytes + value + 1, &l->value_n);
		at = value + 1 + k->bytes[value];
	}
	return n;
}

/* Fills c->text with the n labels, and the process's service. */
static void context_text(struct context *c, const struct context_said *s, size_t n)
{
	if (s && s->said && s->said->service.n)
		c->labels[n++] =
		        (struct context_label){ .key = "service.name",
			                        .key_n = strlen("service.name"),
			                        .value = s->said->text + s->said->service.at,
			                        .value_n = s->said->service.n };
	buf_clear(&c->text);
	context_put_all(&c->text, c->labels, n);
	if (c->text.failed) {
		buf_free(&c->text);
		c->text = (struct buf){ 0 };
	}
}

/* ---- what is written ---- */

/* Notes what a thread has on this CPU. 1: it must be said; 0: it was. -ENOMEM. */
static int context_changes(struct kwalk_ring *ring, uint32_t tid, uint32_t set)
{
	uint64_t said = CONTEXT_NOBODY;
	int r;

	map_get(&ring->contexts, tid, &said);
	if (said == set)
		return 0;
	if (set == CONTEXT_NOBODY) {
		map_del(&ring->contexts, tid);
		return 1;
	}
	r = map_put(&ring->contexts, tid, set);
	return r < 0 ? r : 1;
}

/* 1: *ret is to be written, with the text of the set in l->context; 0: nothing is. -ENOMEM. */
static int context_say(struct kwalk_ring *ring, uint32_t tid, uint32_t set, bool is_new,
                       struct seam_ksymbol *ret)
{
	int r = context_changes(ring, tid, set);

	*ret = (struct seam_ksymbol){ .addr = CONTEXT_BASE + set,
		                      .len = 1,
		                      .unregister = true,
		                      .name = is_new ? buf_text(&ring->kwalk->context->text) : "" };
	return r;
}

/* What the programs may not wait for is brought into memory for the next sample: a label's text may
 * be a constant that the process itself never reads. */
static void context_touch(struct context *c, const struct kwalk_context *k)
{
	char bytes[4096];

	if (k->of - c->touches_since_ns > TOUCHES_NS) {
		c->touches_since_ns = k->of;
		c->touches = 0;
	}
	if (c->touches >= TOUCHES_MOST || k->fault_n > sizeof(bytes))
		return;
	c->touches++;
	context_memory(c, k->pid, k->fault, bytes, k->fault_n);
}

/* Takes what the programs read of a thread, before its sample. */
int context_take(struct kwalk_ring *ring, const struct kwalk_context *k, struct seam_ksymbol *ret)
{
	struct kwalk *l = ring->kwalk;
	struct context *c = l->context;
	struct context_said *s;
	bool is_new = false;
	uint32_t set;
	size_t n;

	if (!c)
		return 0;
	ring->context_of = k->of;
	context_begins(l);
	s = context_process(c, k->pid, k->of);
	if (!s)
		return -ENOMEM;
	if (k->end == KWALK_CONTEXT_FAULT)
		context_touch(c, k);
	if (k->end == KWALK_CONTEXT_FAULT || k->end == KWALK_CONTEXT_UNKNOWN) {
		set = k->end == KWALK_CONTEXT_FAULT ? CONTEXT_UNREAD : CONTEXT_STRANGE;
	} else {
		if (!s->looked_ns && k->of >= s->since_ns)
			context_look(c, k->pid, s, k->of);
		n = k->source == CONTEXT_OTEL ? context_otel(l, k, s) : context_go(c, k);
		context_text(c, k->of >= s->since_ns ? s : NULL, n);
		set = context_set(c, &is_new);
		if (k->end == KWALK_CONTEXT_LIMIT && set == CONTEXT_NOBODY)
			set = CONTEXT_LARGE;
	}
	return context_say(ring, k->tid, set, is_new, ret);
}

/* A sample: if nothing was read of its thread, it works for nobody but the process's service. */
int context_sample(struct kwalk_ring *ring, const struct kwalk_sample *s, struct seam_ksymbol *ret)
{
	struct context *c = ring->kwalk->context;
	struct context_said *p;
	bool is_new = false;
	uint32_t set = CONTEXT_NOBODY;

	if (!c || ring->context_of == s->time_ns || !s->pid)
		return 0;
	context_begins(ring->kwalk);
	p = context_process(c, s->pid, s->time_ns);
	if (!p)
		return -ENOMEM;
	if (s->time_ns > p->next_ns)
		context_look(c, s->pid, p, s->time_ns);
	if (p->said && p->said->service.n && s->time_ns >= p->since_ns) {
		context_text(c, p, 0);
		set = context_set(c, &is_new);
	}
	return context_say(ring, s->tid, set, is_new, ret);
}
