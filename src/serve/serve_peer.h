/* SPDX-License-Identifier: MIT */
/*
 * serve_peer.h: whose connection it is. Both ends of a connection over the loopback are sockets of
 * this machine, and the kernel's tables of sockets say which user has each (proc_net_tcp(5)).
 */
#ifndef SEAM_SERVE_SERVE_PEER_H
#define SEAM_SERVE_SERVE_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* The user of the other end of a connection over TCP. -ENOENT: it is not in the tables, as when it
 * was closed; -ENOSYS: there are no tables; -errno. */
int serve_peer_user(int fd, uid_t *ret);

/* Whether a connection is of this process's own user, of the one who called sudo, or of root, who
 * can see everything anyhow. Also true where the kernel has no tables to tell it by. */
bool serve_peer_is_own(int fd);

#endif
