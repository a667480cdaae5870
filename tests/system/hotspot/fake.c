// SPDX-License-Identifier: MIT
/*
 * fake.c: a program that says it is HotSpot 17 and is none: its tables are right, and all that they
 * lead to is random, or leads back to itself. Its code runs where HotSpot's would, for so many
 * seconds of CPU time.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct row {
	const char *type, *field, *string;
	int is_static;
	uint64_t offset;
	void *address;
};
struct type {
	const char *name, *super;
	int numbers[4];
	uint64_t size;
};

static int version = 17;
static uint64_t low, high, heaps[4], stub;
#define FIELD(type, field, offset)               \
	{                                        \
		type, field, "", 0, offset, NULL \
	}
#define VARIABLE(type, field, at)         \
	{                                 \
		type, field, "", 1, 0, at \
	}
static struct row rows[] = {
	FIELD("GrowableArrayBase", "_len", 0),
	FIELD("GrowableArray<int>", "_data", 8),
	FIELD("CodeHeap", "_memory", 8),
	FIELD("CodeHeap", "_segmap", 120),
	FIELD("CodeHeap", "_log2_segment_size", 256),
	FIELD("VirtualSpace", "_low", 16),
	FIELD("VirtualSpace", "_high", 24),
	FIELD("HeapBlock::Header", "_used", 8),
	FIELD("CodeBlob", "_name", 96),
	FIELD("CodeBlob", "_frame_complete_offset", 20),
	FIELD("CodeBlob", "_frame_size", 28),
	FIELD("nmethod", "_compile_id", 304),
	FIELD("nmethod", "_entry_bci", 192),
	FIELD("nmethod", "_orig_pc_offset", 300),
	FIELD("nmethod", "_scopes_pcs_offset", 268),
	FIELD("Method", "_constMethod", 8),
	FIELD("ConstMethod", "_constants", 8),
	FIELD("ConstMethod", "_constMethod_size", 24),
	FIELD("ConstMethod", "_code_size", 32),
	FIELD("ConstMethod", "_name_index", 34),
	FIELD("ConstantPool", "_length", 60),
	FIELD("ConstantPool", "_pool_holder", 24),
	FIELD("ConstantPool", "_source_file_name_index", 54),
	FIELD("Klass", "_name", 24),
	FIELD("Symbol", "_length", 4),
	FIELD("Symbol", "_body", 6),
	FIELD("ConstMethod", "_flags", 28),
	FIELD("CodeBlob", "_code_begin", 32),
	FIELD("CodeBlob", "_code_end", 40),
	FIELD("CompiledMethod", "_method", 112),
	FIELD("CompiledMethod", "_deopt_handler_begin", 128),
	FIELD("CompiledMethod", "_deopt_mh_handler_begin", 136),
	FIELD("CompiledMethod", "_scopes_data_begin", 120),
	FIELD("nmethod", "_dependencies_offset", 272),
	FIELD("nmethod", "_metadata_offset", 260),
	VARIABLE("CodeCache", "_heaps", heaps),
	VARIABLE("CodeCache", "_low_bound", &low),
	VARIABLE("CodeCache", "_high_bound", &high),
	VARIABLE("StubRoutines", "_call_stub_return_address", &stub),
	VARIABLE("Abstract_VM_Version", "_vm_major_version", &version),
	{ NULL },
};
static struct type types[] = {
	{ "HeapBlock", "", { 0 }, 16 },
	{ "ConstMethod", "", { 0 }, 48 },
	{ "ConstantPool", "", { 0 }, 72 },
	{ "nmethod", "", { 0 }, 352 },
	{ NULL },
};
__attribute__((visibility("default"))) struct row *gHotSpotVMStructs = rows;
__attribute__((visibility("default"))) struct type *gHotSpotVMTypes = types;

#define CODE_BYTES (1u << 20)
static uint64_t list[8], heap[64];

static uint64_t any(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* Numbers, or addresses of the same memory. */
static void fill(uint64_t *to, size_t n, int addresses)
{
	for (size_t i = 0; i < n; i++)
		to[i] = addresses ? low + (any() & (CODE_BYTES - 1)) : any();
}

int main(int argc, char **argv)
{
	/* push %rbp; mov %rsp,%rbp; 1: dec %edi; jnz 1b; pop %rbp; ret */
	static const unsigned char loop[] = { 0x55, 0x48, 0x8b, 0xec, 0xff,
		                              0xcf, 0x75, 0xfc, 0x5d, 0xc3 };
	unsigned char *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
	                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int seconds = argc > 1 ? atoi(argv[1]) : 1;
	struct timespec t = { 0 };

	if (code == MAP_FAILED)
		return 2;
	low = (uint64_t)(uintptr_t)code;
	high = low + CODE_BYTES;
	heaps[0] = (uint64_t)(uintptr_t)list;
	for (unsigned round = 0; t.tv_sec < seconds; round++) {
		unsigned char *function = code + (any() & (CODE_BYTES - 1) & ~0xfffu) + 64;
		unsigned char *map = code + ((round & 7) << 12);

		fill((uint64_t *)(void *)code, CODE_BYTES / 8, ~round & 1);
		fill(heap, 64, ~round >> 1 & 1);
		list[0] = 1 + (round & 3);
		list[1] = (uint64_t)(uintptr_t)(list + 2);
		list[2] = list[3] = list[4] = (uint64_t)(uintptr_t)heap;
		heap[3] = low;
		heap[4] = high;
		heap[17] = (uint64_t)(uintptr_t)map;
		heap[32] = 7;
		if (round & 4) /* each byte of the map leads to the one before, or nowhere */
			memset(map, round & 8 ? 0 : 1, 1 << 13);
		memcpy(function, loop, sizeof(loop));
		((void (*)(int))(uintptr_t)function)(3000000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	}
	return 0;
}
