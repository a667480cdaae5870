// SPDX-License-Identifier: MIT
/*
 * Stacks whose truth is known. A family F is a fixed chain of 31 functions: F_30 calls F_29 ...
 * calls F_1 calls F_leaf, and every system call that the family makes is made inside F_leaf, by an
 * instruction of F_leaf itself, because libc's wrappers have no frame pointers. So a user stack
 * that shows any frame of F must be F_leaf, F_1, ..., F_30 or end of it from F_k on, without a gap
 * and without a frame of another family, and a kernel part inside F's own system call allows no
 * user part but F's. tests/vm/truth.py checks exactly this; a wrong stitch cannot pass.
 */
#ifndef SEAM_TESTS_VM_TRUTH_H
#define SEAM_TESTS_VM_TRUTH_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

/* No clones and no inlining; the asm keeps the call from becoming a jump, which would drop a
 * frame. */
#define FRAME static __attribute__((noinline, noclone))
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

#define LINK(family, n, next)             \
	FRAME void family##_##n(long arg) \
	{                                 \
		next(arg);                \
		KEEP_FRAME();             \
	}

#define TEN(family, n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, below) \
	LINK(family, n0, below)                                    \
	LINK(family, n1, family##_##n0)                            \
	LINK(family, n2, family##_##n1)                            \
	LINK(family, n3, family##_##n2)                            \
	LINK(family, n4, family##_##n3)                            \
	LINK(family, n5, family##_##n4)                            \
	LINK(family, n6, family##_##n5)                            \
	LINK(family, n7, family##_##n6)                            \
	LINK(family, n8, family##_##n7)                            \
	LINK(family, n9, family##_##n8)

/* Defines family_1 ... family_30 over family_leaf, which stands before it. */
#define FAMILY(family)                                                   \
	TEN(family, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, family##_leaf)        \
	TEN(family, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, family##_10) \
	TEN(family, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, family##_20)

/*
 * The system call as one instruction of the function that uses it. Returns -errno on failure. The
 * stack pointer as an operand makes the compiler set the frame up before it, and take it down
 * after.
 */
register void *stack_pointer __asm__("rsp");
static inline __attribute__((always_inline)) long syscall_here(long number, long a, long b, long c,
                                                               long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result), "+r"(stack_pointer)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
}

/* CPU time of this thread: samples come by it, however busy the host is. */
static inline uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
