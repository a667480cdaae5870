// SPDX-License-Identifier: MIT
// serve_peer.c: see serve_peer.h.
#include "serve/serve_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEER_TRIES 3 /* a table that changes while it is read may lack a line */
#define PEER_END 48  /* 32 digits, a colon, 4 digits */

union peer_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* One end as the tables have it: words of the address as this machine reads them, and the port. A
 * program may use a socket of IPv6 for an address of IPv4, whose line is in the table of IPv6. */
static bool peer_end(const union peer_address *a, bool in_v6, char to[PEER_END])
{
	uint32_t w[4] = { 0, 0, htonl(0xffff), 0 };
	bool is_v4 = a->any.sa_family == AF_INET;

	if (!is_v4 && (a->any.sa_family != AF_INET6 || !in_v6))
		return false;
	if (is_v4)
		w[3] = a->v4.sin_addr.s_addr;
	else
		memcpy(w, &a->v6.sin6_addr, sizeof(w));
	if (in_v6)
		snprintf(to, PEER_END, "%08X%08X%08X%08X:%04X", w[0], w[1], w[2], w[3],
		         ntohs(is_v4 ? a->v4.sin_port : a->v6.sin6_port));
	else
		snprintf(to, PEER_END, "%08X:%04X", w[3], ntohs(a->v4.sin_port));
	return true;
}

/* The user of the socket whose own end is the first and whose other end is the second. A line:
 * "  0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000 ..." */
static int peer_find(FILE *table, const char *own, const char *other, uid_t *ret)
{
	char line[512], local[PEER_END], remote[PEER_END];
	unsigned user;

	while (fgets(line, sizeof(line), table))
		if (sscanf(line, " %*[0-9]: %47s %47s %*x %*[0-9A-F:] %*[0-9A-F:] %*x %u", local,
		           remote, &user) == 3 &&
		    strcmp(local, own) == 0 && strcmp(remote, other) == 0) {
			*ret = user;
			return 0;
		}
	return ferror(table) ? -EIO : -ENOENT;
}

/* Looks in one table. -ENOSYS: it is not there. */
static int peer_in_table(const char *path, bool in_v6, const union peer_address *peer,
                         const union peer_address *here, uid_t *ret)
{
	char own[PEER_END], other[PEER_END];
	FILE *table;
	int r;

	if (!peer_end(peer, in_v6, own) || !peer_end(here, in_v6, other))
		return -ENOENT;
	table = fopen(path, "re");
	if (!table)
		return -ENOSYS;
	r = peer_find(table, own, other, ret);
	fclose(table);
	return r;
}

/* Looks in both tables, again where neither has it. */
int serve_peer_user(int fd, uid_t *ret)
{
	union peer_address peer = { 0 }, here = { 0 };
	socklen_t n = sizeof(peer), m = sizeof(here);
	int r = -ENOENT;

	if (getpeername(fd, &peer.any, &n) < 0 || getsockname(fd, &here.any, &m) < 0)
		return -errno;
	for (int i = 0; r == -ENOENT && i < PEER_TRIES; i++) {
		int first = peer_in_table("/proc/net/tcp", false, &peer, &here, ret);

		if (first == 0)
			return 0;
		r = peer_in_table("/proc/net/tcp6", true, &peer, &here, ret);
		/* A machine without IPv6 has the first alone. */
		if (r == -ENOSYS && peer.any.sa_family == AF_INET)
			r = first;
	}
	return r;
}

/* Who called sudo: only root's word for it counts. */
static bool peer_called_sudo(uid_t user)
{
	const char *text = getenv("SUDO_UID");
	char number[16];

	snprintf(number, sizeof(number), "%u", (unsigned)user);
	return geteuid() == 0 && text && strcmp(text, number) == 0;
}

bool serve_peer_is_own(int fd)
{
	uid_t user;
	int r = serve_peer_user(fd, &user);

	if (r == -ENOSYS)
		return true;
	return r >= 0 && (user == geteuid() || user == 0 || peer_called_sudo(user));
}
