// SPDX-License-Identifier: MIT
// self_annotate.c: see self_annotate.h. Names come from outside: each is an option's argument, and
// no shell reads it.
#include "cli/self_annotate.h"

#include <errno.h>
#include <string.h>

#include "base/shown.h"
#include "cmd/self.h"

#define TEXT_MAX (16u << 20) /* bytes of one function's text that are shown */
#define ARGS_MAX 24          /* more than are filled */

/* The command line has what the view was opened with. */
int self_annotate(const char *path, struct naming *naming, const struct view_function *f, int stop,
                  struct buf *out)
{
	const char *archive = naming->archive.dir[0] ? naming->archive.dir : NULL;
	const char *args[ARGS_MAX];
	size_t n = 0;
	int r;

	args[n++] = "seam";
	args[n++] = "annotate";
	args[n++] = "-i";
	args[n++] = path;
	n += naming_args(naming, archive, args + n);
	/* A comma would part it. */
	if (f->event && !strchr(f->event, ',')) {
		args[n++] = "-e";
		args[n++] = f->event;
	}
	args[n++] = "--symbol";
	args[n++] = f->symbol;
	args[n] = NULL;
	r = self_run(args, TEXT_MAX, stop, out);
	return r < 0 && r != -ENOMEM && r != -ECANCELED
	               ? shown_printf(out, "annotate: %s\n", strerror(-r))
	               : r;
}
