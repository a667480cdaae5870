// SPDX-License-Identifier: MIT
/*
 * unwind_sframe.c: the rules of an object by its .sframe beside those by its .eh_frame, at every
 * address.
 *
 *	system_unwind_sframe FILE...    prints a JSON object for each; fails when a rule differs
 *
 * tests/system/unwind_sframe.py builds files with Debian's assemblers. Callee-saved registers,
 * which SFrame does not have, are left out, and so is a rule that .sframe does not have (counted).
 * Without arguments: 77.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "unwind/compile.h"
#include "unwind/frametab.h"

static bool open_section(struct image *image, const char *name, struct compile_section *ret)
{
	struct image_section section;

	if (image_section(image, name, &section) < 0 || !section.bytes)
		return false;
	*ret = (struct compile_section){ section.bytes, section.n, section.vaddr };
	return true;
}

static bool at_equal(uint8_t a, int32_t a_off, uint8_t b, int32_t b_off)
{
	return a == b && (a == FRAMETAB_AT_SAME || a == FRAMETAB_AT_UNDEFINED || a_off == b_off);
}

static bool rule_equal(const struct frametab_rule *a, const struct frametab_rule *b)
{
	if (a->ra == FRAMETAB_AT_UNDEFINED || b->ra == FRAMETAB_AT_UNDEFINED)
		return a->ra == b->ra;
	return a->cfa == b->cfa && a->cfa_reg == b->cfa_reg && a->cfa_off == b->cfa_off &&
	       a->cfa_add == b->cfa_add && at_equal(a->ra, a->ra_off, b->ra, b->ra_off) &&
	       at_equal(a->fp, a->fp_off, b->fp, b->fp_off) &&
	       !((a->flags ^ b->flags) & (FRAMETAB_SIGNAL_FRAME | FRAMETAB_MANGLED_RA));
}

/* The PLT: .sframe lists the two halves of an entry, .eh_frame has an expression; compared by what
 * they come to. */
static int64_t rule_cfa_off(const struct frametab_rule *r, uint64_t pc)
{
	return r->cfa_off +
	       (r->cfa == FRAMETAB_CFA_PLT && (pc & 15) >= (uint64_t)r->cfa_add ? 8 : 0);
}

static struct frametab_rule rule_plain(const struct frametab_rule *r, uint64_t pc)
{
	struct frametab_rule plain = *r;

	if (r->cfa == FRAMETAB_CFA_PLT) {
		plain.cfa = FRAMETAB_CFA_SP;
		plain.cfa_off = (int32_t)rule_cfa_off(r, pc);
		plain.cfa_add = 0;
	}
	return plain;
}

static void print_rule(const char *name, const struct frametab_rule *r)
{
	fprintf(stderr, "    %-9s cfa %u reg %u %d %d, ra %u %d, fp %u %d, flags %u\n", name,
	        r->cfa, r->cfa_reg, r->cfa_off, r->cfa_add, r->ra, r->ra_off, r->fp, r->fp_off,
	        r->flags);
}

static int make_table(struct compile_input in, const char *section, struct image *image,
                      struct buf *blob, struct frametab *ret)
{
	struct seam_error err = { 0 };
	bool sframe = !strcmp(section, ".sframe");

	if (!open_section(image, section, sframe ? &in.sframe : &in.eh_frame)) {
		fprintf(stderr, "no %s\n", section);
		return -1;
	}
	if (compile_table(&in, blob, &err) < 0 ||
	    frametab_open(ret, blob->bytes, blob->n, &err) < 0) {
		fprintf(stderr, "%s: %s\n", section, err.text);
		return -1;
	}
	return 0;
}

static int compare(const char *path)
{
	uint64_t both = 0, equal = 0, without = 0, only = 0;
	struct buf eh_blob = { 0 }, sframe_blob = { 0 };
	struct frametab eh, sframe;
	struct compile_input in = { 0 };
	struct image *image;
	struct seam_error err = { 0 };
	unsigned shown = 0;

	if (image_open(&image, path, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	in.machine = image_machine(image);
	for (size_t i = 0; i < image_segments(image) && in.n_ranges < COMPILE_RANGES_MAX; i++) {
		const struct image_segment *s = image_segment_at(image, i);

		if (s->executable)
			in.ranges[in.n_ranges++] =
			        (struct compile_range){ s->vaddr, s->vaddr + s->memory_size };
	}
	if (make_table(in, ".eh_frame", image, &eh_blob, &eh) < 0 ||
	    make_table(in, ".sframe", image, &sframe_blob, &sframe) < 0)
		return 1;
	for (size_t i = 0; i < in.n_ranges; i++) {
		for (uint64_t pc = in.ranges[i].start; pc < in.ranges[i].end; pc++) {
			struct frametab_rule a = rule_plain(frametab_find(&eh, pc), pc);
			struct frametab_rule b = rule_plain(frametab_find(&sframe, pc), pc);

			if (a.cfa == FRAMETAB_CFA_NONE || b.cfa == FRAMETAB_CFA_NONE) {
				without += a.cfa != FRAMETAB_CFA_NONE && b.cfa == FRAMETAB_CFA_NONE;
				only += a.cfa == FRAMETAB_CFA_NONE && b.cfa != FRAMETAB_CFA_NONE;
				continue;
			}
			both++;
			if (rule_equal(&a, &b)) {
				equal++;
			} else if (shown++ < 5) {
				fprintf(stderr, "  %s: %#llx\n", path, (unsigned long long)pc);
				print_rule(".eh_frame", &a);
				print_rule(".sframe", &b);
			}
		}
	}
	printf("{\"file\": \"%s\", \"addresses\": %llu, \"equal\": %llu, \"eh_frame_only\": %llu, "
	       "\"sframe_only\": %llu, "
	       "\"skipped\": %u, \"eh_rules\": %u, \"sframe_rules\": %u}\n",
	       path, (unsigned long long)both, (unsigned long long)equal,
	       (unsigned long long)without, (unsigned long long)only, sframe.header->skipped,
	       eh.header->n_rules, sframe.header->n_rules);
	buf_free(&eh_blob);
	buf_free(&sframe_blob);
	image_close(image);
	return equal != both || !both;
}

int main(int argc, char **argv)
{
	int r = 0;

	if (argc < 2) {
		fprintf(stderr, "a tool of tests/system/unwind_sframe.py\n");
		return 77;
	}
	for (int i = 1; i < argc; i++)
		r |= compare(argv[i]);
	return r;
}
