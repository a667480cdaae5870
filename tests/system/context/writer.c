// SPDX-License-Identifier: MIT
/*
 * writer.c: threads that work for traces: at each moment the record says in which function the
 * thread is (attribute "function"), so that every sample shows whether what was read is right. The
 * process says its service and its keys (OTEP 4719).
 *
 *	writer MS [LIBRARY]	so many ms of CPU time for each of three threads; the variable is
 *				in a library that is opened while it runs
 *	writer MS hostile	one thread that writes what no writer would
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "work.h"
#include "writer.h"

static void (*set)(struct record *);
static volatile unsigned long sum;
static double ms;

/* ---- what the process says ---- */

struct head {
	char signature[8];
	uint32_t version, size;
	uint64_t published, payload;
};

static unsigned char payload[1024];

/* A field of bytes. */
static size_t field(unsigned char *to, size_t at, int number, const void *bytes, size_t n)
{
	to[at++] = (unsigned char)(number << 3 | 2);
	if (n > 127)
		to[at++] = (unsigned char)(n | 128);
	to[at++] = (unsigned char)(n > 127 ? n >> 7 : n);
	memcpy(to + at, bytes, n);
	return at + n;
}

static size_t attribute(unsigned char *to, size_t at, int number, const char *key, const void *any,
                        size_t any_n)
{
	unsigned char pair[512];
	size_t n = field(pair, 0, 1, key, strlen(key));

	n = field(pair, n, 2, any, any_n);
	return field(to, at, number, pair, n);
}

static void publish(void)
{
	static const char *const keys[] = { "function", "http.route" };
	unsigned char any[256], array[256], resource[512], one[64];
	size_t n, array_n = 0, payload_n;
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
	struct head *h;

	n = field(any, 0, 1, "shop", 4);
	n = attribute(resource, 0, 1, "service.name", any, n);
	payload_n = field(payload, 0, 1, resource, n);
	for (size_t i = 0; i < 2; i++) {
		n = field(one, 0, 1, keys[i], strlen(keys[i]));
		array_n = field(array, array_n, 1, one, n);
	}
	n = field(any, 0, 5, array, array_n);
	payload_n = attribute(payload, payload_n, 2, "threadlocal.attribute_key_map", any, n);
	if (fd < 0 || ftruncate(fd, 4096) < 0)
		exit(2);
	h = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (h == MAP_FAILED)
		exit(2);
	h->version = 2;
	h->size = (uint32_t)payload_n;
	h->payload = (uintptr_t)payload;
	memcpy(h->signature, "OTEL_CTX", 8);
	atomic_thread_fence(memory_order_seq_cst);
	h->published = 1;
}

/* ---- what threads say ---- */

#define FENCE() atomic_signal_fence(memory_order_seq_cst)

static void add(struct record *r, uint8_t key, const char *value)
{
	uint8_t *at = r->attributes + r->size;

	at[0] = key;
	at[1] = (uint8_t)strlen(value);
	memcpy(at + 2, value, at[1]);
	r->size = (uint16_t)(r->size + 2 + at[1]);
}

/* The record says the function. Of two values for one key the last counts. */
static void begin_as(struct record *r, const char *function, uint8_t valid)
{
	static atomic_uint traces;
	uint32_t trace = ++traces;

	*(volatile uint8_t *)&r->valid = 0;
	FENCE();
	memset(r->trace, 0, sizeof(r->trace));
	memcpy(r->trace + 8, &trace, 4);
	memcpy(r->span, &trace, 4);
	r->trace[0] = r->span[7] = 0xab;
	r->size = 0;
	add(r, 0, "before");
	add(r, 1, "/cart");
	add(r, 0, function);
	add(r, 200, "of no key that is known");
	FENCE();
	*(volatile uint8_t *)&r->valid = valid;
	FENCE();
	set(r);
}

static void begin(struct record *r, const char *function)
{
	begin_as(r, function, 1);
}

#define WORK(name)                                                          \
	__attribute__((noinline)) void name(double for_ms)                  \
	{                                                                   \
		for (uint64_t end = work_until(for_ms); work_goes_on(end);) \
			for (unsigned long i = work_loops(20000); i; i--)   \
				sum += i;                                   \
	}
WORK(alpha)
WORK(beta)
WORK(nobody)
WORK(detached)

static void *worker(void *arg)
{
	static __thread struct record r;

	(void)arg;
	for (uint64_t end = work_until(ms); work_goes_on(end);) {
		begin(&r, "alpha");
		alpha(4);
		begin(&r, "beta");
		beta(4);
		*(volatile uint8_t *)&r.valid = 0;
		FENCE();
		nobody(2);
		set(NULL);
		detached(2);
	}
	return NULL;
}

/* ---- what no writer would say ---- */

static void *hostile(void *arg)
{
	static struct record r;
	unsigned char *page = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct record *last = (void *)(page + 4096 - offsetof(struct record, attributes));

	(void)arg;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	for (uint64_t end = work_until(ms); work_goes_on(end);) {
		r.valid = 0;
		FENCE();
		begin_as(&r, "alpha", 2);
		nobody(2);
		begin(&r, "large");
		r.size = 65535;
		nobody(2);
		memset(r.attributes, 255, sizeof(r.attributes));
		r.size = 600;
		nobody(2);
		r.size = 1;
		nobody(2);
		set((void *)16);
		nobody(2);
		set((void *)~15ull);
		nobody(2);
		last->valid = 1; /* its attributes are behind the page */
		last->size = 60;
		set(last);
		nobody(2);
		begin(&r, "\x1b[31m\tback\\slash\nline\x01");
		nobody(2);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int is_hostile = argc > 2 && !strcmp(argv[2], "hostile");
	void *library = argc > 2 && !is_hostile ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;
	pthread_t t[3];
	int n;

	ms = argc > 1 ? atof(argv[1]) : 100;
	*(void **)&set = library ? dlsym(library, "writer_set") : dlsym(NULL, "writer_set");
	if (!set) {
		fprintf(stderr, "writer: %s\n", dlerror());
		return 2;
	}
	publish();
	n = is_hostile ? 1 : 3;
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, is_hostile ? hostile : worker, NULL))
			return 2;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
