// SPDX-License-Identifier: MIT
/*
 * abi_corpus.c: the corpus of fuzz/fuzz_decode.c as an ordinary test, and the maker of its seeds:
 *
 *	test_abi_corpus --seeds fuzz/corpus/decode --dictionary fuzz/decode.dict
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fuzz/fuzz_decode.c"
#include "../swap.h"
#include "corpus.h"

static void corpus_runs(void **state)
{
	corpus_run("decode", 50, corpus_plain, LLVMFuzzerTestOneInput);
}

/* ---- seeds ---- */

static void seed_write(const char *folder, const char *name, const struct seam_attr *attr,
                       struct buf *record, bool swap)
{
	struct seam_attr a = *attr;
	struct buf out = { 0 };
	char path[1024];
	FILE *f;

	if (swap) {
		swap_record(record->bytes, record->n, attr);
		swap_attr((unsigned char *)&a, SEAM_ATTR_SIZE);
	}
	buf_put(&out, (unsigned char[]){ swap, 1, SEAM_ATTR_SIZE }, 3);
	buf_put(&out, &a, SEAM_ATTR_SIZE);
	buf_put(&out, record->bytes, record->n);
	snprintf(path, sizeof(path), "%s/%s%s", folder, name, swap ? "-swapped" : "");
	f = fopen(path, "wb");
	if (!f || fwrite(out.bytes, 1, out.n, f) != out.n || fclose(f)) {
		perror(path);
		exit(1);
	}
	buf_free(&out);
}

static const struct seam_attr seed_attr = {
	.size = 144,
	.sample_type = SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_IDENTIFIER,
	.flags = SEAM_ATTR_SAMPLE_ID_ALL,
};

/* A record of each type: counts of 1, strings of one letter. */
static void seed_fields(struct buf *out, const char *list)
{
	struct field f;

	while (fields_next(&list, &f)) {
		unsigned char bytes[512] = { f.kind == 's' ? 'a' : 1 };

		if (f.kind == 'a') {
			encode_attr(out, &seed_attr);
			continue;
		}
		buf_put(out, bytes, f.width ? f.width : 8);
		if (f.kind == 'n')
			seed_fields(out, f.group);
	}
}

static void seed_types(const char *folder)
{
	for (uint32_t type = 0; type < 128; type++) {
		for (int swap = 0; swap < 2; swap++) {
			struct buf b = { 0 };
			size_t start;

			if (!seam_record_name(type) || type == SEAM_RECORD_SAMPLE ||
			    (swap && type >= SEAM_RECORD_USER_FIRST))
				continue;
			start = encode_begin(&b, type, 2);
			seed_fields(&b, fields_of(type));
			encode_end_id(&b, start, type < SEAM_RECORD_USER_FIRST ? &seed_attr : NULL,
			              NULL);
			seed_write(folder, seam_record_name(type), &seed_attr, &b, swap);
			buf_free(&b);
		}
	}
}

/* A sample for each bit, with one of each array. */
static void seed_samples(const char *folder)
{
	static const uint64_t words[] = { SEAM_CONTEXT_USER_DEFERRED, 0x300000002, 3, 4 };
	struct seam_sample s = {
		.ip = 1,
		.read = { .n = 1, .values = encode_words(words, 3) },
		.callchain = encode_words(words, 2),
		.raw = { .bytes = (const unsigned char *)words, .n = 4 },
		.branches = { .n = 1,
		              .has_hw_idx = true,
		              .entries = encode_words(words, 3),
		              .counters = encode_words(words, 1) },
		.regs_user = { .abi = 2, .values = encode_words(words, 2) },
		.regs_intr = { .abi = 1, .values = encode_words(words, 2) },
		.stack_user = { .bytes = (const unsigned char *)words, .n = 8 },
		.stack_user_size = 16,
		.aux = { .bytes = (const unsigned char *)words, .n = 8 },
	};

	for (unsigned bit = 0; bit < 26; bit++) {
		for (int swap = 0; swap < 2; swap++) {
			struct seam_attr a = {
				.size = 144,
				.sample_type = bit == 25 ? (1ULL << 24) - 1 : 1ULL << bit,
				.read_format = bit == 25 ? 31 - 3 : 4 + 16,
				.branch_sample_type = 1ULL << 17 | 1ULL << 19,
				.sample_regs_user = 5,
				.sample_regs_intr = 6,
			};
			struct buf b = { 0 };
			char name[32];

			snprintf(name, sizeof(name), "SAMPLE-%u", bit);
			if (encode_sample(&b, &a, 2, &s) < 0)
				exit(1);
			seed_write(folder, name, &a, &b, swap);
			buf_free(&b);
		}
	}
}

/* Record types, sample bits and markers, as libFuzzer's dictionary has them. */
static void seed_dictionary(const char *path)
{
	static const uint64_t words[] = { SEAM_CONTEXT_KERNEL,        SEAM_CONTEXT_USER,
		                          SEAM_CONTEXT_USER_DEFERRED, UINT64_MAX,
		                          0x2000000000000001,         0xaaaaaaaaaaaaaab };
	FILE *f = fopen(path, "w");

	if (!f) {
		perror(path);
		exit(1);
	}
#define RECORD(id, symbol, name, least, decoder, printer, fields)                          \
	fprintf(f, "%s=\"\\x%02x\\x00\\x00\\x00\\x02\\x00\\x%02x\\x%02x\"\n", #symbol, id, \
	        (least)&255, (least) >> 8);
#include "abi/records.def"
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		fprintf(f, "word%zu=\"", i);
		for (unsigned byte = 0; byte < 8; byte++)
			fprintf(f, "\\x%02x", (unsigned)(words[i] >> (8 * byte) & 255));
		fprintf(f, "\"\n");
	}
	fclose(f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(corpus_runs) };

	if (argc == 5 && !strcmp(argv[1], "--seeds") && !strcmp(argv[3], "--dictionary")) {
		seed_types(argv[2]);
		seed_samples(argv[2]);
		seed_dictionary(argv[4]);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
