// SPDX-License-Identifier: MIT
// scenes.c: a program whose mappings change all the time, with a stack that is known in each scene.
// Built without frame pointers by live.sh, which checks every sample against scenes.py. Usage:
// scenes MILLISECONDS | exec N The milliseconds are of the CPU, its own and its children's.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../work.h"

/* Of a leaf: more than the period of a sample, so that a thread or a process of this and nothing
 * else has one. */
#define LEAF_MS 1.5

#define SCENE __attribute__((noinline, noipa))

static volatile unsigned long sink;

static void work(void)
{
	for (uint64_t end = work_until(LEAF_MS); work_goes_on(end);)
		for (unsigned long i = 0, n = work_loops(20000); i < n; i++)
			sink += i * i;
}

/* One leaf a scene, each with a frame of its own. */
#define LEAF(name, words)                                   \
	SCENE void name(void);                              \
	SCENE void name(void)                               \
	{                                                   \
		volatile unsigned long room[words] = { 0 }; \
		work();                                     \
		sink += room[(words)-1];                    \
	}
LEAF(spin_dl, 3)
LEAF(spin_jit, 5)
LEAF(spin_exec, 9)
LEAF(spin_thread, 17)
LEAF(spin_fork, 33)

/* Two objects, one after the other, mostly at the same address and with frames of other sizes. */
SCENE static void call_plug(const char *path)
{
	void *plug = dlopen(path, RTLD_NOW);
	void (*run)(void (*)(void)) = plug ? (void (*)(void (*)(void)))dlsym(plug, "plug") : NULL;

	if (!run) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	run(spin_dl);
	sink++;
	dlclose(plug);
}

/* Code made at run time, with frame pointers; the second with room on the stack, at the same
 * address. */
SCENE static void call_jit(int which)
{
	static const unsigned char code[2][16] = {
		{ 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 },
		{ 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x40, 0xff, 0xd7, 0xc9, 0xc3 },
	};
	void *page = mmap((void *)0x7e0000000000, 4096, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, code[which], 16);
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	((void (*)(void (*)(void)))page)(spin_jit);
	sink++;
	munmap(page, 4096);
}

SCENE static void scene_exec(int left, char *self)
{
	char text[16];

	spin_exec();
	sink++;
	if (!left)
		_exit(0);
	snprintf(text, sizeof(text), "%d", left - 1);
	execl(self, self, "exec", text, (char *)NULL);
	_exit(1);
}

static void *scene_thread(void *arg)
{
	spin_thread();
	sink++;
	return arg;
}

SCENE static void scene_fork(char *self)
{
	pid_t child = fork();

	if (!child) {
		spin_fork();
		sink++;
		execl(self, self, "exec", "3", (char *)NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

SCENE static void scenes(char *self, unsigned turn)
{
	pthread_t threads[4];

	call_plug(turn % 2 ? "./plug_a.so" : "./plug_b.so");
	call_jit((int)(turn % 2));
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, scene_thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	scene_fork(self);
	sink++;
}

static long all_cpu_ms(void)
{
	struct rusage children;

	getrusage(RUSAGE_CHILDREN, &children);
	return (long)(work_cpu_of(CLOCK_PROCESS_CPUTIME_ID) / 1000000) +
	       (children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000 +
	       (children.ru_utime.tv_usec + children.ru_stime.tv_usec) / 1000;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 1000;
	unsigned turn = 0;

	if (argc > 2)
		scene_exec(atoi(argv[2]), argv[0]);
	while (all_cpu_ms() < ms)
		scenes(argv[0], turn++);
	return 0;
}
