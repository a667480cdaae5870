// SPDX-License-Identifier: MIT
/*
 * live_run.c: runs a command on one CPU and writes how much processor time it took, in seconds, to
 * a file. It is the target's parent inside a recording, so that its own time, and that of whoever
 * records, is in no figure.
 *
 *	live_run FILE CPU COMMAND...		# CPU -1: any
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void run(int cpu, char **command)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu >= 0)
		CPU_SET(cpu, &set);
	if (!freopen("/dev/null", "w", stdout) ||
	    (cpu >= 0 && sched_setaffinity(0, sizeof(set), &set)))
		perror("live_run");
	execvp(command[0], command);
	perror(command[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct rusage u;
	int status = 0;
	FILE *to;
	pid_t pid;

	if (argc < 4)
		return 2;
	pid = fork();
	if (!pid)
		run(atoi(argv[2]), argv + 3);
	if (pid < 0 || wait4(pid, &status, 0, &u) < 0)
		return 1;
	to = fopen(argv[1], "w");
	if (!to || fprintf(to, "%f\n", seconds(u.ru_utime) + seconds(u.ru_stime)) < 0 || fclose(to))
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
