// SPDX-License-Identifier: MIT
// pack_kernel.c: see pack_kernel.h. A module that is loaded now may be of another build than
// the one that was recorded: symbol/ has decided that for each, and names it by the list or not.
#include "convert/pack_kernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* As much as symbol/kallsyms.c reads. */
#define LIST_MAX (256u << 20)

/* Whether an object's names came from a list of the kernel's symbols. */
bool pack_is_list(const char *source)
{
	const char *slash = strrchr(source, '/');

	return slash && !strcmp(slash, "/kallsyms");
}

/* Reads a whole file, whose size is not told. False: it cannot be read, or is too long. */
static bool pack_slurp(const char *path, struct buf *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && ret->n <= LIST_MAX) {
		void *to = buf_reserve(ret, 1 << 18);

		n = to ? read(fd, to, 1 << 18) : -1;
		ret->n += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return !n;
}

/* Whether "[NAME]" names a module of the list. */
static bool pack_named_here(struct symbol_cache *symbols, const char *name, size_t n)
{
	struct symbol_object *o;

	for (size_t i = 0; (o = symbol_object_at(symbols, i)); i++)
		if (symbol_object_key(o)->kind == SYMBOL_KIND_MODULE &&
		    strlen(symbol_object_name(o)) == n && !memcmp(symbol_object_name(o), name, n) &&
		    pack_is_list(symbol_object_source(o)))
			return true;
	return false;
}

/* Copies the lines of the kernel itself and those of modules that symbols names by this list. Other
 * modules may be loaded here in another build. */
static void pack_filter(struct symbol_cache *symbols, const struct buf *all, struct buf *ret)
{
	const char *at = (const char *)all->bytes, *stop = at + all->n, *end, *mark;
	const char *last = NULL;
	size_t n_last = 0, n;
	bool keep = false;

	/* Memory of the last module: its lines stand together, and the answer is the same. */
	for (; at < stop; at = end) {
		end = memchr(at, '\n', (size_t)(stop - at));
		end = end ? end + 1 : stop;
		mark = memchr(at, '\t', (size_t)(end - at));
		if (mark) {
			n = (size_t)(end - ++mark) - (end[-1] == '\n');
			/* lines of a module stand together */
			if (!last || n != n_last || memcmp(mark, last, n))
				keep = pack_named_here(symbols, mark, n);
			last = mark;
			n_last = n;
		}
		if (!mark || keep)
			buf_put(ret, at, (size_t)(end - at));
	}
}

/* Appends to both buffers. ret_modules stays empty where no list of modules is found. 1: there is a
 * list; 0: the kernel's names are from elsewhere. */
int pack_kernel_lists(struct symbol_cache *symbols, struct symbol_object *kernel,
                      struct buf *ret_list, struct buf *ret_modules)
{
	const char *source = symbol_object_source(kernel);
	struct buf all = { 0 };
	char modules[4096];
	int r = 0;

	if (symbol_object_state(kernel) != SYMBOL_NAMED || !pack_is_list(source))
		return 0;
	if (pack_slurp(source, &all)) {
		pack_filter(symbols, &all, ret_list);
		snprintf(modules, sizeof(modules), "%.*s/modules",
		         (int)(strrchr(source, '/') - source), source);
		if (!pack_slurp(modules, ret_modules))
			buf_clear(ret_modules);
		r = ret_list->n && !ret_list->failed;
	}
	buf_free(&all);
	return r;
}
