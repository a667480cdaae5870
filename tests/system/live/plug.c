// SPDX-License-Identifier: MIT
// plug.c: an object that scenes.c loads: INNER and its frame of WORDS words tell the two builds
// apart.
static volatile unsigned long sink;

__attribute__((noinline, noipa)) void INNER(void (*leaf)(void));
__attribute__((noinline, noipa)) void INNER(void (*leaf)(void))
{
	volatile unsigned long room[WORDS] = { 0 };

	leaf();
	sink += room[WORDS - 1];
}

void plug(void (*leaf)(void));
void plug(void (*leaf)(void))
{
	volatile unsigned long room[WORDS * 2] = { 0 };

	INNER(leaf);
	sink += room[WORDS];
}
