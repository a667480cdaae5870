// SPDX-License-Identifier: MIT
/*
 * hold.c FILE: a user's process whose environment and process context lie in a file that it serves
 * itself (FUSE), and never does: who reads them waits for as long as it runs, beyond SIGKILL. It
 * works until it is ended. Exit status 77: FUSE is not allowed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENVIRONMENT 65536u
#define FILE_SIZE 262144

extern char **environ;
static int served;

/* Begins anew with an environment that fills pages of its own. */
static void begin_anew(char **argv)
{
	static char large[ENVIRONMENT] = "LARGE=";
	char *other[] = { large, NULL };

	memset(large + 6, 'x', sizeof(large) - 7);
	execve("/proc/self/exe", argv, other);
}

static void answer(const struct fuse_in_header *to, const void *bytes, size_t n)
{
	char out[512];
	struct fuse_out_header head = { .len = (uint32_t)(sizeof(head) + n), .unique = to->unique };

	memcpy(out, &head, sizeof(head));
	memcpy(out + sizeof(head), bytes, n);
	if (write(served, out, head.len) < 0)
		perror("hold");
}

/* A file of some size at the root, of which nothing is ever read. */
static void *serve(void *ctx)
{
	static char in[1 << 20];
	const struct fuse_in_header *head = (const void *)in;

	(void)ctx;
	while (read(served, in, sizeof(in)) > 0) {
		if (head->opcode == FUSE_INIT) {
			struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096 };

			answer(head, &init, sizeof(init));
		} else if (head->opcode == FUSE_GETATTR) {
			struct fuse_attr_out attr = { .attr_valid = 1000 };

			attr.attr = (struct fuse_attr){
				.ino = 1, .size = FILE_SIZE, .mode = S_IFREG | 0644, .nlink = 1
			};
			answer(head, &attr, sizeof(attr));
		} else if (head->opcode == FUSE_OPEN) {
			struct fuse_open_out opened = { .fh = 1 };

			answer(head, &opened, sizeof(opened));
		} else if (head->opcode == FUSE_FLUSH) {
			answer(head, "", 0);
		}
	}
	return NULL;
}

/* Mounts the file, for nobody else to see, and opens it. */
static int mount_file(const char *path)
{
	pthread_t thread;
	struct stat st;
	char how[80];
	int fd;

	served = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(how, sizeof(how), "fd=%d,rootmode=100644,user_id=0,group_id=0", served);
	if (served < 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("hold", path, "fuse", MS_NOSUID | MS_NODEV, how) < 0 ||
	    pthread_create(&thread, NULL, serve, NULL))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* The kernel asks how large it is. */
	return fstat(fd, &st) < 0 || st.st_size != FILE_SIZE ? -1 : fd;
}

int main(int argc, char **argv)
{
	static volatile unsigned sink;
	char *at;
	int fd;

	if (!environ[0] || strlen(environ[0]) != ENVIRONMENT - 1)
		begin_anew(argv);
	fd = argc == 2 ? mount_file(argv[1]) : -1;
	if (fd < 0)
		return 77;
	at = (char *)(((uintptr_t)environ[0] + 8192) & ~4095ul);
	if (mmap(at, 8192, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != at ||
	    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 65536) == MAP_FAILED)
		return 77;
	/* Else its own end would wait for an answer. */
	close(fd);
	prctl(PR_SET_NAME, "hold");
	if (setuid(65534) < 0)
		return 77;
	puts("holds");
	fflush(stdout);
	for (;;)
		sink++;
}
