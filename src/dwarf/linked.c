// SPDX-License-Identifier: MIT
/* linked.c: see linked.h. A kernel module is a relocatable file: its debugging information has no
 * addresses before it is linked. libdwfl does that, but maps the files that it reads: it is given a
 * copy of our own, which nobody can cut short, and searches for nothing. */
#include "dwarf/linked.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES_MAX (1u << 30) /* of a module; the copy lies in memory */

/* A callback of libdwfl that says no: it would look for debug files by its own rules. */
static int linked_no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                               const char *file, const char *link, GElf_Word crc, char **path)
{
	(void)module, (void)user, (void)name, (void)base;
	(void)file, (void)link, (void)crc, (void)path;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = linked_no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* A memfd with the file's bytes; -EFBIG above BYTES_MAX. */
static int linked_copy(struct image *image)
{
	size_t n = 0, done = 0;
	const char *bytes = elf_rawfile(image_elf(image), &n);
	int fd = bytes && n <= BYTES_MAX ? memfd_create("module", MFD_CLOEXEC) : -1;
	ssize_t put = 1;

	if (fd < 0)
		return n > BYTES_MAX ? -EFBIG : -ENOMEM;
	while (done < n && (put = write(fd, bytes + done, n - done)) > 0)
		done += (size_t)put;
	if (done == n)
		return fd;
	close(fd);
	return -ENOMEM;
}

/* Finds at which address libdwfl has laid out .text: l->text. -ENOENT: another executable section
 * stands in front of it, so the distance in the loaded module is not known. */
static int linked_find_text(struct linked *l, Dwfl_Module *module, GElf_Addr dw_bias)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) < 0)
		return -ENOENT;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
			continue;
		/* It stands first in the loaded module; where another does, the distance is not
		 * known. */
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || strcmp(name, ".text") || !header.sh_size)
			return -ENOENT;
		l->text = header.sh_addr + bias - dw_bias;
		return 0;
	}
	return -ENOENT;
}

/* Links a copy of the object, as the kernel would when it loads the module, so that its DWARF has
 * final addresses. */
int linked_open(struct linked *ret, struct image *image)
{
	struct linked l = { .dwfl = dwfl_begin(&callbacks) };
	int fd = l.dwfl ? linked_copy(image) : -ENOMEM, r = -ENOENT;
	Dwfl_Module *module = NULL;
	Dwarf_Addr bias = 0;

	if (fd >= 0) {
		module = dwfl_report_offline(l.dwfl, "module", image_path(image), fd);
		/* libdwfl closes fd, once it has taken it. */
		if (!module)
			close(fd);
	} else {
		r = fd;
	}
	if (module) {
		dwfl_report_end(l.dwfl, NULL, NULL);
		l.dw = dwfl_module_getdwarf(module, &bias);
	}
	if (l.dw)
		r = linked_find_text(&l, module, bias);
	if (r < 0)
		linked_close(&l);
	else
		*ret = l;
	return r;
}

void linked_close(struct linked *l)
{
	if (l->dwfl)
		dwfl_end(l->dwfl);
	*l = (struct linked){ 0 };
}
