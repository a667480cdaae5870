// SPDX-License-Identifier: MIT
/* walk_registers.c: perf's numbers of registers and DWARF's. A sample has its registers by perf's
 * numbers, as many as its event's mask has bits; unwind information has DWARF's. */
#include "unwind/walk.h"

/* values: one word for each bit of the mask, in ascending order, as the kernel writes them into a
 * sample. */
bool walk_registers_from_perf(uint32_t machine, uint64_t mask, const uint64_t *values,
                              struct walk_registers *ret)
{
	/* PERF_REG_X86_*: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8-r15 -> DWARF; 255:
	 * not an unwinder's */
	static const uint8_t x86[24] = { 0,   3,   2,   1,   4, 5, 6,  7,  16, 255, 255, 255,
		                         255, 255, 255, 255, 8, 9, 10, 11, 12, 13,  14,  15 };
	/* Without sp and pc no walk can begin. */
	uint64_t need =
	        machine == FRAMETAB_X86_64 ? 1ULL << 7 | 1ULL << 16 : 1ULL << 31 | 1ULL << 32;

	*ret = (struct walk_registers){ 0 };
	for (; mask; mask &= mask - 1) {
		const unsigned bit = (unsigned)__builtin_ctzll(mask);
		const unsigned number = machine == FRAMETAB_X86_64 ? (bit < 24 ? x86[bit] : 255)
		                                                   : (bit < 33 ? bit : 255);

		if (number < WALK_REGISTERS) {
			ret->value[number] = *values;
			ret->known |= 1ULL << number;
		}
		values++;
	}
	return (ret->known & need) == need;
}
