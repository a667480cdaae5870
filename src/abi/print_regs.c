// SPDX-License-Identifier: MIT
/*
 * print_regs.c: names of the registers that a sample's mask counts, per machine (PERF_REG_*).
 *
 * A number means something else on each machine, so the recording's own machine is asked for, which
 * may not be this one. NULL stands for a number without a name; vg of arm64 is number 46.
 */
#include <string.h>

#include "abi/print.h"

#define REGS_OF(names) names, sizeof(names) / sizeof(*(names))

static const char *const regs_x86[] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP",  "SP",  "IP",  "FLAGS", "CS",  "SS",
	"DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13",   "R14", "R15",
};

static const char *const regs_arm[] = {
	"r0", "r1", "r2",  "r3", "r4", "r5", "r6", "r7",
	"r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc",
};

static const char *const regs_arm64[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",        "x10", "x11",
	"x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",       "x22", "x23",
	"x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc",  [46] = "vg",
};

static const char *const regs_powerpc[] = {
	"r0",   "r1",  "r2",  "r3",    "r4",   "r5",  "r6",    "r7",      "r8",
	"r9",   "r10", "r11", "r12",   "r13",  "r14", "r15",   "r16",     "r17",
	"r18",  "r19", "r20", "r21",   "r22",  "r23", "r24",   "r25",     "r26",
	"r27",  "r28", "r29", "r30",   "r31",  "nip", "msr",   "orig_r3", "ctr",
	"link", "xer", "ccr", "softe", "trap", "dar", "dsisr", "sier",    "mmcra",
};

static const char *const regs_s390[] = {
	"R0",  "R1",  "R2",   "R3",   "R4",   "R5",   "R6",   "R7",   "R8",   "R9",  "R10", "R11",
	"R12", "R13", "R14",  "R15",  "FP0",  "FP1",  "FP2",  "FP3",  "FP4",  "FP5", "FP6", "FP7",
	"FP8", "FP9", "FP10", "FP11", "FP12", "FP13", "FP14", "FP15", "MASK", "PC",
};

static const char *const regs_riscv[] = {
	"pc", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
	"a1", "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
	"s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

static const struct {
	const char *prefix; /* of what uname -m says */
	const char *const *names;
	size_t n;
} regs_machines[] = {
	{ "x86_64", REGS_OF(regs_x86) },  { "i386", REGS_OF(regs_x86) },
	{ "i486", REGS_OF(regs_x86) },    { "i586", REGS_OF(regs_x86) },
	{ "i686", REGS_OF(regs_x86) },    { "aarch64", REGS_OF(regs_arm64) },
	{ "arm64", REGS_OF(regs_arm64) }, { "arm", REGS_OF(regs_arm) },
	{ "ppc", REGS_OF(regs_powerpc) }, { "s390", REGS_OF(regs_s390) },
	{ "riscv", REGS_OF(regs_riscv) },
};

/* The prefix decides: "armv7l" is arm, "s390x" s390, "riscv64" riscv. arm64 stands before arm in
 * the table, because the first row that fits wins. */
const char *print_reg_name(const char *arch, unsigned reg)
{
	for (size_t i = 0; arch && i < sizeof(regs_machines) / sizeof(*regs_machines); i++)
		if (!strncmp(arch, regs_machines[i].prefix, strlen(regs_machines[i].prefix)))
			return reg < regs_machines[i].n ? regs_machines[i].names[reg] : NULL;
	return NULL;
}
