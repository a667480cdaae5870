/* SPDX-License-Identifier: MIT */
/*
 * work_events.h: events and a BPF program of the program's own, beside a recorder's. A part of
 * work.c, which has what all use.
 */
#ifndef SEAM_TESTS_BPF_WORK_EVENTS_H
#define SEAM_TESTS_BPF_WORK_EVENTS_H

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -- nested -- */

/* A program on getppid's tracepoint that asks for the time 3,000 times. */
static int nested_program(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_6 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_6, .imm = 1 },
		{ .code = BPF_JMP | BPF_JLT | BPF_K, .dst_reg = BPF_REG_6, .off = -3, .imm = 3000 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_TRACEPOINT,
		                .insns = (unsigned long)insns,
		                .insn_cnt = sizeof(insns) / sizeof(insns[0]),
		                .license = (unsigned long)"GPL" };

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* The number of the tracepoint, in the tracefs that is mounted; -1. */
static int nested_tracepoint_in(const char *dir)
{
	char path[128], text[16] = "";
	int fd, n;

	snprintf(path, sizeof(path), "%s/events/syscalls/sys_enter_getppid/id", dir);
	fd = open(path, O_RDONLY);
	n = fd >= 0 ? (int)read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	return n > 0 ? atoi(text) : -1;
}

/* Where none is mounted, one is for a moment. */
static int nested_tracepoint(void)
{
	char dir[] = "/tmp/seam-tracefs-XXXXXX";
	int id = nested_tracepoint_in("/sys/kernel/tracing");

	if (id >= 0 || !mkdtemp(dir))
		return id;
	if (mount("none", dir, "tracefs", 0, NULL) == 0) {
		id = nested_tracepoint_in(dir);
		umount(dir);
	}
	rmdir(dir);
	return id;
}

static void nested(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr) };
	int program = nested_program(), id = nested_tracepoint(), fd;
	double end = now() + seconds;

	attr.config = (unsigned)id;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (program < 0 || id < 0 || fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program)) {
		perror("work: no program on a tracepoint");
		exit(3);
	}
	while (now() < end)
		for (int i = 0; i < 100; i++)
			syscall(SYS_getppid);
}

/* -- the event of its own -- */

#define CLOCK_PAGES 64

static struct perf_event_mmap_page *clock_open(const char *event)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
		                        .size = sizeof(attr),
		                        .config = PERF_COUNT_SW_CPU_CLOCK,
		                        .freq = 1,
		                        .sample_freq = 997,
		                        .exclude_kernel = strstr(event, ":u") != NULL,
		                        .exclude_user = strstr(event, ":k") != NULL };
	void *ring;
	int fd;

	if (!strncmp(event, "task", 4))
		attr.config = PERF_COUNT_SW_TASK_CLOCK;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	ring = mmap(NULL, (size_t)(CLOCK_PAGES + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	            0);
	if (fd < 0 || ring == MAP_FAILED) {
		perror("work: SEAM_TEST_CLOCK");
		exit(2);
	}
	return ring;
}

static void clock_print(const struct perf_event_mmap_page *ring)
{
	const char *data = (const char *)ring + 4096;
	uint64_t at = 0, samples = 0;

	while (at < ring->data_head) {
		const struct perf_event_header *h = (const void *)(data + at);

		samples += h->type == PERF_RECORD_SAMPLE;
		at += h->size;
	}
	printf("%lu\n", (unsigned long)samples);
}

#endif
