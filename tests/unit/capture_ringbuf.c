// SPDX-License-Identifier: MIT
// capture_ringbuf.c: a ring of BPF records in memory, with this file as the kernel: what one
// reading takes, and what it leaves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/ringbuf.h"

#define SIZE 4096u
#define BUSY (1u << 31)
#define GONE (1u << 30)

struct kernel {
	struct ringbuf ring;
	uint64_t consumer, producer;
	uint32_t next;     // the number of the next record
	uint32_t expected; // of the next that is to be read
	uint64_t refill;   // records that come while one is taken
	uint64_t bytes;    // given by one reading
	int fails_at;      // the number of the record that take refuses; 0: none
};

// The data twice in a row, as the kernel maps it.
static void begin(struct kernel *k)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	unsigned char *at = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_int_equal(0, ftruncate(fd, SIZE));
	assert_ptr_not_equal(MAP_FAILED, at);
	for (int i = 0; i < 2; i++)
		assert_ptr_not_equal(MAP_FAILED, mmap(at + i * SIZE, SIZE, PROT_READ | PROT_WRITE,
		                                      MAP_SHARED | MAP_FIXED, fd, 0));
	close(fd);
	*k = (struct kernel){ .next = 1, .expected = 1 };
	k->ring = (struct ringbuf){
		.consumer = &k->consumer, .producer = &k->producer, .data = at, .size = SIZE
	};
}

static void end(struct kernel *k)
{
	munmap(k->ring.data, 2 * SIZE);
}

// One record of n bytes that begins with its number; the bits of its header. False: no room.
static int put(struct kernel *k, uint32_t n, uint32_t bits)
{
	uint32_t space = (n + 8 + 7) & ~7u, head = n | bits;
	unsigned char *at = k->ring.data + (k->producer & (SIZE - 1));

	if (k->producer + space - k->consumer > SIZE)
		return 0;
	memset(at, 0, space);
	memcpy(at, &head, sizeof(head));
	memcpy(at + 8, &k->next, sizeof(k->next));
	memset(at + 8 + 4, (int)k->next, n - 4);
	k->next++;
	k->producer += space;
	return 1;
}

static int take(void *ctx, const void *bytes, size_t n)
{
	struct kernel *k = ctx;
	const unsigned char *at = bytes;
	uint32_t number;

	memcpy(&number, at, sizeof(number));
	assert_int_equal(k->expected, number);
	for (size_t i = 4; i < n; i++)
		assert_int_equal((unsigned char)number, at[i]);
	k->expected++;
	k->bytes += n + 8;
	for (uint64_t i = 0; i < k->refill; i++)
		put(k, (uint32_t)n, 0);
	return (int)number == k->fails_at ? -5 : 0;
}

static int64_t drain(struct kernel *k)
{
	k->bytes = 0;
	return ringbuf_drain(&k->ring, take, k);
}

// Each record that is taken is replaced by two: a reading that went on until the ring is empty
// would never end.
static void takes_what_was_there(void **state)
{
	struct kernel k;

	(void)state;
	begin(&k);
	while (put(&k, 100, 0))
		;
	k.refill = 2;
	for (int round = 0; round < 50; round++) {
		uint32_t before = k.next - k.expected;

		assert_int_equal(before, drain(&k));
		assert_in_range(k.bytes, 1, SIZE);
		assert_in_range(k.next - k.expected, 1, SIZE / 112);
	}
	k.refill = 0;
	assert_true(drain(&k) > 0);
	assert_int_equal(0, drain(&k));
	assert_int_equal(k.next, k.expected);
	assert_int_equal(k.producer, k.consumer);
	end(&k);
}

// All sizes, so that records begin and end everywhere in the ring.
static void wraps(void **state)
{
	struct kernel k;

	(void)state;
	begin(&k);
	for (uint32_t n = 4; n < SIZE - 16; n += 13) {
		assert_true(put(&k, n, 0));
		put(&k, n, 0);
		assert_in_range(drain(&k), 1, 2);
	}
	assert_int_equal(k.next, k.expected);
	end(&k);
}

static void waits_for_the_one_being_written(void **state)
{
	struct kernel k;
	uint32_t written = 20;
	uint64_t at;

	(void)state;
	begin(&k);
	put(&k, 20, 0);
	at = k.producer;
	put(&k, 20, BUSY);
	put(&k, 20, 0);
	assert_int_equal(1, drain(&k));
	assert_int_equal(0, drain(&k));
	memcpy(k.ring.data + at, &written, sizeof(written));
	assert_int_equal(2, drain(&k));
	end(&k);
}

static void leaves_out_what_was_given_up(void **state)
{
	struct kernel k;

	(void)state;
	begin(&k);
	put(&k, 20, GONE);
	k.expected++;
	put(&k, 20, 0);
	assert_int_equal(1, drain(&k));
	assert_int_equal(k.producer, k.consumer);
	end(&k);
}

static void stops_where_the_sink_does(void **state)
{
	struct kernel k;

	(void)state;
	begin(&k);
	for (int i = 0; i < 3; i++)
		put(&k, 20, 0);
	k.fails_at = 2;
	assert_int_equal(-5, drain(&k));
	assert_int_equal(1, drain(&k)); // the third
	end(&k);
}

// A length that cannot be is not followed.
static void ends_at_nonsense(void **state)
{
	struct kernel k;
	uint32_t nonsense = SIZE;

	(void)state;
	begin(&k);
	put(&k, 20, 0);
	memcpy(k.ring.data, &nonsense, sizeof(nonsense));
	assert_int_equal(0, drain(&k));
	end(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_what_was_there),
		cmocka_unit_test(wraps),
		cmocka_unit_test(waits_for_the_one_being_written),
		cmocka_unit_test(leaves_out_what_was_given_up),
		cmocka_unit_test(stops_where_the_sink_does),
		cmocka_unit_test(ends_at_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
