// SPDX-License-Identifier: MIT
/*
 * turns_part.c: one of the libraries that take turns at one address (turns.c). PART names it; ROOM,
 * PAD make its frames and its code unlike the others', so that a rule of another one is wrong here.
 */
#define KEEP __attribute__((noinline, noclone))
#define JOIN2(a, b) part_##a##b
#define JOIN(a, b) JOIN2(a, b)

/* Takes the place of code: what stands at an offset differs from library to library. */
__asm__(".text\n.fill " PAD ", 1, 0x90\n");

KEEP static void JOIN(PART, _leaf)(const volatile int *stop, volatile unsigned long *sum)
{
	volatile char room[ROOM];

	room[0] = 1;
	while (!*stop)
		*sum += (unsigned char)room[0];
}

KEEP static void JOIN(PART, _middle)(const volatile int *stop, volatile unsigned long *sum)
{
	volatile char room[ROOM * 3 + 40];

	room[0] = 1;
	JOIN(PART, _leaf)(stop, sum);
	*sum += (unsigned char)room[0];
}

/* What the program asks for by this name. */
KEEP void part_enter(const volatile int *stop, volatile unsigned long *sum)
{
	volatile char room[ROOM * 2 + 8];

	room[0] = 1;
	JOIN(PART, _middle)(stop, sum);
	*sum += (unsigned char)room[0];
}
