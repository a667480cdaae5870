// SPDX-License-Identifier: MIT
/*
 * machine.c: knows uname, /proc/cpuinfo, /proc/meminfo and /sys/bus/event_source. Says of them what
 * perf's header says, in perf's words. It is called once, by whoever writes the header of a file.
 *
 * Nothing here fails: a machine without /sys, or in a container without /proc, gives a header with
 * less in it. The fields of struct machine are bounded, and longer texts are cut.
 */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/machine.h"
#include "base/procfs.h"

/* The most PMUs that are listed: a bound, no more. */
#define MACHINE_PMUS 256u

/* The e_machine of this build: readers elsewhere decode registers and unwind by it. */
#if defined(__x86_64__)
#define MACHINE_ELF EM_X86_64
#elif defined(__i386__)
#define MACHINE_ELF EM_386
#elif defined(__aarch64__)
#define MACHINE_ELF EM_AARCH64
#elif defined(__riscv)
#define MACHINE_ELF EM_RISCV
#elif defined(__s390x__)
#define MACHINE_ELF EM_S390
#elif defined(__powerpc64__)
#define MACHINE_ELF EM_PPC64
#else
#define MACHINE_ELF EM_NONE
#endif

/* The value in the first line "key : value" of text; "" if there is none. */
static void machine_field(const char *text, const char *key, char *ret, size_t n)
{
	size_t length = strlen(key);

	ret[0] = 0;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		const char *at;

		line += *line == '\n';
		if (strncmp(line, key, length))
			continue;
		at = line + length + strspn(line + length, " \t");
		if (*at != ':')
			continue;
		at += 1 + strspn(at + 1, " \t");
		snprintf(ret, n, "%.*s", (int)strcspn(at, "\n"), at);
		return;
	}
}

/* Fills the processor's name and its id as perf writes it ("GenuineIntel,6,85,7"). They stay empty
 * where /proc/cpuinfo does not say them. */
static void machine_cpu(struct machine *m, int proc, struct buf *text)
{
	char vendor[64], family[16], model[16], stepping[16];
	const char *info;

	if (procfs_read(proc, "cpuinfo", text) <= 0)
		return;
	info = (const char *)text->bytes;
	machine_field(info, "vendor_id", vendor, sizeof(vendor));
	machine_field(info, "cpu family", family, sizeof(family));
	machine_field(info, "model", model, sizeof(model));
	machine_field(info, "stepping", stepping, sizeof(stepping));
	machine_field(info, "model name", m->cpu_text, sizeof(m->cpu_text));
	/* What some other architectures write. */
	if (!m->cpu_text[0])
		machine_field(info, "Processor", m->cpu_text, sizeof(m->cpu_text));
	/* Only x86 has these four. perf's readers look up the events of a CPU by this text. */
	if (vendor[0] && family[0] && model[0] && stepping[0])
		snprintf(m->cpu_id, sizeof(m->cpu_id), "%.24s,%s,%s,%s", vendor, family, model,
		         stepping);
}

/* Lists the PMUs with their types, at most MACHINE_PMUS. There are none if /sys cannot be read. */
static void machine_pmus(struct machine *m, int sys, struct buf *text)
{
	int fd = sys < 0 ? -1
	                 : openat(sys, "bus/event_source/devices",
	                          O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	m->pmus = dir ? arena_alloc(&m->arena, MACHINE_PMUS * sizeof(*m->pmus)) : NULL;
	while (m->pmus && m->n_pmus < MACHINE_PMUS && (entry = readdir(dir))) {
		char path[300];

		snprintf(path, sizeof(path), "%s/type", entry->d_name);
		if (entry->d_name[0] == '.' || procfs_read(fd, path, text) <= 0)
			continue;
		m->pmus[m->n_pmus++] = (struct machine_pmu){
			.type = (uint32_t)strtoul((const char *)text->bytes, NULL, 10),
			.name = arena_string(&m->arena, entry->d_name, strlen(entry->d_name)),
		};
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* What cannot be found out stays empty or 0: a recording does without it. */
void machine_read(struct machine *ret, const char *proc, const char *sys)
{
	int proc_fd = open(proc ? proc : "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int sys_fd = open(sys ? sys : "/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct buf text = { 0 };
	struct utsname u;
	char kb[32];
	long n;

	*ret = (struct machine){ .e_machine = MACHINE_ELF };
	if (!uname(&u)) {
		snprintf(ret->hostname, sizeof(ret->hostname), "%s", u.nodename);
		snprintf(ret->release, sizeof(ret->release), "%s", u.release);
		snprintf(ret->arch, sizeof(ret->arch), "%s", u.machine);
	}
	n = sysconf(_SC_NPROCESSORS_ONLN);
	ret->cpus_online = n > 0 ? (uint32_t)n : 0;
	n = sysconf(_SC_NPROCESSORS_CONF);
	/* perf writes both numbers into NRCPUS. */
	ret->cpus_available = n > 0 ? (uint32_t)n : 0;
	machine_cpu(ret, proc_fd, &text);
	if (procfs_read(proc_fd, "meminfo", &text) > 0) {
		/* "16301736 kB": the unit is the same in all kernels. */
		machine_field((const char *)text.bytes, "MemTotal", kb, sizeof(kb));
		ret->memory_kb = strtoull(kb, NULL, 10);
	}
	machine_pmus(ret, sys_fd, &text);
	if (proc_fd >= 0)
		close(proc_fd);
	if (sys_fd >= 0)
		close(sys_fd);
	buf_free(&text);
}

void machine_free(struct machine *m)
{
	arena_free(&m->arena);
	m->pmus = NULL;
	m->n_pmus = 0;
}
