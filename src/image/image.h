/* SPDX-License-Identifier: MIT */
/*
 * image.h: an ELF file: its identity, its segments and sections, and where its debug file is.
 *
 * Bytes are not trusted: all goes through libelf's bounds and this room's own. Files are read, not
 * mapped, so one that shrinks meanwhile is an error and not a signal. An image is used by one
 * thread at a time; different images are independent.
 */
#ifndef SEAM_IMAGE_IMAGE_H
#define SEAM_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/error.h>

/* Longer build-ids are cut to this, as the kernel and perf do. */
#define IMAGE_BUILD_ID_MAX 20

struct image_build_id {
	uint8_t size; /* 0: none */
	uint8_t bytes[IMAGE_BUILD_ID_MAX];
};

/* Whether two build-ids are equal, and neither is empty. Recordings fill short ids up with zeros to
 * 20 bytes: these count as equal, too. */
bool image_build_id_equal(const struct image_build_id *a, const struct image_build_id *b);
#define IMAGE_BUILD_ID_HEX (IMAGE_BUILD_ID_MAX * 2 + 1)
/* Lower-case hex, NUL-terminated; "" for none. Returns hex. */
const char *image_build_id_hex(const struct image_build_id *id, char hex[IMAGE_BUILD_ID_HEX]);
/* The GNU build-id in a span of ELF notes (as in /sys/kernel/notes); 1, or 0: none there. */
int image_build_id_of_notes(const void *notes, size_t n, bool swap, struct image_build_id *ret);

struct image;
struct Elf;

/*
 * Opens an ELF file; an xz-compressed one (kernel modules) is unpacked. -ENOENT, -EACCES ... as
 * open(2). -ENOEXEC: not an ELF file. -EBADMSG: a damaged one. Only regular files are opened, never
 * a FIFO or a device.
 */
int image_open(struct image **ret, const char *path, struct seam_error *err);
/* From memory, which must stay valid until close. name is for messages and image_path. */
int image_open_memory(struct image **ret, const void *bytes, size_t n, const char *name,
                      struct seam_error *err);
/* The vdso of this process: 1 and its bytes, which live as long as the process; 0: it has none. */
int image_own_vdso(const unsigned char **ret, size_t *ret_n);
void image_close(struct image *image);
/* libelf's handle, for libdw; the image's own. */
struct Elf *image_elf(const struct image *image);
/* An ELF file in memory that has only the .debug_ sections, unpacked, except those named in without
 * (what stands behind ".debug_"; NULL ends the list). It is made at the first call, with this
 * call's list, and belongs to the image. NULL: no section is packed, or they are packed in a way or
 * size that is not unpacked here; libelf may do it. */
struct Elf *image_unpacked(struct image *image, const char *const *without);
/* Before that: it is to be made in a file without a name (base/scratch.h) and not in memory, if
 * that can be done; also where no section is packed. */
void image_spill(struct image *image);
/* Gives back the memory of what was put there, until it is read again. Its bytes; 0: nothing
 * was. */
size_t image_spill_rest(const struct image *image);

const char *image_path(const struct image *image);
int image_fd(const struct image *image); /* of its file; the image's own. -1: it is in memory */
/* Reads the ids of an open image: 1 and *ret, or 0: it has none. */
int image_build_id(const struct image *image, struct image_build_id *ret);
/* The build-id that Go writes into its programs, which have no GNU build-id by default: how many
 * letters, *ret (not terminated, lives until close); 0: none that is a hash of the contents. */
size_t image_go_id(struct image *image, const char **ret);
unsigned image_machine(const struct image *image); /* EM_* */
/* Whether its code keeps frame pointers, as far as can be told (keeps_fp.c): 1, 0, or -ENOMEM.
 * Reads .text. */
int image_keeps_frame_pointers(struct image *image);
/* The same of the code between two addresses of .text. */
bool image_keeps_frame_pointers_in(struct image *image, uint64_t start, uint64_t end);
/* Whether bytes between functions are nothing but padding (nop in its forms, int3, zeros). If a
 * byte cannot be told: no. */
bool image_is_padding(unsigned machine, const unsigned char *code, size_t n);

uint64_t
image_entry(const struct image *image); /* e_entry: address at which a program starts; 0: none */
bool image_is_64(const struct image *image);
bool image_is_big_endian(const struct image *image);
bool image_is_relocatable(const struct image *image); /* ET_REL: a kernel module */
/* Whether this is a separate debug file: its code was taken out (.text is NOBITS). */
bool image_is_debug(const struct image *image);

/* One PT_LOAD. */
struct image_segment {
	uint64_t offset, vaddr; /* bytes in the file; address the file was linked for */
	uint64_t file_size, memory_size;
	bool executable, writable;
};
size_t image_segments(const struct image *image);
const struct image_segment *image_segment_at(const struct image *image, size_t i);

/*
 * File offset <-> linked address (vaddr), by the PT_LOADs, executable ones first. Offsets in the
 * page padding around a segment count as its own when no other segment has them. -ENOENT: in none.
 * An ET_REL image has no segments: -ENOENT.
 * A separate debug file's offsets are not the object's: ask the object.
 */
int image_vaddr_of_offset(const struct image *image, uint64_t offset, uint64_t *ret);
int image_offset_of_vaddr(const struct image *image, uint64_t vaddr, uint64_t *ret);
/* The same as image_vaddr_of_offset, over segments that were copied from an image, in the order of
 * image_segment_at. */
int image_segments_vaddr(const struct image_segment *segments, size_t n, uint64_t offset,
                         uint64_t *ret);
/*
 * The linked address of the first byte of a mapping of code: of size bytes of the file from offset
 * on. Not the same: lld puts the end of one segment and the beginning of the next into one page of
 * the file, which is mapped twice. The mapping is that of the executable segment of which it holds
 * most. -ENOENT: it holds nothing of any.
 */
int image_segments_mapped(const struct image_segment *segments, size_t n, uint64_t offset,
                          uint64_t size, uint64_t *ret);

/* A section. bytes are decompressed (SHF_COMPRESSED, .zdebug_*), NULL when it has none (NOBITS);
 * they live until close; in the file's byte order. */
struct image_section {
	const char *name;
	uint32_t index;
	uint32_t type; /* SHT_* */
	uint64_t flags;
	uint64_t vaddr;
	uint64_t offset;
	uint64_t memory_size; /* sh_size, also for NOBITS */
	uint32_t link, info;
	uint64_t entry_size;
	const unsigned char *bytes;
	size_t n;
};
/* Finds a section by its name (a .debug_x also as .zdebug_x). -ENOENT: there is none; -EBADMSG: it
 * is damaged. */
int image_section(struct image *image, const char *name, struct image_section *ret);
/* Gives a section by its index, without its bytes: bytes == NULL, n == 0. -ENOENT: there are no
 * more. */
int image_section_at(const struct image *image, size_t index, struct image_section *ret);
/* The bytes of a section found so. */
int image_section_load(struct image *image, struct image_section *section);
/* Finds a section that may be large, to be read by image_section_piece: its bytes stay in the file
 * where that can be read, and bytes is NULL. n is set. */
int image_section_beside(struct image *image, const char *name, struct image_section *ret);
/* The n bytes of such a section from an address on, in buf (of n bytes) or where they lie. NULL:
 * they are not all there. */
const unsigned char *image_section_piece(const struct image *image,
                                         const struct image_section *section, uint64_t vaddr,
                                         size_t n, void *buf);

/* Symbols of .symtab or .dynsym. */
struct image_symbol {
	const char *name; /* lives until close */
	size_t length;    /* of it */
	uint64_t value;   /* vaddr; ET_REL: within section */
	uint64_t size;
	uint32_t section; /* index; SHN_UNDEF: 0; special ones (SHN_ABS ...) are UINT32_MAX */
	uint8_t type;     /* STT_* */
	uint8_t bind;     /* STB_* */
};
/* Calls each for every symbol of the table (SHT_SYMTAB or SHT_DYNSYM) whose name is sound; stops
 * when it returns non-zero and returns that. -ENOENT: no such table. */
int image_each_symbol(struct image *image, unsigned table,
                      int (*each)(void *ctx, const struct image_symbol *symbol), void *ctx);
/* No more symbols than these has such a table, and no more bytes of names. 0: there is none. */
size_t image_symbols(struct image *image, unsigned table, size_t *names);
/* The value of a symbol by its name, of .symtab. -ENOENT. */
int image_symbol_value(struct image *image, const char *name, uint64_t *ret);
/* Calls each for every entry of the PLT: its vaddr and size and the name of its target. The
 * entries' own jumps are read, so a name is right whatever linker laid them out. x86_64 only;
 * -ENOENT: there is no PLT, or it is another machine's. */
int image_each_plt(struct image *image, int (*each)(void *ctx, const struct image_symbol *symbol),
                   void *ctx);
/*
 * Calls each for the code of every FDE of .eh_frame, in the order they stand there: a function, a
 * part of one that the compiler put aside (.cold), or, of assembly, whatever its author put between
 * .cfi_startproc and .cfi_endproc. The PLT, which has one for all its stubs, is left out, and so is
 * what lies outside of the sections of code. They may overlap. Stops when it returns non-zero and
 * returns that. -ENOENT: no .eh_frame (a separate debug file). -EBADMSG. -ENOMEM.
 */
int image_each_fde(struct image *image,
                   int (*each)(void *ctx, uint64_t start, uint64_t end, bool is_signal_frame),
                   void *ctx);

/* ---- where files are ---- */

/* A way to get files that no directory has, such as a server: writes the path of a file into
 * `path`. 0, or a negative number. Any thread. The file counts only if it has the build-id that was
 * asked for. */
struct image_fetch {
	int (*fetch)(void *ctx, const struct image_build_id *id, bool debug, char *path, size_t n);
	void *ctx;
};

/* Says whether the file that is at a path now is the one that was recorded there: 0, or -ESTALE and
 * the reason. Any thread. */
struct stat;
struct image_identity {
	int (*file_identity)(const void *ctx, struct image *image, const char *path,
	                     const struct stat *st, struct seam_error *err);
	/* Whether it says so by something that only who saw the file could know. */
	bool (*knows)(const void *ctx, const char *path);
	const void *ctx;
};

struct image_search {
	size_t sz;
	const char *root;              /* put before every path (perf's --symfs); NULL: none */
	const char *const *debug_dirs; /* NULL-terminated; NULL: { "/usr/lib/debug" } */
	const char *buildid_dir; /* perf's cache (~/.debug); NULL: none. Not put under root. */
	const struct image_fetch *fetch; /* NULL: none */
	/* For the kernel ("[kernel.kallsyms]"): an image that the user named, which is not put
	 * under root, and the release by which distributions file their kernels ("6.12.9-amd64");
	 * NULL: none. */
	const char *vmlinux, *kernel_release;
	/* Asked about files whose build-id was not recorded, unless they are under root. NULL: such
	 * a file is taken as it is. */
	const struct image_identity *file_identity;
};

/*
 * Opens the object that was recorded as path with this build-id: the file itself (under root), then
 * the build-id cache, then the debug directories' copy by build-id. want NULL or empty: the file is
 * taken if search->file_identity has nothing against it. The kernel has no path: it is looked for
 * where distributions put vmlinux; a module of which only the name is known ("[ext4]") where
 * modules.dep of the recorded release says. -ESTALE: there is a file but its build-id is another
 * (*ret_found, if given, says which; size 0: it has none) and no right one is elsewhere. Errors
 * else as image_open. The error's text says what was looked at.
 */
int image_find(struct image **ret, const char *path, const struct image_build_id *want,
               const struct image_search *search, struct image_build_id *ret_found,
               struct seam_error *err);
/* Whether what image_find found is proven to be what was recorded: by its build-id, or by what the
 * recording knows of the file. Else a recording that was made up could name any file. */
bool image_is_proven(const char *path, const struct image_build_id *want,
                     const struct image_search *search);
/* The path at which the build-id cache keeps something else for a build-id: "kallsyms", "vdso". 0;
 * -ENOENT: there is no cache, or no build-id; -ENAMETOOLONG. */
int image_kept_path(const struct image_search *search, const struct image_build_id *id,
                    const char *name, char *path, size_t n);
/*
 * Opens the separate debug file of an open object: by build-id in the debug directories and the
 * cache or at its own path below the debug directories, by .gnu_debuglink with its CRC (or the
 * equal build-id) next to it, in .debug/, and in the debug directories. What lies beside the object
 * counts only if it is root's, one's own or of the object's owner, unless it is under root.
 * -ENOENT: none. -EPERM: only a stranger's.
 */
int image_find_debug(struct image **ret, struct image *object, const struct image_search *search,
                     struct seam_error *err);
/*
 * Opens the file that dwz moved common parts of a debug file into, as .gnu_debugaltlink names it:
 * in the debug directories by build-id, at its path (from the debug file's directory), under root.
 * Its build-id decides, and at its path the owner, as above. -ENOENT: the file has no such link, or
 * it was not found.
 */
int image_find_alt(struct image **ret, struct image *debug, const struct image_search *search,
                   struct seam_error *err);
/* The ELF inside .gnu_debugdata (xz): more symbols of a stripped file. It borrows from object:
 * close it first. -ENOENT: none. -EBADMSG: damaged or unpacked larger than 256 MiB. */
int image_open_debugdata(struct image **ret, struct image *object, struct seam_error *err);

#endif
