// SPDX-License-Identifier: MIT
/*
 * beginning.c: see beginning.h. Knows names only, of glibc, Go and Erlang.
 *
 * Asked by those that judge whether a stack is whole: one that ends in such a function lacks
 * nothing.
 */
#include "resolve/beginning.h"

#include <string.h>

#include "resolve/frame_walk.h"

/* Without the mark that a guessed frame's name has in front. */
static const char *beginning_name(const char *name)
{
	return name + (strncmp(name, FRAME_GUESS, strlen(FRAME_GUESS)) ? 0 : strlen(FRAME_GUESS));
}

/* The functions with which user code in C and languages above it begins; "runtime." is Go's, the
 * last is Erlang's. Names are matched by their beginnings where versions append to them. */
bool beginning_is(const char *name)
{
	static const char *const exact[] = { "_start",       "_dl_start_user", "clone3",
		                             "clone",        "__clone",        "__clone3",
		                             "__GI___clone", "start_thread",   "thread_start",
		                             "_dl_start" };
	static const char *const prefix[] = {
		"__libc_start",   "__libc_init_first",   "_rt0_",
		"runtime.goexit", "runtime.mstart",      "runtime.rt0_go",
		"runtime.mcall",  "runtime.systemstack", "erts_beamasm:normal_exit"
	};

	name = beginning_name(name);
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		if (!strcmp(name, exact[i]))
			return true;
	for (size_t i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
		if (!strncmp(name, prefix[i], strlen(prefix[i])))
			return true;
	return false;
}

/* Whether the frame can only be the outermost: nothing calls these functions. leaf: the sample hit
 * in it. There clone may be a call that is still in the parent. */
bool beginning_is_first(const char *name, bool leaf)
{
	static const char *const never_called[] = { "_start", "_dl_start_user", "runtime.goexit" };
	static const char *const of_threads[] = { "clone",    "clone3",       "__clone",
		                                  "__clone3", "__GI___clone", "thread_start" };

	name = beginning_name(name);
	for (size_t i = 0; i < sizeof(never_called) / sizeof(never_called[0]); i++)
		if (!strcmp(name, never_called[i]))
			return true;
	for (size_t i = 0; i < sizeof(of_threads) / sizeof(of_threads[0]) && !leaf; i++)
		if (!strcmp(name, of_threads[i]))
			return true;
	return !strncmp(name, "_rt0_", strlen("_rt0_"));
}
