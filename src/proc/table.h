/* SPDX-License-Identifier: MIT */
/*
 * table.h: the inside of a proc_table: what was learned as events, and what they make when applied
 * in order of time.
 */
#ifndef SEAM_PROC_TABLE_H
#define SEAM_PROC_TABLE_H

#include "base/arena.h"
#include "base/blocks.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/pool.h"
#include "proc/history.h"
#include "proc/object.h"
#include "proc/proc.h"
#include "proc/renew.h"
#include "proc/space.h"

/* Keys of `processes` beside the pids. */
#define KEY_KERNEL (1ULL << 32)
#define KEY_MODULES (2ULL << 32)
#define KEY_KSYMBOLS (3ULL << 32)
#define KEY_RUNTIMES (4ULL << 32)

enum event_type {
	EVENT_MAP,
	EVENT_UNMAP, /* a ksymbol that went away */
	EVENT_COMM,
	EVENT_EXEC, /* a COMM that is an exec */
	EVENT_FORK,
};

/* One of them is kept for each side-band record until they are applied: its size counts. */
struct proc_event {
	uint64_t time;
	union {
		struct { /* MAP, UNMAP */
			uint64_t start, end, pgoff, inode;
		};
		struct { /* COMM, EXEC, FORK */
			uint32_t tid, ppid, ptid;
		};
	};
	uint32_t pid;
	uint32_t name;     /* in names */
	uint32_t build_id; /* in names, as bytes; 0: none */
	uint8_t type;
	uint8_t kind; /* enum proc_kind */
	bool data;
	bool empty; /* FORK: inherits nothing */
};

struct proc_table {
	bool live, sealed;
	bool in_order;
	uint64_t newest;    /* in_order: time of what was learned */
	struct arena arena; /* objects and mappings */
	struct intern names;
	struct object_pool objects;
	struct space_pool spaces;
	struct histories processes, threads;
	struct renew_tasks tasks;       /* live */
	struct blocks events;           /* struct proc_event, until proc_seal */
	struct proc_mapping **mappings; /* [0] is [vsyscall] */
	size_t n_mappings, mappings_capacity;
	/* Of a file: equal mappings are one, and so are equal spaces. */
	struct pool known; /* struct apply_known: those of mappings, from 1 on; until proc_seal */
	struct proc_made {
		uint32_t pid, mapping;
	} * made; /* who made which, in order of time */
	size_t n_made, made_capacity;
	struct {
		uint64_t key;  /* of processes */
		uint32_t from; /* of spaces.nodes; 0: none is open */
	} open;                /* the space that is edited: its last version is not shared yet */
	const struct proc_mapping *kernel;
	struct map build_ids; /* name of a path -> name of its build-id */
	uint32_t stamps;
	uint64_t generation;
	struct proc_counts counts;
};

/* As proc_comm, of a thread (or its process) with that name. */
const char *table_comm(const struct proc_table *table, const struct change *name, uint32_t tid);
/* Applies an event; all before must not be later in time. -ENOMEM. */
int apply_event(struct proc_table *table, const struct proc_event *e);
/* Of a file: all events were applied. -ENOMEM. */
int apply_end(struct proc_table *table);
/* The object that an event maps; NULL: out of memory. */
const struct proc_object *apply_object(struct proc_table *table, const struct proc_event *e);
/* A new mapping with its id; NULL: out of memory. */
struct proc_mapping *apply_mapping(struct proc_table *table);

#endif
