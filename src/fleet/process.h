/* SPDX-License-Identifier: MIT */
/*
 * process.h: what /proc says of a process that runs, as labels: its control group, its container,
 * what OpenTelemetry's environment or process context call it. Read when a process is first asked
 * for, or met before (process_meet; but for its context, which it has not at its beginning), and
 * kept for a while, so that processes that have ended meanwhile are known, too.
 *
 *	unit, container, pod, pod_uid            of the control group
 *	namespace, pod, container_name, image    what the machine knows of the container
 *	service, version                         OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, the
 *	                                         process context (OTEP 4719)
 *	version                                  of the image, where nobody else says one
 *	cgroup, env.NAME                         for rules only: they are taken away again
 */
#ifndef SEAM_FLEET_PROCESS_H
#define SEAM_FLEET_PROCESS_H

#include <pthread.h>

#include "base/intern.h"
#include "base/map.h"
#include "fleet/rules.h"

struct peek;

struct process_opts {
	const char *root; /* in front of all paths of files; NULL: none */
	struct rules rules;
	struct peek *peek; /* reads what may keep us waiting; NULL: that is done here */
	bool pid, tid;     /* a series for each process, for each thread */
};

/* Zero-initialise, but for PROCESS_LOCK; process_free. Threads may share it: none waits until
 * another one has read /proc. */
struct process {
	const struct process_opts *opts;
	pthread_mutex_t lock; /* of what follows */
	struct map by_pid;    /* pid -> struct process_known, as a number */
	struct intern labels; /* bytes of labels */
	uint32_t window, age; /* windows so far; since old answers were dropped */
	uint32_t question;    /* the last one */
};

#define PROCESS_LOCK .lock = PTHREAD_MUTEX_INITIALIZER

/* Asks about a process that was sampled just now, if that was not done: when a window ends it may
 * be gone. -ENOMEM. */
int process_meet(struct process *p, uint32_t pid);
/* It is another program from now on: what it says is asked anew, if it is asked in time. */
void process_replaced(struct process *p, uint32_t pid);
/* The number is another process's from now on. */
void process_forget(struct process *p, uint32_t pid);
/* Whether it was gone when it was asked about: it has no labels of its own. */
bool process_was_gone(struct process *p, uint32_t pid);

/* Adds what is known of a process to labels. Nothing of one that has gone. path: its control group,
 * if that is known otherwise, or NULL. -ENOMEM, -E2BIG. */
int process_labels(void *process, uint32_t pid, const char *path, struct labels *l);
/* Between two windows: forgets all but the newest answers now and then, so that memory stays
 * bounded and what may have changed is asked for anew. */
void process_age(struct process *p);
/* Forgets all. It may be used again. */
void process_free(struct process *p);

/* Sets what OpenTelemetry's Resource says, as protobuf: service, version. Bytes are not trusted. */
int process_resource(struct labels *l, const void *bytes, size_t n);
/* The same of the text of OTEL_RESOURCE_ATTRIBUTES. */
int process_attributes(struct labels *l, const char *text);

#endif
