// SPDX-License-Identifier: MIT
/*
 * hostile_ruby.c: a program that says it is Ruby 3.1, and has whatever its argument names in the
 * place of the interpreter's structures (src/runtimes/ruby.c, capture/runtime/ruby.bpf.h have the
 * offsets). Works for a tenth of a second of CPU time. `good` has one method, to show that the rest
 * is near it.
 *
 * Build with -rdynamic, so that the symbols are found.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const char ruby_version[] = "3.1.2";
__thread unsigned char *ruby_current_ec;
unsigned char made_tag[64];
struct {
	uint64_t last, unused, ids;
} made_names;
void ruby_run_node(void);
void made_vm_exec(void);

/* What tells a Ruby: ways to its variables, and the loop with its two callers. */
__asm__(".text\n"
        ".globl rb_errinfo, rb_id2str, made_vm_exec\n"
        ".type rb_errinfo, @function\n.type rb_id2str, @function\n"
        "rb_errinfo: .cfi_startproc\n"
        "mov %fs:ruby_current_ec@tpoff, %rax\nmov 0x70(%rax), %rax\nret\n.fill 64, 1, 0x90\n"
        ".cfi_endproc\n"
        "rb_id2str: .cfi_startproc\n"
        "mov %rdi, %rax\ncmp $0xa9, %rdi\n.byte 0xe9\n.long 2f - . - 4\n.fill 64, 1, 0x90\n"
        ".cfi_endproc\n"
        "2: .cfi_startproc\n"
        "cmp %edi, made_names(%rip)\nmov made_names + 16(%rip), %rdi\nret\n.fill 192, 1, 0x90\n"
        ".cfi_endproc\n"
        "made_loop: .cfi_startproc\n"
        "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\ncall made_work\nadd $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\nret\n"
        ".rept 80\njmp *0x10(%r12)\n.endr\n.fill 9000, 1, 0x90\n"
        ".cfi_endproc\n"
        "made_asks: .cfi_startproc\n"
        "xor %esi, %esi\nxor %edi, %edi\n.byte 0xe9\n.long made_loop - . - 4\n"
        ".cfi_endproc\n"
        "made_vm_exec: .cfi_startproc\n"
        "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\nmov %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\nsub $16, %rsp\n"
        "lea 1f(%rip), %rcx\nmov %rcx, made_tag + 24(%rip)\nmov %rsp, made_tag + 32(%rip)\n"
        "call made_loop\n1: leave\n.cfi_def_cfa %rsp, 8\nret\n.fill 64, 1, 0x90\n"
        ".cfi_endproc\n");

static unsigned char stack[3100][64], env[64], iseq[64], body[256], context[256], method[64],
        class[64], class_ext[64], table[64], entries[96], pieces[64], path[32], name[32], file[32],
        key[32], line_rows[64], index_of_lines[256], attached[64], newer_env[64], old_iseq[64],
        old_body[256], old_name[32];
static uint64_t names_of[1024];
static const char *which;

static void put(void *at, unsigned offset, uint64_t v)
{
	memcpy((char *)at + offset, &v, 8);
}

static uint64_t of(const void *p)
{
	return (uintptr_t)p;
}

static void text(unsigned char *object, const char *s)
{
	put(object, 0, 5 | 1 << 13);
	put(object, 16, strlen(s));
	put(object, 24, of(s));
}

static int is(const char *s)
{
	return !strcmp(which, s);
}

/* What stands behind the loop is YJIT's, which fills a new frame in: of the frame that r13 has.
 * That is the newest one as long as it stands there. */
#define JIT_BEGIN "mov %0, %%r13\nmov $200000, %%ecx\nmov %%r13, 16(%1)\n1: dec %%ecx\njnz 1b\n"
#define JIT_END "movabs $0x1122334455667788, %%rax\nmov %%rax, 0x10(%%r13)\n2:\n"
#define JIT_WORK(before)                                                                         \
	__asm__ volatile(JIT_BEGIN "mov %2, 16(%1)\njmp 2f\n" before JIT_END ::"r"(stack[3098]), \
	                 "r"(context), "r"(stack[3099])                                          \
	                 : "r13", "rcx", "rax", "memory")

__attribute__((used)) void made_work(void);
void made_work(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 10;

	while (clock() < end)
		if (is("unfilled"))
			JIT_WORK("");
		else if (is("filled")) /* what comes next is the frame behind it */
			JIT_WORK("sub $0x40, %%r13\n");
		else
			for (volatile int i = 0; i < 100000; i++)
				;
}

/* A frame as the loop's call has its outermost one: of the method, at its first instruction. */
static void frame(unsigned char *f)
{
	put(f, 0, of(index_of_lines) + 8);
	put(f, 16, of(iseq));
	put(f, 32, of(env) + 16);
}

/* A class whose table has its name, by the number 200 of the names. */
static void classes(void)
{
	put(class, 0, 2);
	put(class, 24, of(class_ext));
	put(class_ext, 8, of(table));
	put(table, 32, 0);
	put(table, 40, 1);
	put(table, 48, of(entries));
	put(entries, 8, 200 << 4);
	put(entries, 16, of(path));
	made_names.ids = of(pieces);
	put(pieces, 0, 7 | 1 << 13 | 1 << 15);
	put(pieces, 16, of(names_of));
	names_of[0] = 7;
	names_of[2] = 1000;
	names_of[4] = of(names_of + 8);
	names_of[8 + 400] = of(key);
	text(key, "__classpath__");
	text(path, "Made");
}

/* One frame of a method, all of it right. */
static void good(void)
{
	unsigned char *end = stack[3099];

	ruby_current_ec = context;
	put(context, 0, of(stack));
	put(context, 8, sizeof(stack) / 8);
	put(context, 16, of(end));
	put(context, 24, of(made_tag));
	frame(end);
	put(env, 0, of(method));
	put(env, 16, 0x11110001 | 2 | 0x20);
	put(iseq, 0, 0x701a);
	put(iseq, 16, of(body));
	put(body, 0, 1 | 16ull << 32);
	put(body, 8, of(index_of_lines));
	put(body, 64, of(file));
	put(body, 72, of(name));
	put(body, 80, of(name));
	put(body, 88, 3 << 1 | 1);
	put(body, 120, of(line_rows));
	put(body, 136, 1);
	put(body, 176, of(iseq));
	put(line_rows, 0, 7);
	put(method, 0, 0x601a);
	put(method, 32, of(class));
	classes();
	text(file, "/made/good.rb");
	text(name, "good");
}

/* One more frame, of other code if it is an old one's. */
static void newer(int old)
{
	frame(stack[3098]);
	memcpy(newer_env, env, sizeof(env));
	put(newer_env, 16, 0x11110001 | 2);
	put(stack[3098], 32, of(newer_env) + 16);
	if (!old)
		return;
	memcpy(old_iseq, iseq, sizeof(iseq));
	memcpy(old_body, body, sizeof(body));
	put(old_iseq, 16, of(old_body));
	put(old_body, 72, of(old_name));
	put(old_body, 80, of(old_name));
	put(old_body, 176, of(old_iseq));
	text(old_name, "old");
	put(stack[3098], 16, of(old_iseq));
}

/* Spoils what leads to the frame. */
static void spoil_frames(void)
{
	if (is("unfilled") || is("filled"))
		newer(is("unfilled"));
	if (is("place")) /* it has not said where it is */
		put(stack[3099], 0, 0);
	if (is("context"))
		ruby_current_ec = (void *)0x1000;
	if (is("outside"))
		put(context, 16, of(context));
	if (is("huge"))
		put(context, 8, UINT64_MAX / 8);
	if (is("tags")) /* a tag that comes before itself */
		put(made_tag, 56, of(made_tag));
	if (is("tag"))
		put(context, 24, 0x1000);
	if (is("kernel"))
		put(stack[3099], 16, 0xffffffff81000000);
	if (is("environment")) { /* one that is within itself */
		put(env, 0, 0);
		put(env, 8, of(env) + 16);
		put(env, 16, 0x22220001 | 0x20);
	}
	if (is("deep"))
		for (size_t i = 0; i < 3000; i++) {
			frame(stack[3099 - i]);
			put(context, 16, of(stack[3099 - i]));
		}
	if (is("c")) { /* a method that is written in C, and is not */
		put(env, 16, 0x55550001 | 0x80 | 2);
		put(method, 16, of(env));
	}
}

/* Spoils what it is called, and its line. */
static void spoil_names(void)
{
	if (is("long"))
		put(name, 16, 1ull << 60);
	if (is("negative"))
		put(name, 16, UINT64_MAX);
	if (is("string"))
		put(name, 0, 8);
	if (is("type"))
		put(iseq, 0, 0x601a);
	if (is("label")) /* it does not end with the method's name */
		put(body, 80, of(path));
	if (is("class"))
		put(method, 32, 0xffffffff81000000);
	if (is("table"))
		put(table, 40, UINT64_MAX);
	if (is("singleton")) { /* of itself */
		put(class, 0, 2 | 1 << 12);
		put(entries, 16, of(class));
		text(key, "__attached__");
	}
	if (is("names"))
		put(pieces, 16, of(pieces));
	if (is("line")) {
		put(body, 136, UINT32_MAX);
		put(body, 144, of(index_of_lines));
		memset(index_of_lines, 0xff, sizeof(index_of_lines));
	}
	if (is("array")) {
		put(file, 0, 7);
		put(file, 16, UINT64_MAX);
		put(file, 32, of(attached) - 8);
		put(attached, 0, of(file));
	}
	if (is("letters"))
		text(name, "e\nvil\033[31m;x\t\"<b>\xff\xfe");
}

int main(int n, char **words)
{
	which = n > 1 ? words[1] : "good";
	good();
	spoil_frames();
	spoil_names();
	made_vm_exec();
	return 0;
}

void ruby_run_node(void)
{
}
