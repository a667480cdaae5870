// SPDX-License-Identifier: MIT
/*
 * demangle.c: names as their authors wrote them, by libiberty. libiberty limits its depth itself.
 * Its output is limited here, because back references can unfold a short name into gigabytes: the
 * callback then leaves by longjmp, which is safe because these demanglers keep their state on the
 * stack.
 *
 * Symbols come from files of strangers, so a mangled name is hostile input. Bounds:
 * SYMBOL_DEMANGLE_MAX characters in, SYMBOL_NAME_MAX out.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/buf.h"
#include "symbol/symbol.h"

/* What one demangler has written so far, and where to go when it is too much. */
struct demangle_output {
	struct buf text;
	jmp_buf leave;
};

/* Called by a demangler for each part of the name. Does not return if the name becomes too long. */
static void demangle_output_put(const char *text, size_t n, void *ctx)
{
	struct demangle_output *out = ctx;

	if (n > SYMBOL_NAME_MAX - out->text.n || buf_put(&out->text, text, n) < 0)
		longjmp(out->leave, 1);
}

typedef int demangler(const char *mangled, int options, demangle_callbackref callback, void *ctx);

/* Runs one demangler. False: the name is not of its kind, or unfolds into too much. */
static bool demangle_run(demangler *demangle, const char *mangled, int options,
                         struct demangle_output *out)
{
	buf_clear(&out->text);
	if (setjmp(out->leave))
		return false;
	return demangle(mangled, options, demangle_output_put, out) != 0 && out->text.n > 0;
}

/* C++: the compiler's suffix is not part of the mangled name. */
static bool demangle_run_cxx(const char *mangled, int options, struct demangle_output *out)
{
	const char *dot = strchr(mangled, '.');
	char *base;
	bool ok;

	if (!dot)
		return demangle_run(cplus_demangle_v3_callback, mangled, options, out);
	base = strndup(mangled, (size_t)(dot - mangled));
	ok = base && demangle_run(cplus_demangle_v3_callback, base, options, out);
	free(base);
	return ok && buf_printf(&out->text, " [clone %s]", dot) >= 0;
}

/* D's demangler has no callback. Each Q (a back reference) can at most double the output. */
static bool demangle_run_d(const char *mangled, struct demangle_output *out)
{
	uint64_t worst = strlen(mangled);
	char *name;

	for (const char *p = mangled; *p; p++) {
		/* Beyond 4 MiB in the worst case the name stays mangled. */
		if (*p == 'Q' && (worst *= 2) > (4u << 20))
			return false;
	}
	name = dlang_demangle(mangled, 0);
	if (!name)
		return false;
	buf_clear(&out->text);
	buf_put(&out->text, name, strnlen(name, SYMBOL_NAME_MAX));
	free(name);
	return !out->text.failed && out->text.n;
}

/* Returns the name as its author wrote it, to be freed by the caller. NULL: it is not mangled in a
 * way that is known, it is too long, or memory is out; the caller shows the name as it is.
 * parameters: with the types of the arguments. */
char *symbol_demangle(const char *mangled, bool parameters)
{
	int options = parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;
	struct demangle_output out = { 0 };
	char *name = NULL;
	bool ok = false;

	if (mangled[0] != '_' || strnlen(mangled, SYMBOL_DEMANGLE_MAX + 1) > SYMBOL_DEMANGLE_MAX)
		return NULL;
	/* Legacy Rust looks like C++ with a hash at the end. So Rust is tried first, which leaves
	 * the hash out. */
	if (mangled[1] == 'R' || (mangled[1] == 'Z' && mangled[2] == 'N'))
		ok = demangle_run(rust_demangle_callback, mangled, DMGL_NO_OPTS, &out);
	if (!ok && mangled[1] == 'Z')
		ok = demangle_run_cxx(mangled, options, &out);
	if (!ok && mangled[1] == 'D')
		ok = demangle_run_d(mangled, &out);
	if (ok)
		name = strdup(buf_text(&out.text));
	buf_free(&out.text);
	return name;
}
