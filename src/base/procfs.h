/* SPDX-License-Identifier: MIT */
/*
 * procfs.h: the texts of /proc as values: lists of numbered directories, PID/stat, lines of
 * PID/maps, or what the kernel answers of these. Reads into buffers of the caller, allocates only
 * to grow them. Knows no records.
 */
#ifndef SEAM_BASE_PROCFS_H
#define SEAM_BASE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct peek;

struct procfs_stat {
	char comm[64]; /* the kernel's own are 15 bytes; workers' names are longer */
	char state;    /* 'R', 'S', ... 'Z', 'X' */
	pid_t ppid;
	bool kernel_thread;
	unsigned threads;
};

struct procfs_map {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	bool readable, writable, executable, shared;
	const char *path; /* not NUL-terminated; "" for anonymous memory; as the kernel wrote it */
	size_t path_size;
};

/* The whole file as text, NUL behind it: its length, or -errno. */
int64_t procfs_read(int dirfd, const char *path, struct buf *ret);
/* Appends the names of a directory that are numbers, as pid_t, to ret. */
int procfs_numbers(int dirfd, const char *path, struct buf *ret);
/* -EBADMSG: not of the known form. */
int procfs_stat_parse(const char *text, size_t n, struct procfs_stat *ret);
/* The next line of *at: true and *ret. Lines that are not of the known form are passed over. The
 * path has its "\012" put back to a newline, in place. */
bool procfs_map_next(char **at, const char *end, struct procfs_map *ret);

/* The executable mappings of a process, asked for one by one (PROCMAP_QUERY, from Linux 6.11 on):
 * the others, most of them, cost nothing. fd: /proc/PID/maps; else zero-initialise. */
struct procfs_query {
	int fd;
	uint64_t at;     /* the next one is here or above */
	char name[4096]; /* the path of the last one lies here */
};
/* In order of address; none is given twice. 1 and *ret; 0: no more, or the process has ended;
 * -ENOTTY: this kernel, or this file, knows no such question, and its text is to be read. */
int procfs_map_query(struct procfs_query *q, struct procfs_map *ret);

/* Whether the kernel says of a mapping's path that the file has it no more. */
bool procfs_deleted_is(const char *path);
/* A path (NUL-terminated, in ret) at which such a file can be read, as long as a process has it
 * mapped. inode: 0, if it is not known. False: it is not such a path, the process has ended, or
 * does not let us look. peek (may be NULL): reads its mappings. */
bool procfs_deleted(struct peek *peek, pid_t pid, const char *path, uint64_t inode, char *ret,
                    size_t n);

/* Whether processes have the kernel's own numbers here: those of the first pid namespace. */
bool procfs_is_first_namespace(void);

#endif
