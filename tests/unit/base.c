// SPDX-License-Identifier: MIT
// Unit tests of base/: cursor, buf, arena, map, intern, digits, json, UTF-8, error, CPUs.
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <seam/error.h>

#include "base/arena.h"
#include "base/blake2.h"
#include "base/blocks.h"
#include "base/buf.h"
#include "base/cpus.h"
#include "base/cursor.h"
#include "base/digits.h"
#include "base/intern.h"
#include "base/json.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/utf8.h"

static void cursor_reads_both_orders(void **state)
{
	const unsigned char bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct cursor c = cursor_of(bytes, sizeof(bytes), false);
	struct cursor s = cursor_of(bytes, sizeof(bytes), true);

	assert_int_equal(cursor_u8(&c), 1);
	assert_int_equal(cursor_u16(&c), 0x0302);
	assert_int_equal(cursor_u32(&c), 0x07060504);
	assert_true(cursor_u64(&c) == 0x0f0e0d0c0b0a0908ULL);
	assert_false(c.failed);
	assert_int_equal(cursor_u8(&s), 1);
	assert_int_equal(cursor_u16(&s), 0x0203);
	assert_int_equal(cursor_u32(&s), 0x04050607);
	assert_true(cursor_u64(&s) == 0x08090a0b0c0d0e0fULL);
}

static void cursor_failure_sticks(void **state)
{
	volatile size_t exact = 7; /* ASan sees a read past it; the compiler must not */
	unsigned char *bytes = malloc(exact);
	struct cursor c;

	memset(bytes, 0xff, exact);
	c = cursor_of(bytes, exact, false);
	assert_true(cursor_u64(&c) == 0);
	assert_true(c.failed);
	assert_int_equal(cursor_left(&c), 0);
	assert_int_equal(cursor_u8(&c), 0);
	c = cursor_of(bytes, exact, false);
	assert_null(cursor_array(&c, UINT64_MAX / 4, 8)); /* count * size overflows */
	assert_true(c.failed);
	c = cursor_of(bytes, exact, false);
	assert_null(cursor_string(&c)); /* no NUL inside */
	c = cursor_of(bytes, exact, false);
	assert_false(cursor_seek(&c, 8));
	c = cursor_of(bytes, exact, false);
	assert_true(cursor_seek(&c, 7));
	assert_false(c.failed);
	c = cursor_of(NULL, 0, false);
	assert_null(cursor_string(&c));
	free(bytes);
}

static void buf_grows_and_prints(void **state)
{
	struct buf b = { 0 };
	char big[5000];

	assert_string_equal(buf_text(&b), "");
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%d,", i);
	assert_memory_equal(b.bytes, "0,1,2,", 6);
	assert_int_equal(b.n, 10 * 2 + 90 * 3 + 900 * 4);
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	buf_clear(&b);
	buf_printf(&b, "%s!", big);
	assert_int_equal(b.n, sizeof(big));
	assert_int_equal(buf_text(&b)[b.n - 1], '!');
	assert_null(buf_reserve(&b, SIZE_MAX));
	assert_true(b.failed);
	buf_free(&b);
}

static void arena_keeps_pointers(void **state)
{
	struct arena a = { 0 };
	uint64_t *p[3000];

	for (size_t i = 0; i < 3000; i++) {
		p[i] = arena_alloc(&a, i % 700 + 1);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 8, 0);
		assert_int_equal(*(unsigned char *)p[i], 0);
		*(unsigned char *)p[i] = (unsigned char)i;
	}
	assert_non_null(arena_alloc(&a, 5 << 20));
	for (size_t i = 0; i < 3000; i++)
		assert_int_equal(*(unsigned char *)p[i], (unsigned char)i);
	assert_string_equal(arena_string(&a, "abcdef", 3), "abc");
	assert_null(arena_alloc(&a, SIZE_MAX));
	arena_free(&a);
}

static void map_holds_any_key(void **state)
{
	struct map m = { 0 };
	uint64_t v, sum = 0, key;
	size_t walked = 0;
	bool is_new;

	assert_false(map_get(&m, 0, &v));
	for (uint64_t i = 0; i < 20000; i++)
		assert_int_equal(map_put(&m, i * 0x100000000ULL, i), 0);
	assert_int_equal(map_put(&m, UINT64_MAX, 7), 0);
	for (uint64_t i = 0; i < 20000; i++) {
		assert_true(map_get(&m, i * 0x100000000ULL, &v));
		assert_int_equal(v, i);
	}
	for (uint64_t i = 0; i < 20000; i += 2)
		assert_true(map_del(&m, i * 0x100000000ULL));
	assert_false(map_del(&m, 0));
	assert_false(map_get(&m, 0, NULL));
	for (size_t i = 0; map_next(&m, &i, &key, &v);) {
		walked++;
		sum += v;
	}
	assert_int_equal(walked, 10001);
	assert_int_equal(sum, 100000000 + 7);
	*map_slot(&m, 42, &is_new) = 3;
	assert_true(is_new);
	assert_int_equal(*map_slot(&m, 42, &is_new), 3);
	assert_false(is_new);
	map_free(&m);
}

/* Put and delete over and over must not fill the table with tombstones, or a lookup would never
 * end. */
static void map_survives_churn(void **state)
{
	struct map m = { 0 };

	for (uint64_t i = 0; i < 200000; i++) {
		assert_int_equal(map_put(&m, i, i), 0);
		if (i >= 8)
			assert_true(map_del(&m, i - 8));
	}
	assert_int_equal(m.n, 8);
	assert_true(m.capacity <= 64);
	map_free(&m);
}

/* Against an array, at loads where every deletion moves others. */
static void map_agrees_with_a_model(void **state)
{
	uint64_t model[64] = { 0 }, x = 88172645463325252ULL, v;
	struct map m = { 0 };
	size_t live = 0;

	for (unsigned step = 0; step < 200000; step++) {
		size_t key;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		key = x % 64;
		if (x >> 32 & 1) {
			live += !model[key];
			model[key] = step + 1;
			assert_int_equal(map_put(&m, key << 20, step + 1), 0);
		} else {
			assert_int_equal(map_del(&m, key << 20), model[key] != 0);
			live -= model[key] != 0;
			model[key] = 0;
		}
		key = x >> 40 & 63;
		assert_int_equal(map_get(&m, key << 20, &v), model[key] != 0);
		assert_true(!model[key] || v == model[key]);
		assert_int_equal(m.n, live);
	}
	map_free(&m);
}

static void intern_gives_one_id(void **state)
{
	struct intern in = { 0 };
	char text[32];

	assert_int_equal(intern_text(&in, "a"), 1); /* 0 is "" */
	assert_int_equal(intern_text(&in, ""), 0);
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name%d", i);
		assert_int_equal(intern_text(&in, text), i + 2);
	}
	assert_int_equal(intern_text(&in, "name4321"), 4323);
	assert_string_equal(intern_get(&in, 4323), "name4321");
	assert_int_equal(intern_bytes(&in, "a\0b", 3), 5002);
	assert_int_equal(intern_length(&in, 5002), 3);
	assert_string_equal(intern_get(&in, 999999), "");
	/* Known: nothing is borrowed. */
	assert_int_equal(intern_put(&in, "name4321", 8, INTERN_LASTING), 4323);
	assert_int_equal(intern_put(&in, text, 3, INTERN_LASTING), 5003);
	assert_ptr_equal(intern_get(&in, 5003), text);
	assert_int_equal(intern_bytes(&in, "nam", 3), 5003);
	assert_ptr_equal(intern_get(&in, 5003), text);
	/* Borrowed until it is met again. */
	assert_int_equal(intern_put(&in, text + 1, 3, INTERN_ONCE), 5004);
	assert_ptr_equal(intern_get(&in, 5004), text + 1);
	assert_int_equal(intern_bytes(&in, text, 3), 5003);
	assert_ptr_equal(intern_get(&in, 5004), text + 1);
	assert_int_equal(intern_put(&in, text + 1, 3, INTERN_ONCE), 5004);
	assert_ptr_not_equal(intern_get(&in, 5004), text + 1);
	assert_string_equal(intern_get(&in, 5004), "ame");
	assert_int_equal(intern_length(&in, 5004), 3);
	/* Not looked at: it is the same although its bytes are others by now. */
	assert_int_equal(intern_put(&in, text, 2, INTERN_FAR), 5005);
	memset(text, '?', sizeof(text) - 1);
	assert_int_equal(intern_bytes(&in, "na", 2), 5005);
	assert_int_equal(intern_put(&in, "na", 2, INTERN_FAR), 5005);
	assert_ptr_equal(intern_get(&in, 5005), text);
	assert_int_equal(intern_put(&in, "n?", 2, INTERN_FAR), 5006);
	intern_free(&in);
}

/* The table grows between the question and the answer, and equal strings are asked for at once. */
static void intern_in_steps(void **state)
{
	static const char *const words[] = { "b", "a", "b", "", "c" };
	static const uint32_t ids[] = { 5002, 1, 5002, 0, 5003 };
	struct intern in = { 0 };
	uint64_t asked[5];
	char text[16];

	(void)state;
	asked[1] = intern_ask(&in, "a", 1);
	assert_int_equal(intern_put_asked(&in, "a", 1, asked[1], INTERN_COPY), 1);
	for (int i = 0; i < 5; i++)
		asked[i] = intern_ask(&in, words[i], strlen(words[i]));
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name%d", i);
		assert_int_equal(intern_text(&in, text), i + 2);
	}
	for (int i = 0; i < 5; i++)
		intern_ask_again(&in, asked[i]);
	for (int i = 0; i < 5; i++)
		assert_int_equal(intern_put_asked(&in, words[i], strlen(words[i]), asked[i],
		                                  INTERN_COPY),
		                 ids[i]);
	assert_int_equal(intern_text(&in, "c"), 5003);
	intern_free(&in);
}

/* Every length, at its ends, as printf says it; nothing behind the digits is touched. */
static void digits_are_those_of_printf(void **state)
{
	char want[64], got[64];

	for (unsigned bit = 0; bit < 64; bit++) {
		for (int step = -1; step <= 1; step++) {
			uint64_t power = 1, v = (1ULL << bit) + (uint64_t)step;

			for (unsigned i = 0; i < bit % 20; i++)
				power *= 10;
			for (unsigned round = 0; round < 2; round++, v = power + (uint64_t)step) {
				unsigned n = digits_count(v), hex = digits_hex_count(v);

				memset(got, '#', sizeof(got));
				digits_put(got, n, v);
				snprintf(want, sizeof(want), "%llu#", (unsigned long long)v);
				assert_memory_equal(got, want, strlen(want));
				digits_put(got, 24, v);
				snprintf(want, sizeof(want), "%024llu#", (unsigned long long)v);
				assert_memory_equal(got, want, strlen(want));
				memset(got, '#', sizeof(got));
				digits_put_hex(got, hex, v);
				snprintf(want, sizeof(want), "%llx#", (unsigned long long)v);
				assert_memory_equal(got, want, strlen(want));
				digits_put_hex(got, 16, v);
				snprintf(want, sizeof(want), "%016llx#", (unsigned long long)v);
				assert_memory_equal(got, want, strlen(want));
				memset(got, '#', sizeof(got));
				digits_put_hex16(got, v);
				assert_memory_equal(got, want, strlen(want));
				memset(got, '#', sizeof(got));
				digits_put_hex_right(got, v);
				snprintf(want, sizeof(want), "%16llx#", (unsigned long long)v);
				assert_memory_equal(got, want, strlen(want));
			}
		}
	}
	for (unsigned v = 0; v < 256; v++) {
		snprintf(want, sizeof(want), " %02x", v);
		assert_memory_equal(digits_bytes + v * 3, want, 3);
	}
}

/* Every byte at every place among 16; nothing behind them is touched. */
static void digits_of_16_bytes_are_those_of_printf(void **state)
{
	char want[64], got[64];
	unsigned char bytes[16];

	for (unsigned first = 0; first < 256; first++) {
		for (unsigned i = 0; i < 16; i++) {
			bytes[i] = (unsigned char)(first + i * 17);
			snprintf(want + i * 3, 4, " %02x", bytes[i]);
		}
		want[48] = '#';
		memset(got, '#', sizeof(got));
		digits_put_bytes16(got, bytes);
		assert_memory_equal(got, want, 49);
	}
}

/* The same into a buf, which grows meanwhile, and with a sign. */
static void buf_puts_numbers_as_printf(void **state)
{
	static const uint64_t edges[] = { 0,          1,         9,          10,        99,
		                          100,        9999,      10000,      99999999,  100000000,
		                          UINT32_MAX, INT64_MAX, 1ULL << 63, UINT64_MAX };
	struct buf b = { 0 }, full = { .failed = true };
	char want[2048];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		int64_t v = (int64_t)edges[i], minus = (int64_t)(0 - edges[i]);

		buf_put_decimal(&b, edges[i]);
		buf_put_signed(&b, v);
		buf_put_signed(&b, minus);
		n += (size_t)snprintf(want + n, sizeof(want) - n, "%" PRIu64 "%" PRId64 "%" PRId64,
		                      edges[i], v, minus);
	}
	assert_in_range(n, 1, sizeof(want) - 1);
	assert_int_equal(b.n, n);
	assert_memory_equal(b.bytes, want, n);
	buf_free(&b);
	assert_int_equal(buf_put_decimal(&full, 1), -ENOMEM);
	assert_int_equal(buf_put_signed(&full, -1), -ENOMEM);
	assert_int_equal(full.n, 0);
}

static void json_numbers(void **state)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };

	json_open(&j, '[');
	json_u64(&j, UINT64_MAX);
	json_u64(&j, 0);
	json_i64(&j, INT64_MIN);
	json_i64(&j, -1);
	json_i64(&j, INT64_MAX);
	json_hex(&j, 0);
	json_hex(&j, UINT64_MAX);
	json_close(&j, ']');
	assert_string_equal(buf_text(&out), "[18446744073709551615,0,-9223372036854775808,-1,"
	                                    "9223372036854775807,\"0x0\",\"0xffffffffffffffff\"]");
	buf_free(&out);
}

static void pool_gives_one_id(void **state)
{
	struct pool p = { .size = 12 };
	uint32_t thing[3] = { 0 };
	const void *first;

	assert_int_equal(pool_put(&p, thing), 1); /* all zero is a thing, too */
	first = pool_at(&p, 1);
	for (uint32_t i = 1; i < 3 * POOL_BLOCK; i++) {
		thing[i % 3] = i;
		assert_int_equal(pool_put(&p, thing), i + 1);
		assert_int_equal(pool_put(&p, thing), i + 1);
	}
	assert_int_equal(p.n, 3 * POOL_BLOCK);
	assert_ptr_equal(pool_at(&p, 1), first);
	assert_memory_equal(pool_at(&p, p.n), thing, sizeof(thing));
	memset(thing, 0, sizeof(thing));
	assert_int_equal(pool_put(&p, thing), 1);
	pool_free(&p);
	assert_int_equal(pool_put(&p, thing), 1); /* may be used again */
	pool_free(&p);
}

static void pool_adds_unasked(void **state)
{
	struct pool p = { .size = 8 };

	for (uint64_t i = 0; i < 3 * POOL_BLOCK; i++) {
		const uint64_t thing = i / 4;

		/* One of four is asked for, and is not one of those that were added. */
		if (i % 4 == 3)
			assert_int_equal(pool_put(&p, &thing), i + 1);
		else
			assert_int_equal(pool_add(&p, &thing), i + 1);
	}
	for (uint64_t i = 0; i < 3 * POOL_BLOCK; i++) {
		const uint64_t thing = i / 4;

		assert_memory_equal(pool_at(&p, (uint32_t)i + 1), &thing, sizeof(thing));
		assert_int_equal(pool_put(&p, &thing), i / 4 * 4 + 4);
	}
	assert_int_equal(p.n, 3 * POOL_BLOCK);
	pool_free(&p);
}

/* Digests as Python's hashlib gives them; in pieces or at once. */
static void blake2_is_that_of_the_rfc(void **state)
{
	static const struct {
		size_t n;
		const char *hex;
	} cases[] = {
		{ 0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8" },
		{ 1, "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314" },
		{ 128, "14696d2a98d9f8a280da8b132b1045b345e1033759c6b02fcc4ee885c8ae7c37" },
		{ 129, "3934215260b1039be9d9d2b073b059bcd50120c327a22af93eb4d98cf821c14c" },
		{ 256, "3d0cb2693dfbac42af5a6cc960953fea8714aa39c4bcd054ef61d6b5e98ade4a" },
		{ 1000, "38981cec8fd0971914a759c4fac0538dbb29495eec4aea07f277e1f5f8562d27" },
	};
	static const size_t steps[] = { 1, 13, 128, 200, 1000 };
	unsigned char bytes[1000], digest[BLAKE2_BYTES];
	char hex[BLAKE2_HEX];
	struct blake2 b;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7 + (i >> 8));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t j = 0; j < sizeof(steps) / sizeof(steps[0]); j++) {
			size_t n = cases[i].n, step = steps[j];

			blake2_start(&b);
			for (size_t at = 0; at < n; at += step)
				blake2_add(&b, bytes + at, step < n - at ? step : n - at);
			blake2_end(&b, digest);
			assert_string_equal(blake2_hex(digest, hex), cases[i].hex);
		}
	}
}

static void quick_hash_minds_every_byte(void **state)
{
	const uint64_t secret = 0xdeadbeefcafef00dULL;
	unsigned char bytes[80] = { 0 };
	struct map seen = { 0 };
	bool is_new;

	for (size_t n = 0; n <= sizeof(bytes); n++) {
		for (size_t i = 0; i <= n; i++) { /* i == n: all are 0 */
			if (i < n)
				bytes[i] = 1;
			assert_non_null(map_slot(&seen, map_hash_quick(bytes, n, secret), &is_new));
			assert_true(is_new);
			if (i < n)
				bytes[i] = 0;
		}
	}
	assert_int_not_equal(map_hash_quick("a", 1, secret), map_hash_quick("a", 1, ~secret));
	map_free(&seen);
}

/* The first and the last of each length, and what is next to them. */
static void utf8_is_well_formed(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} cases[] = {
		{ "\x7f", 1 },
		{ "\x80", 0 },             /* goes on with what did not begin */
		{ "\xc1\xbf", 0 },         /* overlong */
		{ "\xc2\x80", 2 },         /* U+0080 */
		{ "\xdf\xbf", 2 },         /* U+07FF */
		{ "\xc2\x7f", 0 },         /* does not go on */
		{ "\xe0\x9f\xbf", 0 },     /* overlong */
		{ "\xe0\xa0\x80", 3 },     /* U+0800 */
		{ "\xed\x9f\xbf", 3 },     /* U+D7FF */
		{ "\xed\xa0\x80", 0 },     /* a surrogate */
		{ "\xed\xbf\xbf", 0 },     /* a surrogate */
		{ "\xee\x80\x80", 3 },     /* U+E000 */
		{ "\xef\xbf\xbf", 3 },     /* U+FFFF */
		{ "\xf0\x8f\xbf\xbf", 0 }, /* overlong */
		{ "\xf0\x90\x80\x80", 4 }, /* U+10000 */
		{ "\xf4\x8f\xbf\xbf", 4 }, /* U+10FFFF */
		{ "\xf4\x90\x80\x80", 0 }, /* beyond */
		{ "\xf8\x88\x80\x80", 0 },
		{ "\xff", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = strlen(cases[i].bytes);
		unsigned char *p = malloc(n); /* not a byte more may be read */

		assert_non_null(p);
		memcpy(p, cases[i].bytes, n);
		assert_int_equal(utf8_sequence(p, n), cases[i].n);
		for (size_t less = 1; less < n; less++)
			assert_int_equal(utf8_sequence(p, less), 0);
		free(p);
	}
	assert_int_equal(utf8_sequence((const unsigned char *)"", 1), 1); /* NUL */
	assert_int_equal(utf8_sequence((const unsigned char *)"ab", 2), 1);
}

static void json_escapes(void **state)
{
	struct buf b = { 0 };
	struct json j = { .out = &b };

	json_open(&j, '{');
	json_key(&j, "a\"b");
	json_string(&j, "</script>\n\x01\\\xff\xc3\xa4\xed\xa0\x80");
	json_key(&j, "list");
	json_open(&j, '[');
	json_u64(&j, UINT64_MAX);
	json_i64(&j, -3);
	json_double(&j, 0.125, 2);
	json_bool(&j, true);
	json_string(&j, NULL);
	json_open(&j, '{');
	json_close(&j, '}');
	json_close(&j, ']');
	json_key(&j, "hex");
	json_hex(&j, 0xfd80);
	json_close(&j, '}');
	assert_string_equal(
	        buf_text(&b),
	        "{\"a\\\"b\":\"\\u003c/script>\\n\\u0001\\\\\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef"
	        "\xbf\xbd\xef\xbf\xbd\",\"list\":[18446744073709551615,-3,0.12,true,null,{}],"
	        "\"hex\":\"0xfd80\"}");
	buf_free(&b);
}

static void error_says_where(void **state)
{
	struct seam_error err = { 0 };
	char path[600];

	assert_int_equal(seam_error_set(&err, EBADMSG, "perf.data", 0x1a38, "MMAP2",
	                                "%d bytes, need %d", 40, 72),
	                 -EBADMSG);
	assert_string_equal(err.text, "perf.data: offset 0x1a38: MMAP2: 40 bytes, need 72");
	assert_int_equal(err.code, EBADMSG);
	assert_int_equal(seam_error_set(NULL, EIO, NULL, 0, NULL, "x"), -EIO);
	seam_error_set(&err, EIO, NULL, SEAM_NO_OFFSET, NULL, "only this");
	assert_string_equal(err.text, "only this");
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	seam_error_set(&err, EIO, path, 1, path, "%s", path);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_memory_equal(err.path, "...ppp", 6);
}

/* Pages of a block in a file come by pieces, not one by one. */
static void blocks_take_pieces(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), most = 64;
	struct blocks b = { .size = 16, .held = 1 };
	unsigned char known[64];
	uintptr_t thing;
	void *advised;
	size_t in = 0;

	(void)state;
	advised = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(advised != MAP_FAILED);
	if (madvise(advised, page, MADV_POPULATE_WRITE) < 0) /* before Linux 5.14 */
		skip();
	munmap(advised, page);
	while (b.n < BLOCKS_THINGS)
		assert_non_null(blocks_add(&b));
	thing = (uintptr_t)blocks_add(&b);
	assert_true(thing);
	assert_int_equal(mincore((void *)(thing / page * page), most / 4 * page, known), 0);
	for (size_t i = 0; i < most / 4; i++)
		in += known[i] & 1;
	assert_int_equal(in, most / 4); /* 4,096 things of 16 bytes */
	blocks_free(&b);
}

/* Things stay where they are and what they are, in memory, in the file, and after a rest. */
static void blocks_keep_things(void **state)
{
	struct blocks b = { .size = sizeof(uint64_t), .held = 2 };
	uint64_t n = 5 * BLOCKS_THINGS + 7, *first = NULL;

	(void)state;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t *thing = blocks_add(&b);

		assert_non_null(thing);
		first = i ? first : thing;
		*thing = i * 3;
	}
	assert_int_equal(b.n, n);
	assert_ptr_equal(blocks_at(&b, 0), first);
	blocks_rest(&b, 0, SIZE_MAX);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(*(uint64_t *)blocks_at(&b, i), i * 3);
	/* Where there is no place for a file, all is in memory. */
	assert_true(blocks_bytes(&b) == 2 * 8 * BLOCKS_THINGS ||
	            blocks_bytes(&b) == 6 * 8 * BLOCKS_THINGS);
	blocks_free(&b);
	assert_int_equal(b.n, 0);
	assert_non_null(blocks_add(&b));
	blocks_free(&b);
}

/* A process that may run on one CPU starts threads for one. */
static void cpus_are_those_that_may_be_used(void **state)
{
	cpu_set_t before, one;

	assert_int_equal(0, sched_getaffinity(0, sizeof(before), &before));
	assert_int_equal((unsigned)CPU_COUNT(&before), cpus_usable());
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(0, sched_setaffinity(0, sizeof(one), &one));
	assert_int_equal(1, cpus_usable());
	assert_int_equal(0, sched_setaffinity(0, sizeof(before), &before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cursor_reads_both_orders),
		cmocka_unit_test(cursor_failure_sticks),
		cmocka_unit_test(buf_grows_and_prints),
		cmocka_unit_test(cpus_are_those_that_may_be_used),
		cmocka_unit_test(arena_keeps_pointers),
		cmocka_unit_test(blocks_keep_things),
		cmocka_unit_test(blocks_take_pieces),
		cmocka_unit_test(map_holds_any_key),
		cmocka_unit_test(map_survives_churn),
		cmocka_unit_test(map_agrees_with_a_model),
		cmocka_unit_test(intern_gives_one_id),
		cmocka_unit_test(intern_in_steps),
		cmocka_unit_test(digits_are_those_of_printf),
		cmocka_unit_test(digits_of_16_bytes_are_those_of_printf),
		cmocka_unit_test(buf_puts_numbers_as_printf),
		cmocka_unit_test(json_numbers),
		cmocka_unit_test(pool_gives_one_id),
		cmocka_unit_test(pool_adds_unasked),
		cmocka_unit_test(quick_hash_minds_every_byte),
		cmocka_unit_test(blake2_is_that_of_the_rfc),
		cmocka_unit_test(utf8_is_well_formed),
		cmocka_unit_test(json_escapes),
		cmocka_unit_test(error_says_where),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
