// SPDX-License-Identifier: MIT
/*
 * tracepoint.c: see tracepoint.h. Knows libtraceevent's way of being asked.
 *
 * The library was written for recordings of one's own. So nothing reaches it unseen: a format's
 * text is checked before parsing (vet_text, grammar.c), what it made of the text afterwards
 * (vet_event, vet_format), and each sample's bytes before printing (vet_raw).
 *
 * Each format has a handle of its own, so that what a bad one does to a handle stays with it; it is
 * parsed at its first sample. Raw data are printed from a copy with zeros behind it (vet.h). Not
 * for several threads.
 */
#include "tracepoint/tracepoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "base/map.h"
#include "tracepoint/formats.h"
#include "tracepoint/grammar.h"
#include "tracepoint/vet.h"

#define PRINT "print fmt:"
#define PRINTK_MAX (1u << 20) /* bytes of printk_formats that are looked at */
#define PARSED_MAX 4096u      /* formats parsed; perf's recordings have tens */

struct parsed {
	struct tep_handle *tep;
	struct tep_event *event; /* NULL: reason says why */
	const char *reason;
};

struct tracepoints {
	struct formats formats;
	struct tracepoint_names names;
	struct map parsed;   /* id -> struct parsed * */
	unsigned char *room; /* VET_ROOM bytes: a sample's raw data, then zeros */
	size_t used;         /* bytes of room that are not 0 */
	struct trace_seq seq;
	bool have_seq;
};

/* bytes: the recording's TRACING_DATA, which must outlive it; n 0: there is none. Damage is in err,
 * and what was read before it is used. */
int tracepoint_new(struct tracepoints **ret, const void *bytes, size_t n,
                   const struct tracepoint_names *names, struct seam_error *err)
{
	struct tracepoints *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	if (names)
		t->names = *names;
	t->room = calloc(1, VET_ROOM);
	if (!t->room || (n && formats_read(&t->formats, bytes, n, err) == -ENOMEM)) {
		tracepoint_free(t);
		return -ENOMEM;
	}
	/* It would print to stderr. */
	tep_set_loglevel(TEP_LOG_NONE);
	*ret = t;
	return 0;
}

static void tracepoint_parsed_free(struct parsed *p)
{
	if (p->tep)
		tep_free(p->tep);
	free(p);
}

void tracepoint_free(struct tracepoints *t)
{
	uint64_t key, value;
	size_t i = 0;

	if (!t)
		return;
	while (map_next(&t->parsed, &i, &key, &value))
		tracepoint_parsed_free((struct parsed *)(uintptr_t)value);
	map_free(&t->parsed);
	if (t->have_seq)
		trace_seq_destroy(&t->seq);
	formats_free(&t->formats);
	free(t->room);
	free(t);
}

/* Called by libtraceevent for the name of the function at an address; *addr becomes where it
 * begins. */
static char *tracepoint_resolve(void *ctx, unsigned long long *addr, char **module)
{
	const struct tracepoints *t = ctx;
	uint64_t start = *addr;
	const char *name = t->names.find(t->names.ctx, *addr, &start);

	*module = NULL;
	if (name)
		*addr = start;
	return (char *)(uintptr_t)name;
}

/* printk formats are names of strings by address, which "%s" of a pointer needs. */
static int tracepoint_parsed_printk(struct parsed *p, const struct formats *f)
{
	size_t n = f->printk_n < PRINTK_MAX ? f->printk_n : PRINTK_MAX;
	char *text = n ? strndup(f->printk, n) : NULL;

	if (n && !text)
		return -ENOMEM;
	if (text)
		tep_parse_printk_formats(p->tep, text);
	free(text);
	return 0;
}

/* Puts the format's text into ret, with its own print format if libtraceevent can be given that,
 * else with an empty one. True: its own. */
static bool tracepoint_parsed_text(const struct format *f, struct buf *ret)
{
	const char *print = memmem(f->text, f->n, PRINT, strlen(PRINT));
	size_t fields = (size_t)(print - f->text), n = f->n - fields - strlen(PRINT);
	bool follow = grammar_print(print + strlen(PRINT), n, f->text, fields);

	buf_put(ret, f->text, follow ? f->n : fields);
	if (!follow)
		buf_put_text(ret, PRINT " \"\"\n");
	return follow;
}

/* Makes the handle, and tells it byte order and word size of the machine that recorded. */
static int tracepoint_parsed_handle(struct parsed *p, struct tracepoints *t, const struct buf *text)
{
	const struct formats *all = &t->formats;

	p->tep = tep_alloc();
	if (!p->tep)
		return -ENOMEM;
	tep_set_long_size(p->tep, all->long_size == 4 ? 4 : 8);
	tep_set_page_size(p->tep, (int)(all->page_size & 0xffffff));
	tep_set_file_bigendian(p->tep, all->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	if (t->names.find)
		tep_set_function_resolver(p->tep, tracepoint_resolve, t);
	/* Names of strings by address are read only for a %s. */
	return memmem(text->bytes, text->n, "%s", 2) ? tracepoint_parsed_printk(p, all) : 0;
}

/* Every reason is a sentence for the user: the sample is shown without its fields, and why. */
static void tracepoint_parsed_event(struct parsed *p, const struct format *f,
                                    const struct buf *text, bool follow)
{
	if (tep_parse_event(p->tep, (const char *)text->bytes, text->n, f->system))
		p->reason = "libtraceevent does not understand its format";
	else
		p->event = tep_find_event(p->tep, (int)f->id);
	if (!p->reason)
		p->reason = p->event ? vet_event(p->event) : "its format has another number";
	if (p->reason)
		p->event = NULL;
	else if (!follow || (!(p->event->flags & (int)TEP_EVENT_FL_FAILED) && vet_format(p->event)))
		p->event->flags |= TEP_EVENT_FL_PRINTRAW; /* its fields, one by one */
}

/* 0 with p->event or p->reason. -ENOMEM. */
static int tracepoint_parsed_fill(struct parsed *p, struct tracepoints *t, const struct format *f)
{
	struct buf text = { 0 };
	bool follow;
	int r;

	p->reason = vet_text(f->text, f->n);
	if (p->reason)
		return 0;
	follow = tracepoint_parsed_text(f, &text);
	r = text.failed ? -ENOMEM : tracepoint_parsed_handle(p, t, &text);
	if (r >= 0)
		tracepoint_parsed_event(p, f, &text, follow);
	buf_free(&text);
	return r;
}

/* The parsed format of a tracepoint; each is parsed once. NULL with *reason: there is none; NULL
 * without: out of memory. The number of formats is limited, because ids come from the recording. */
static struct parsed *tracepoint_parsed(struct tracepoints *t, uint64_t id, const char **reason)
{
	const struct format *f = formats_find(&t->formats, id);
	struct parsed *p;
	uint64_t *slot;

	*reason = f ? NULL : "the recording has no format of it";
	if (!f)
		return NULL;
	/* NULL in the map: memory was out at the last sample, and this one tries again. */
	slot = map_slot(&t->parsed, id, NULL);
	if (!slot || *slot)
		return slot ? (struct parsed *)(uintptr_t)*slot : NULL;
	if (t->parsed.n > PARSED_MAX) {
		*reason = "too many tracepoints";
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (p && tracepoint_parsed_fill(p, t, f) < 0) {
		tracepoint_parsed_free(p);
		p = NULL;
	}
	*slot = (uint64_t)(uintptr_t)p;
	return p;
}

/* Appends the fields of a sample as text. 1, or -ENOMEM. The raw data are printed from a copy with
 * zeros behind it, as libtraceevent may read beyond their end. */
static int tracepoint_print(struct tracepoints *t, const struct parsed *p, uint32_t cpu,
                            const void *raw, size_t n, struct buf *out)
{
	struct tep_record record = { .cpu = (int)cpu, .size = (int)n, .data = t->room };

	memcpy(t->room, raw, n);
	if (t->used > n)
		memset(t->room + n, 0, t->used - n);
	t->used = n;
	/* The sequence grows; it is made once. */
	if (!t->have_seq)
		trace_seq_init(&t->seq);
	t->have_seq = true;
	trace_seq_reset(&t->seq);
	tep_print_event(p->tep, &t->seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&t->seq);
	if (t->seq.state != TRACE_SEQ__GOOD) {
		trace_seq_destroy(&t->seq);
		t->have_seq = false;
		return -ENOMEM;
	}
	/* A stranger may have chosen the names in it: make it one line, without anything that a
	 * terminal obeys. */
	for (unsigned i = 0; i < t->seq.len; i++) {
		unsigned char c = (unsigned char)t->seq.buffer[i];

		t->seq.buffer[i] = c < ' ' || c == 127 ? '.' : (char)c;
	}
	return buf_put(out, t->seq.buffer, t->seq.len) < 0 ? -ENOMEM : 1;
}

/* 1 and text; 0 and *reason; -ENOMEM. cpu is printed by some formats. */
int tracepoint_text(struct tracepoints *t, uint64_t id, uint32_t cpu, const void *raw, size_t n,
                    struct buf *out, const char **reason)
{
	struct parsed *p = tracepoint_parsed(t, id, reason);
	struct tep_record record = { .size = (int)n, .data = (void *)(uintptr_t)raw };

	if (!p)
		return *reason ? 0 : -ENOMEM;
	*reason = p->reason;
	if (!*reason)
		*reason = n ? vet_raw(p->event, raw, n) : "it carries no raw data";
	/* libtraceevent takes the format that the number in the raw data says, not the one that was
	 * vetted. */
	if (!*reason && tep_data_type(p->tep, &record) != (int)id)
		*reason = "its raw data are another tracepoint's";
	return *reason ? 0 : tracepoint_print(t, p, cpu, raw, n, out);
}
