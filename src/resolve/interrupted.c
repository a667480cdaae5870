// SPDX-License-Identifier: MIT
/*
 * interrupted.c: see interrupted.h.
 *
 * An exception or interrupt stops a function anywhere, so the frame below its entry code has no
 * call before its address: its name is looked up at the address itself. These are the names of
 * entry code. They come from the kernel's entry*.S of each machine, from libc's signal trampolines
 * and from Go. A missing name costs one frame its exact line; a wrong one names a frame's
 * neighbour.
 */
#include "resolve/interrupted.h"

#include <stddef.h>
#include <string.h>

/* Names that begin so. */
static const char *const kernel_prefixes[] = {
	/* x86, from 5.8 on */
	"asm_exc_",
	"asm_sysvec_",
	"asm_fred_",
	"asm_xenpv_exc_",
	"xen_asm_exc_",
	/* arm64: "h" entries are for the kernel's own stack pointer, "t" entries for the user's. */
	"el1h_64_",
	"el1t_64_",
};

static const char *const kernel_names[] = {
	/* x86 */
	"asm_common_interrupt",
	"asm_spurious_interrupt",
	"end_repeat_nmi",
	"repeat_nmi",
	"first_nmi",
	/* x86, before 5.8 */
	"acrn_hv_callback_vector",
	"alignment_check",
	"apic_timer_interrupt",
	"async_page_fault",
	"call_function_interrupt",
	"call_function_single_interrupt",
	"common_exception",
	"common_interrupt",
	"coprocessor_error",
	"deferred_error_interrupt",
	"device_not_available",
	"divide_error",
	"double_fault",
	"error_code",
	"error_interrupt",
	"general_protection",
	"hv_stimer0_callback_vector",
	"hyperv_callback_vector",
	"hyperv_reenlightenment_vector",
	"invalid_op",
	"irq_move_cleanup_interrupt",
	"irq_work_interrupt",
	"kvm_posted_intr_ipi",
	"kvm_posted_intr_nested_ipi",
	"kvm_posted_intr_wakeup_ipi",
	"machine_check",
	"nmi",
	"page_fault",
	"reboot_interrupt",
	"reschedule_interrupt",
	"ret_from_intr",
	"simd_coprocessor_error",
	"spurious_interrupt",
	"stack_segment",
	"thermal_interrupt",
	"threshold_interrupt",
	"trace_page_fault",
	"x86_platform_ipi",
	"xen_do_hypervisor_callback",
	"xen_hvm_callback_vector",
	"xen_hypervisor_callback",
	/* arm64, before 5.14 */
	"el1_da",
	"el1_dbg",
	"el1_error",
	"el1_fiq",
	"el1_irq",
	"el1_sync",
	"el1_undef",
	/* arm */
	"__dabt_svc",
	"__fiq_svc",
	"__irq_svc",
	"__pabt_svc",
	"__und_svc",
	/* riscv */
	"handle_exception",
	"ret_from_exception",
	/* s390 */
	"ext_int_handler",
	"io_int_handler",
	"mcck_int_handler",
	"pgm_check_handler",
	/* loongarch, mips */
	"handle_ade",
	"handle_ale",
	"handle_fpe",
	"handle_fpu",
	"handle_int",
	"handle_lsx",
	"handle_lasx",
	"handle_ri",
	"handle_tlb_load",
	"handle_tlb_modify",
	"handle_tlb_protect",
	"handle_tlb_store",
	"handle_tlbl",
	"handle_tlbm",
	"handle_tlbs",
	"handle_vint",
	"rollback_handle_int",
	"rollback_handle_vint",
};

static const char *const user_names[] = {
	"__restore_rt",
	"__restore",
	"__default_rt_sa_restorer",
	"__default_sa_restorer",
	"__kernel_rt_sigreturn",
	"__kernel_sigreturn",
	"__kernel_sigtramp_rt64",
	"__kernel_sigtramp32",
	"__kernel_sigtramp_rt32",
	"__vdso_rt_sigreturn",
	"runtime.sigreturn",
	"runtime.sigreturn__sigaction",
};

/* Names of what function graph tracing and return probes put in the place of a return address; arm
 * and riscv list it as one. A frame in their place has no call before it either. */
static const char *const kernel_returns[] = {
	"return_to_handler",    "arch_rethook_trampoline", "__kretprobe_trampoline",
	"kretprobe_trampoline", "ret_from_exception",      "ret_from_fork",
};

static bool interrupted_is_one_of(const char *name, const char *const *names, size_t n)
{
	/* Nearly every name is told from each of these by its first letter. */
	for (size_t i = 0; i < n; i++)
		if (*name == *names[i] && !strcmp(name, names[i]))
			return true;
	return false;
}

#define IS_ONE_OF(name, names) \
	interrupted_is_one_of(name, names, sizeof(names) / sizeof((names)[0]))

static bool interrupted_ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), n_end = strlen(end);

	return n >= n_end && !strcmp(name + n - n_end, end);
}

/* Whether the kernel was entered from kernel code in this function. raw names: not demangled. */
bool interrupted_kernel(const char *name)
{
	if (!name)
		return false;
	for (size_t i = 0; i < sizeof(kernel_prefixes) / sizeof(kernel_prefixes[0]); i++)
		if (*name == *kernel_prefixes[i] &&
		    !strncmp(name, kernel_prefixes[i], strlen(kernel_prefixes[i])))
			return !interrupted_ends_with(name, "_handler"); /* which an entry calls */
	return IS_ONE_OF(name, kernel_names);
}

/* Whether the function is one to which a signal handler returns. */
bool interrupted_user(const char *name)
{
	return name && IS_ONE_OF(name, user_names);
}

/* Whether an address at the beginning of this function may stand where a return address should
 * be. */
bool interrupted_begins(const char *name, bool kernel)
{
	return kernel ? name && IS_ONE_OF(name, kernel_returns) : interrupted_user(name);
}
