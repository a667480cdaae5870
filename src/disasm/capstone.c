// SPDX-License-Identifier: MIT
/* capstone.c: disasm.h through libcapstone, which is loaded when code is first shown. Knows its
 * modes and nothing of what the code is for. One instruction at a time into one cs_insn, so that
 * nothing is allocated while code is shown. Bytes that are no instruction are passed over by the
 * machine's unit and shown as bad. */
#include "disasm/disasm.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/late.h"

/* Its soname has the number of its interface. */
#define CAPSTONE_TEXT(x) #x
#define CAPSTONE_SONAME(major) "libcapstone.so." CAPSTONE_TEXT(major)

#define CAPSTONE_FUNCTIONS(F) \
	F(open)               \
	F(close)              \
	F(option)             \
	F(malloc)             \
	F(free)               \
	F(disasm_iter)

/* The library, once it is loaded; it does not change after that. */
static struct {
	bool there;
#define FUNCTION(name) __typeof__(cs_##name) *name;
	CAPSTONE_FUNCTIONS(FUNCTION)
#undef FUNCTION
} capstone;
static pthread_once_t capstone_once = PTHREAD_ONCE_INIT;

struct disasm {
	csh handle;
	cs_insn *insn; /* filled anew for each instruction */
	unsigned unit; /* bytes passed over where there is no instruction */
};

/* Machines that capstone and seam both know; others have no disassembly. */
static const struct {
	unsigned machine;
	cs_arch arch;
	unsigned mode, unit;
} machines[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64, 1 },     { EM_386, CS_ARCH_X86, CS_MODE_32, 1 },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, 4 }, { EM_ARM, CS_ARCH_ARM, CS_MODE_ARM, 4 },
	{ EM_PPC64, CS_ARCH_PPC, CS_MODE_64, 4 },      { EM_S390, CS_ARCH_SYSZ, 0, 2 },
};

static void capstone_load(void)
{
#define FUNCTION(name) { "cs_" #name, &capstone.name },
	const struct late_symbol symbols[] = { CAPSTONE_FUNCTIONS(FUNCTION) };
#undef FUNCTION

	capstone.there = late_load(CAPSTONE_SONAME(CS_API_MAJOR), symbols,
	                           sizeof(symbols) / sizeof(symbols[0]));
}

/* -ENOTSUP: another machine, or libcapstone was built without it. */
static int capstone_disasm_open(struct disasm *d, unsigned machine, int big_endian)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		unsigned mode = machines[i].mode |
		                (big_endian ? (unsigned)CS_MODE_BIG_ENDIAN : CS_MODE_LITTLE_ENDIAN);

		if (machines[i].machine != machine)
			continue;
		d->unit = machines[i].unit;
		if (capstone.open(machines[i].arch, (cs_mode)mode, &d->handle) != CS_ERR_OK)
			return -ENOTSUP;
		/* AT&T syntax, as objdump shows it by default. */
		if (machines[i].arch == CS_ARCH_X86)
			capstone.option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
		d->insn = capstone.malloc(d->handle);
		return d->insn ? 0 : -ENOMEM;
	}
	return -ENOTSUP;
}

int disasm_new(struct disasm **ret, unsigned machine, int big_endian)
{
	struct disasm *d;
	int r;

	if (disasm_missing())
		return -ENOTSUP;
	d = calloc(1, sizeof(*d));
	r = d ? capstone_disasm_open(d, machine, big_endian) : -ENOMEM;
	if (r < 0) {
		disasm_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

void disasm_free(struct disasm *d)
{
	if (!d)
		return;
	if (d->insn)
		capstone.free(d->insn, 1);
	if (d->handle)
		capstone.close(&d->handle);
	free(d);
}

/* ret->size is never 0 while n is not. */
void disasm_next(struct disasm *d, const unsigned char *bytes, size_t n, uint64_t address,
                 struct disasm_line *ret)
{
	const uint8_t *at = bytes;
	size_t left = n;
	uint64_t next = address;

	ret->address = address;
	/* It moves at, left and next on; the caller goes on by ret->size. */
	if (capstone.disasm_iter(d->handle, &at, &left, &next, d->insn) && d->insn->size &&
	    d->insn->size <= n) {
		ret->size = d->insn->size;
		snprintf(ret->text, sizeof(ret->text), d->insn->op_str[0] ? "%-7s %s" : "%s",
		         d->insn->mnemonic, d->insn->op_str);
		return;
	}
	ret->size = d->unit <= n ? d->unit : (unsigned)n;
	snprintf(ret->text, sizeof(ret->text), "(bad)");
}

const char *disasm_missing(void)
{
	pthread_once(&capstone_once, capstone_load);
	return capstone.there ? NULL : CAPSTONE_SONAME(CS_API_MAJOR) " cannot be loaded";
}
