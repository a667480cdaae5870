// SPDX-License-Identifier: MIT
// kwalk_runtime_object.c: see kwalk_parts.h: the programs of each kind of interpreter, as they were
// compiled.
#include "abi/runtime.h"
#include "capture/bpf/kwalk_parts.h"
#include "capture/bpf/object.h"
#include "capture/bpf/relocate.h"

static const struct {
	const unsigned char *bytes;
	const size_t *size;
} runtime_objects[RUNTIMES] = {
#define RUNTIME(number, id, name, ...) [number] = { name##_object, &name##_object_size },
#include "abi/runtimes.def"
};

struct relocate_object runtime_object_of(enum runtime_kind kind, char *said)
{
	return (struct relocate_object){ .name = "seam_runtime",
		                         .bytes = runtime_objects[kind].bytes,
		                         .size = *runtime_objects[kind].size,
		                         .log = said,
		                         .log_size = said ? LOAD_LOG : 0 };
}
