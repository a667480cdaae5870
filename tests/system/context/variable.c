// SPDX-License-Identifier: MIT
// variable.c: the variable of the thread, as an executable's or a shared object's.
#include "writer.h"

#ifndef MODEL
#define MODEL
#endif

__attribute__((visibility("default"))) __thread struct record *volatile otel_thread_ctx_v1 MODEL;

__attribute__((visibility("default"))) void writer_set(struct record *r)
{
	otel_thread_ctx_v1 = r;
}
