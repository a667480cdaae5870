/* SPDX-License-Identifier: MIT */
/*
 * seam/record.h: the bytes that the kernel and perf agreed on, decoded.
 *
 * Pure functions: bytes in, values out, no I/O, no allocation per record. Everything is
 * bounds-checked against the record; a record that lies about a length gives -EBADMSG and a
 * seam_error that says where. Decoded structs borrow from the record's bytes: they live exactly as
 * long as those.
 */
#ifndef SEAM_RECORD_H
#define SEAM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <seam/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- constants of the ABI (linux/perf_event.h and tools/perf, Linux 7.3) ---- */

enum seam_record_type {
	SEAM_RECORD_MMAP = 1,
	SEAM_RECORD_LOST = 2,
	SEAM_RECORD_COMM = 3,
	SEAM_RECORD_EXIT = 4,
	SEAM_RECORD_THROTTLE = 5,
	SEAM_RECORD_UNTHROTTLE = 6,
	SEAM_RECORD_FORK = 7,
	SEAM_RECORD_READ = 8,
	SEAM_RECORD_SAMPLE = 9,
	SEAM_RECORD_MMAP2 = 10,
	SEAM_RECORD_AUX = 11,
	SEAM_RECORD_ITRACE_START = 12,
	SEAM_RECORD_LOST_SAMPLES = 13,
	SEAM_RECORD_SWITCH = 14,
	SEAM_RECORD_SWITCH_CPU_WIDE = 15,
	SEAM_RECORD_NAMESPACES = 16,
	SEAM_RECORD_KSYMBOL = 17,
	SEAM_RECORD_BPF_EVENT = 18,
	SEAM_RECORD_CGROUP = 19,
	SEAM_RECORD_TEXT_POKE = 20,
	SEAM_RECORD_AUX_OUTPUT_HW_ID = 21,
	SEAM_RECORD_CALLCHAIN_DEFERRED = 22,

	SEAM_RECORD_USER_FIRST = 64, /* from here on written by perf, without sample_id */
	SEAM_RECORD_HEADER_ATTR = 64,
	SEAM_RECORD_HEADER_EVENT_TYPE = 65,
	SEAM_RECORD_HEADER_TRACING_DATA = 66,
	SEAM_RECORD_HEADER_BUILD_ID = 67,
	SEAM_RECORD_FINISHED_ROUND = 68,
	SEAM_RECORD_ID_INDEX = 69,
	SEAM_RECORD_AUXTRACE_INFO = 70,
	SEAM_RECORD_AUXTRACE = 71,
	SEAM_RECORD_AUXTRACE_ERROR = 72,
	SEAM_RECORD_THREAD_MAP = 73,
	SEAM_RECORD_CPU_MAP = 74,
	SEAM_RECORD_STAT_CONFIG = 75,
	SEAM_RECORD_STAT = 76,
	SEAM_RECORD_STAT_ROUND = 77,
	SEAM_RECORD_EVENT_UPDATE = 78,
	SEAM_RECORD_TIME_CONV = 79,
	SEAM_RECORD_HEADER_FEATURE = 80,
	SEAM_RECORD_COMPRESSED = 81,
	SEAM_RECORD_FINISHED_INIT = 82,
	SEAM_RECORD_COMPRESSED2 = 83,
	SEAM_RECORD_BPF_METADATA = 84,
	SEAM_RECORD_SCHEDSTAT_CPU = 85,
	SEAM_RECORD_SCHEDSTAT_DOMAIN = 86,
};

/* perf_event_attr.type */
enum {
	SEAM_TYPE_HARDWARE,
	SEAM_TYPE_SOFTWARE,
	SEAM_TYPE_TRACEPOINT,
	SEAM_TYPE_HW_CACHE,
	SEAM_TYPE_RAW,
	SEAM_TYPE_BREAKPOINT
};

/* perf_event_attr.sample_type */
#define SEAM_SAMPLE_IP (1ULL << 0)
#define SEAM_SAMPLE_TID (1ULL << 1)
#define SEAM_SAMPLE_TIME (1ULL << 2)
#define SEAM_SAMPLE_ADDR (1ULL << 3)
#define SEAM_SAMPLE_READ (1ULL << 4)
#define SEAM_SAMPLE_CALLCHAIN (1ULL << 5)
#define SEAM_SAMPLE_ID (1ULL << 6)
#define SEAM_SAMPLE_CPU (1ULL << 7)
#define SEAM_SAMPLE_PERIOD (1ULL << 8)
#define SEAM_SAMPLE_STREAM_ID (1ULL << 9)
#define SEAM_SAMPLE_RAW (1ULL << 10)
#define SEAM_SAMPLE_BRANCH_STACK (1ULL << 11)
#define SEAM_SAMPLE_REGS_USER (1ULL << 12)
#define SEAM_SAMPLE_STACK_USER (1ULL << 13)
#define SEAM_SAMPLE_WEIGHT (1ULL << 14)
#define SEAM_SAMPLE_DATA_SRC (1ULL << 15)
#define SEAM_SAMPLE_IDENTIFIER (1ULL << 16)
#define SEAM_SAMPLE_TRANSACTION (1ULL << 17)
#define SEAM_SAMPLE_REGS_INTR (1ULL << 18)
#define SEAM_SAMPLE_PHYS_ADDR (1ULL << 19)
#define SEAM_SAMPLE_AUX (1ULL << 20)
#define SEAM_SAMPLE_CGROUP (1ULL << 21)
#define SEAM_SAMPLE_DATA_PAGE_SIZE (1ULL << 22)
#define SEAM_SAMPLE_CODE_PAGE_SIZE (1ULL << 23)
#define SEAM_SAMPLE_WEIGHT_STRUCT (1ULL << 24)

/* perf_event_attr.read_format */
#define SEAM_FORMAT_TOTAL_TIME_ENABLED (1ULL << 0)
#define SEAM_FORMAT_TOTAL_TIME_RUNNING (1ULL << 1)
#define SEAM_FORMAT_ID (1ULL << 2)
#define SEAM_FORMAT_GROUP (1ULL << 3)
#define SEAM_FORMAT_LOST (1ULL << 4)

/* The bits of perf_event_attr that C bit-fields hold, as one u64 whose bit n is the n-th field. */
#define SEAM_ATTR_DISABLED (1ULL << 0)
#define SEAM_ATTR_INHERIT (1ULL << 1)
#define SEAM_ATTR_PINNED (1ULL << 2)
#define SEAM_ATTR_EXCLUSIVE (1ULL << 3)
#define SEAM_ATTR_EXCLUDE_USER (1ULL << 4)
#define SEAM_ATTR_EXCLUDE_KERNEL (1ULL << 5)
#define SEAM_ATTR_EXCLUDE_HV (1ULL << 6)
#define SEAM_ATTR_EXCLUDE_IDLE (1ULL << 7)
#define SEAM_ATTR_MMAP (1ULL << 8)
#define SEAM_ATTR_COMM (1ULL << 9)
#define SEAM_ATTR_FREQ (1ULL << 10)
#define SEAM_ATTR_INHERIT_STAT (1ULL << 11)
#define SEAM_ATTR_ENABLE_ON_EXEC (1ULL << 12)
#define SEAM_ATTR_TASK (1ULL << 13)
#define SEAM_ATTR_WATERMARK (1ULL << 14)
#define SEAM_ATTR_PRECISE_IP_SHIFT 15 /* two bits */
#define SEAM_ATTR_MMAP_DATA (1ULL << 17)
#define SEAM_ATTR_SAMPLE_ID_ALL (1ULL << 18)
#define SEAM_ATTR_EXCLUDE_HOST (1ULL << 19)
#define SEAM_ATTR_EXCLUDE_GUEST (1ULL << 20)
#define SEAM_ATTR_EXCLUDE_CALLCHAIN_KERNEL (1ULL << 21)
#define SEAM_ATTR_EXCLUDE_CALLCHAIN_USER (1ULL << 22)
#define SEAM_ATTR_MMAP2 (1ULL << 23)
#define SEAM_ATTR_COMM_EXEC (1ULL << 24)
#define SEAM_ATTR_USE_CLOCKID (1ULL << 25)
#define SEAM_ATTR_CONTEXT_SWITCH (1ULL << 26)
#define SEAM_ATTR_WRITE_BACKWARD (1ULL << 27)
#define SEAM_ATTR_NAMESPACES (1ULL << 28)
#define SEAM_ATTR_KSYMBOL (1ULL << 29)
#define SEAM_ATTR_BPF_EVENT (1ULL << 30)
#define SEAM_ATTR_AUX_OUTPUT (1ULL << 31)
#define SEAM_ATTR_CGROUP (1ULL << 32)
#define SEAM_ATTR_TEXT_POKE (1ULL << 33)
#define SEAM_ATTR_BUILD_ID (1ULL << 34)
#define SEAM_ATTR_INHERIT_THREAD (1ULL << 35)
#define SEAM_ATTR_REMOVE_ON_EXEC (1ULL << 36)
#define SEAM_ATTR_SIGTRAP (1ULL << 37)
#define SEAM_ATTR_DEFER_CALLCHAIN (1ULL << 38) /* Linux 6.19 */
#define SEAM_ATTR_DEFER_OUTPUT (1ULL << 39)    /* Linux 6.19 */

/* record header misc */
#define SEAM_MISC_CPUMODE_MASK 7u
#define SEAM_MISC_CPUMODE_UNKNOWN 0u
#define SEAM_MISC_KERNEL 1u
#define SEAM_MISC_USER 2u
#define SEAM_MISC_HYPERVISOR 3u
#define SEAM_MISC_GUEST_KERNEL 4u
#define SEAM_MISC_GUEST_USER 5u
#define SEAM_MISC_PROC_MAP_PARSE_TIMEOUT (1u << 12)
#define SEAM_MISC_MMAP_DATA (1u << 13)  /* MMAP, MMAP2 */
#define SEAM_MISC_COMM_EXEC (1u << 13)  /* COMM */
#define SEAM_MISC_FORK_EXEC (1u << 13)  /* FORK, written by perf */
#define SEAM_MISC_SWITCH_OUT (1u << 13) /* SWITCH* */
#define SEAM_MISC_EXACT_IP (1u << 14)   /* SAMPLE */
#define SEAM_MISC_SWITCH_OUT_PREEMPT (1u << 14)
#define SEAM_MISC_MMAP_BUILD_ID (1u << 14) /* MMAP2 */
#define SEAM_MISC_EXT_RESERVED (1u << 15)
#define SEAM_MISC_LOST_SAMPLES_BPF (1u << 15)
/* LOST_SAMPLES by seam's recorder. TASKS: it counts tasks that were not followed, not samples.
 * SKIPPED: the kernel skipped them, because a BPF program ran on that CPU. BESIDE: no LOST record
 * counts them, too; perf's LOST_SAMPLES repeat what LOST records say. */
#define SEAM_MISC_LOST_TASKS (1u << 14)
#define SEAM_MISC_LOST_SKIPPED (1u << 13)
#define SEAM_MISC_LOST_BESIDE (1u << 12)
#define SEAM_MISC_BUILD_ID_SIZE (1u << 15)

/* Markers inside a callchain: every value >= SEAM_CONTEXT_MAX is a marker, never an address. */
#define SEAM_CONTEXT_HV ((uint64_t)-32)
#define SEAM_CONTEXT_KERNEL ((uint64_t)-128)
#define SEAM_CONTEXT_USER ((uint64_t)-512)
#define SEAM_CONTEXT_USER_DEFERRED \
	((uint64_t)-640) /* followed by the cookie, then the chain ends */
#define SEAM_CONTEXT_GUEST ((uint64_t)-2048)
#define SEAM_CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define SEAM_CONTEXT_GUEST_USER ((uint64_t)-2560)
#define SEAM_CONTEXT_MAX ((uint64_t)-4095)

/* ---- attr ---- */

/* Byte for byte the kernel's perf_event_attr on a little-endian machine, as of Linux 7.3 (144
 * bytes), and room for what later ones add: its size stays the same. */
struct seam_attr {
	uint32_t type;
	uint32_t size;
	uint64_t config;
	uint64_t sample_period; /* or frequency in Hz when SEAM_ATTR_FREQ */
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t flags; /* SEAM_ATTR_* */
	uint32_t wakeup;
	uint32_t bp_type;
	uint64_t config1;
	uint64_t config2;
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user; /* bytes */
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint16_t reserved_2;
	uint32_t aux_sample_size;
	uint32_t aux_action;
	uint64_t sig_data;
	uint64_t config3;
	uint64_t config4;
	uint64_t reserved[14]; /* of what later kernels add; 0 */
};

#define SEAM_ATTR_SIZE_MIN 64u
#define SEAM_ATTR_SIZE 144u /* of what is known, up to config4 */

/*
 * Decodes an attr of any known size (64 ... 144 bytes, or larger with only known fields taken).
 * What the bytes do not hold is 0; ret->size is the size stated in the bytes. swap: the bytes are
 * of the other byte order (flags are put right too: C bit-fields run the other way there).
 * -EBADMSG: n < 64.
 */
SEAM_API int seam_attr_decode(const void *bytes, size_t n, bool swap, struct seam_attr *ret,
                              struct seam_error *err);

/* ---- events: attrs with their ids ---- */

struct seam_event {
	struct seam_attr attr;
	uint32_t index;   /* position in its set */
	const char *name; /* "cpu-clock", "cycles:u", "sched:sched_switch"; never NULL once named by
	                     the reader */
	const uint64_t *ids; /* kernel ids, owned by the set */
	size_t n_ids;
	/* Fields may be added here: events are the library's. */
};

/* A set of events and the map from id to event. Finds which event a record belongs to. */
struct seam_events;

/* An empty set, the caller's until seam_events_free. -ENOMEM. */
SEAM_API int seam_events_new(struct seam_events **ret);
/* Frees a set, its events and their ids and names; NULL is fine. */
SEAM_API void seam_events_free(struct seam_events *events);
/* Adds an event; ids and name are copied. Returns its index. -E2BIG: more than 65,536 events. */
SEAM_API int seam_events_add(struct seam_events *events, const struct seam_attr *attr,
                             const char *name, const uint64_t *ids, size_t n_ids,
                             struct seam_error *err);
/* Adds one id to an event (ID_INDEX, pipe mode). -ENOENT: no event has that index. -ENOMEM. */
SEAM_API int seam_events_add_id(struct seam_events *events, uint32_t index, uint64_t id);
/* Gives an event a name, which is copied, in place of the one it had. -ENOENT: no event has that
 * index. -ENOMEM. */
SEAM_API int seam_events_set_name(struct seam_events *events, uint32_t index, const char *name);
/* How many events the set has: their indexes are 0 to that number minus 1. */
SEAM_API size_t seam_events_count(const struct seam_events *events);
/* The event at an index; NULL when it is out of range. The pointer lives until the set is freed;
 * its ids and name until they are added to or set. */
SEAM_API const struct seam_event *seam_events_at(const struct seam_events *events, size_t index);
/* The event that has an id of the kernel; NULL when none has. */
SEAM_API const struct seam_event *seam_events_by_id(const struct seam_events *events, uint64_t id);

/* ---- records ---- */

/* A record as it lies in the file, in the file's byte order. */
struct seam_record {
	uint32_t type; /* enum seam_record_type, or anything else a file may hold */
	uint16_t misc;
	bool swap;       /* the bytes are of the other byte order */
	bool stable;     /* bytes live until the reader is closed; else until its next call */
	uint32_t size;   /* bytes, header included */
	uint64_t offset; /* in the file; of the enclosing compressed record for what was inside one
	                  */
	uint64_t index;  /* 0, 1, 2 ... in the order delivered */
	const unsigned char *bytes; /* the whole record, 8-byte header first; may be unaligned */
	uint64_t reserved[2];       /* 0 */
};

/* An array of u64 in the record's bytes: unaligned, in the file's byte order. */
struct seam_u64s {
	const unsigned char *bytes;
	uint64_t n;
	bool swap;
};

static inline uint64_t seam_u64s_at(const struct seam_u64s *a, uint64_t i)
{
	uint64_t v;

	memcpy(&v, a->bytes + i * 8, 8);
	return a->swap ? __builtin_bswap64(v) : v;
}

struct seam_bytes {
	const unsigned char *bytes;
	size_t n;
};

/* What sample_id (and the sample itself) says of who, when and where. has: SEAM_SAMPLE_* bits of
 * what is known; SEAM_SAMPLE_ID is set whenever id is, also from IDENTIFIER. */
struct seam_id {
	uint64_t has;
	uint32_t pid, tid; /* (uint32_t)-1: not known, or the kernel had none to give */
	uint64_t time_ns;
	uint64_t id;
	uint64_t stream_id;
	uint32_t cpu;          /* (uint32_t)-1: not known */
	uint32_t reserved_cpu; /* 0 */
	uint64_t reserved;     /* 0 */
};

/* One value of a counter that was read (PERF_SAMPLE_READ, READ records). It does not grow. */
struct seam_read_value {
	uint64_t value, id, lost; /* id, lost: 0 unless read_format has them */
};

struct seam_read {
	uint64_t format;         /* SEAM_FORMAT_* of the event */
	uint64_t time_enabled;   /* ns */
	uint64_t time_running;   /* ns */
	uint64_t n;              /* 1 unless SEAM_FORMAT_GROUP */
	struct seam_u64s values; /* the words as they lie: read them with seam_read_at */
	uint64_t reserved;       /* 0 */
};

/* The i-th value of a counter that was read; i must be below read->n. */
SEAM_API struct seam_read_value seam_read_at(const struct seam_read *read, uint64_t i);

/* What is above is not known: neither values nor what follows in the sample were decoded. */
#define SEAM_REGS_ABI_MAX 2

struct seam_regs {
	uint64_t abi;            /* 0 none, 1 32 bit, 2 64 bit */
	uint64_t mask;           /* which registers, in the arch's numbering (PERF_REG_*) */
	struct seam_u64s values; /* one per bit of mask, ascending; empty when abi is 0 */
	uint64_t reserved;       /* 0 */
};

struct seam_branch_stack {
	uint64_t n;
	bool has_hw_idx;
	uint64_t hw_idx;
	struct seam_u64s entries;  /* 3 words each: from, to, flags */
	struct seam_u64s counters; /* n words, or empty */
	uint64_t reserved[2];      /* 0 */
};

struct seam_sample {
	const struct seam_event *event;
	struct seam_id id;
	uint64_t ip;
	uint64_t addr;
	uint64_t period; /* attr.sample_period when the sample carries none and no frequency was
	                    asked for; else 1 */
	struct seam_read read;
	struct seam_u64s callchain; /* addresses, markers and, after SEAM_CONTEXT_USER_DEFERRED, one
	                               cookie */
	struct seam_bytes raw;
	struct seam_branch_stack branches;
	struct seam_regs regs_user;
	struct seam_bytes stack_user; /* only the dyn_size bytes that were really copied */
	uint64_t stack_user_size;     /* bytes that were asked for */
	struct seam_regs regs_intr;
	uint64_t weight; /* WEIGHT, or the u32 of WEIGHT_STRUCT */
	uint16_t weight2, weight3;
	uint64_t data_src;
	uint64_t transaction;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size;
	uint64_t code_page_size;
	struct seam_bytes aux;
	uint64_t reserved[8]; /* 0 */
};

/* Structs of other records stand in the union of seam_decoded and may grow up to the size of
 * seam_sample, which does not. */

struct seam_mmap { /* MMAP, MMAP2 */
	uint32_t pid, tid;
	uint64_t addr, len, pgoff; /* bytes */
	bool has_prot;             /* MMAP2 only: prot and flags are known */
	uint32_t prot, flags;
	bool has_build_id; /* else maj, min, ino, ino_generation (MMAP2) */
	uint8_t build_id_size;
	uint8_t build_id[20];
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	const char *filename; /* NUL-terminated inside the record */
};

struct seam_comm {
	uint32_t pid, tid;
	bool exec;
	const char *comm;
};

struct seam_task { /* FORK, EXIT */
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

struct seam_lost {   /* LOST, LOST_SAMPLES */
	uint64_t id; /* 0 for LOST_SAMPLES */
	uint64_t lost;
};

struct seam_callchain_deferred {
	uint64_t cookie;
	struct seam_u64s ips; /* user addresses, innermost first; never markers */
};

struct seam_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type; /* 1 BPF, 2 out of line */
	bool unregister;
	const char *name;
};

/*
 * One record decoded by its type. For types without a member here only `record` and `id` are set:
 * their bytes are read by the printer of the dump and by the reader. Only the member of the
 * record's type may be read: the others' bytes are whatever they were.
 */
struct seam_decoded {
	size_t sz; /* set by the caller: sizeof(struct seam_decoded) */
	const struct seam_record *record;
	const struct seam_event *event; /* NULL when not known and not needed (records that perf
	                                   itself wrote carry id 0) */
	struct seam_id id; /* SAMPLE: from its body; types < 64: sample_id; else has == 0 */
	union {
		struct seam_sample sample;
		struct seam_mmap mmap;
		struct seam_comm comm;
		struct seam_task task;
		struct seam_lost lost;
		struct seam_callchain_deferred deferred;
		struct seam_ksymbol ksymbol;
	};
};

/* The name of a type of record, as "MMAP2" or "CALLCHAIN_DEFERRED"; NULL for a type that is not
 * known. */
SEAM_API const char *seam_record_name(uint32_t type);

/*
 * Decodes a record against the set of events it came with, as far as ret->sz reaches. It writes
 * nothing but *ret and *err: threads may share the set while it is not added to. On failure *ret
 * holds only .sz and .record. -EINVAL: ret->sz is not set; nothing is written.
 * -EBADMSG: the record is shorter than it must be, or says a length that it does not have.
 * -ENOENT: a sample whose id matches no event. -EOPNOTSUPP: a type that is not known.
 * The error names no file: see seam_error_add_path.
 */
SEAM_API int seam_record_decode(const struct seam_events *events, const struct seam_record *record,
                                struct seam_decoded *ret, struct seam_error *err);

#ifdef __cplusplus
}
#endif
#endif
