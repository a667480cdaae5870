// SPDX-License-Identifier: MIT
// runtime_flags.c: see runtime_flags.h. A runtime is one line of the table. Tried with OpenJDK 17,
// Node.js 20 and Erlang/OTP 25; .NET, which no Debian has, was not tried.
#include "runtimes/runtime_flags.h"

#include <string.h>

static const struct runtime_flags runtimes[] = {
	{ "libjvm.so", "Java", "-XX:+DumpPerfMapAtExit", "-XX:+PreserveFramePointer" },
	{ "node", "Node.js", "--perf-basic-prof --interpreted-frames-native-stack", NULL },
	{ "libnode.so", "Node.js", "--perf-basic-prof --interpreted-frames-native-stack", NULL },
	{ "beam.", "Erlang", "+JPperf true", "+JPperf true" },
	{ "libcoreclr.so", ".NET", "DOTNET_PerfMapEnabled=1", NULL },
};

size_t runtime_flags_count(void)
{
	return sizeof(runtimes) / sizeof(runtimes[0]);
}

const struct runtime_flags *runtime_flags_at(size_t i)
{
	return &runtimes[i];
}

size_t runtime_flags_number(const struct runtime_flags *flags)
{
	return (size_t)(flags - runtimes);
}

const struct runtime_flags *runtime_flags_of_path(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t n;

	for (size_t i = 0; name && i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		n = strlen(runtimes[i].maps);
		/* "node" is no beginning of "node_exporter"; "libnode.so" is one of
		 * "libnode.so.108". */
		if (!strncmp(name + 1, runtimes[i].maps, n) &&
		    (!name[1 + n] || strcmp(runtimes[i].maps, "node")))
			return &runtimes[i];
	}
	return NULL;
}

const struct runtime_flags *runtime_flags_of(const struct proc_table *procs, uint32_t pid)
{
	const struct runtime_flags *found = NULL;
	const struct proc_mapping *m;
	uint32_t made_by;

	for (size_t i = 0; !found && (m = proc_made_at(procs, i, &made_by)); i++) {
		if (made_by == pid && m->object->kind == PROC_KIND_FILE)
			found = runtime_flags_of_path(m->object->path);
	}
	return found;
}
