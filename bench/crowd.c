// SPDX-License-Identifier: MIT
/*
 * crowd.c: what a recorder finds when it starts on a machine with much on it. Says "ready", and
 * ends, with all that it made, when its standard input does.
 *
 *	crowd processes N             N processes that sleep
 *	crowd threads N               N threads that sleep
 *	crowd mappings N PROCESSES    processes with N executable mappings each
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static int crowd_fails(const char *what)
{
	perror(what);
	return 1;
}

/* Mappings of one page of the file from its beginning: none goes on where another ends, so the
 * kernel joins none. */
static int crowd_map(long n)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && n-- > 0)
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			return -1;
	return fd < 0 ? -1 : close(fd);
}

static int crowd_processes(long n, long mappings)
{
	pid_t parent = getpid();
	int ready[2];
	char byte;

	if (pipe(ready) < 0)
		return crowd_fails("pipe");
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return crowd_fails("fork");
		if (pid > 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent || crowd_map(mappings) < 0)
			_exit(1);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	for (long i = 0; i < n; i++)
		if (read(ready[0], &byte, 1) != 1)
			return crowd_fails("a process is missing");
	return 0;
}

static void *crowd_sleep(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int crowd_threads(long n)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (long i = 0; i < n; i++)
		if (pthread_create(&thread, &attr, crowd_sleep, NULL) != 0)
			return crowd_fails("pthread_create");
	return 0;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	char byte;
	int r = 2;

	signal(SIGCHLD, SIG_IGN);
	if (n > 0 && !strcmp(argv[1], "processes"))
		r = crowd_processes(n, 0);
	else if (n > 0 && !strcmp(argv[1], "threads"))
		r = crowd_threads(n);
	else if (n > 0 && argc > 3 && !strcmp(argv[1], "mappings"))
		r = crowd_processes(strtol(argv[3], NULL, 10), n);
	if (r == 2)
		fprintf(stderr, "usage: crowd processes N | threads N | mappings N PROCESSES\n");
	if (r)
		return r;
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0) {
	}
	return 0;
}
