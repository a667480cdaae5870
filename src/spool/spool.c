// SPDX-License-Identifier: MIT
/*
 * spool.c: see spool.h. A piece is the file SEQUENCE-WEIGHT.piece, or .sent while it is under way;
 * what is being written is `new`, what was dropped is in `dropped`.
 */
#include "spool/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#define PIECE_BYTES ((uint64_t)256 << 20) /* no larger piece is read */
#define NAME_BYTES 64

struct spool_piece {
	uint64_t sequence, weight, bytes;
	bool sent; /* its name says so */
};

struct spool {
	int dir;
	char *path;
	uint64_t most_bytes, next;
	struct spool_piece *pieces; /* from `first` on, by sequence */
	size_t first, n, capacity;
	uint64_t bytes, dropped, dropped_weight;
	bool under_way; /* the first one */
	pthread_mutex_t lock;
};

static const char *spool_name(const struct spool_piece *p, bool sent, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%016llx-%llu.%s", (unsigned long long)p->sequence,
	         (unsigned long long)p->weight, sent ? "sent" : "piece");
	return name;
}

static int spool_failed(const struct spool *s, int error, struct seam_error *err)
{
	return seam_error_set(err, error, s->path, SEAM_NO_OFFSET, NULL, "%s", strerror(error));
}

/* Writes a file beside and renames it. safe: it is on the disk then. -errno; then it is not there,
 * or as it was. */
static int spool_write(const struct spool *s, const char *name, const void *bytes, size_t n,
                       bool safe)
{
	int fd = openat(s->dir, "new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	size_t at = 0;
	int error = fd < 0 ? errno : 0;

	while (!error && at < n) {
		ssize_t put = write(fd, (const char *)bytes + at, n - at);

		if (put < 0 && errno != EINTR)
			error = errno;
		at += put > 0 ? (size_t)put : 0;
	}
	if (!error && safe && fsync(fd) < 0)
		error = errno;
	if (fd >= 0 && close(fd) < 0 && !error)
		error = errno;
	if (!error && renameat(s->dir, "new", s->dir, name) < 0)
		error = errno;
	if (!error && safe && fsync(s->dir) < 0)
		error = errno;
	if (error && fd >= 0)
		unlinkat(s->dir, "new", 0);
	return -error;
}

/* ---- what was dropped ---- */

/* Keeps the counts. That they are not on the disk at once loses no piece. */
static void spool_keep_dropped(struct spool *s)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%llu %llu\n", (unsigned long long)s->dropped,
	                 (unsigned long long)s->dropped_weight);

	spool_write(s, "dropped", text, (size_t)n, false);
}

static void spool_read_dropped(struct spool *s)
{
	unsigned long long dropped, weight;
	char text[64];
	int fd = openat(s->dir, "dropped", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	if (sscanf(text, "%19llu %19llu", &dropped, &weight) == 2) {
		s->dropped = dropped;
		s->dropped_weight = weight;
	}
}

/* Takes a piece out, at an index from `first` on. */
static void spool_remove(struct spool *s, size_t i)
{
	char name[NAME_BYTES];

	unlinkat(s->dir, spool_name(&s->pieces[i], s->pieces[i].sent, name), 0);
	s->bytes -= s->pieces[i].bytes;
	memmove(&s->pieces[s->first + 1], &s->pieces[s->first],
	        (i - s->first) * sizeof(*s->pieces));
	s->first++;
	s->n--;
}

/* The same of one that did not arrive. It is counted first: if the program ends here, it is counted
 * and may arrive, too; the other way round it would be gone without a word. */
static void spool_lose(struct spool *s, size_t i)
{
	s->dropped++;
	s->dropped_weight += s->pieces[i].weight;
	spool_keep_dropped(s);
	spool_remove(s, i);
}

/* ---- opening ---- */

/* Makes a directory and those above it. */
static int spool_make_directory(const char *path)
{
	char *copy = strdup(path);
	int r = copy ? 0 : -ENOMEM;

	for (char *slash = copy; copy && (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		mkdir(copy, 0700);
		*slash = '/';
	}
	if (copy && mkdir(copy, 0700) < 0 && errno != EEXIST)
		r = -errno;
	free(copy);
	return r;
}

/* Appends, by sequence later. -ENOMEM. */
static int spool_append(struct spool *s, const struct spool_piece *p)
{
	if (s->first && s->first + s->n == s->capacity) {
		memmove(s->pieces, s->pieces + s->first, s->n * sizeof(*s->pieces));
		s->first = 0;
	}
	if (ARRAY_ROOM(&s->pieces, &s->capacity, s->first + s->n + 1) < 0)
		return -ENOMEM;
	s->pieces[s->first + s->n++] = *p;
	s->bytes += p->bytes;
	if (p->sequence >= s->next)
		s->next = p->sequence + 1;
	return 0;
}

static int spool_order(const void *a, const void *b)
{
	const struct spool_piece *x = a, *y = b;

	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Takes what a run before this one left. */
static int spool_scan(struct spool *s, bool once)
{
	DIR *d = fdopendir(openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	int r = d ? 0 : -errno;

	for (const struct dirent *e; r >= 0 && (e = readdir(d));) {
		unsigned long long sequence, weight;
		struct spool_piece p;
		char name[NAME_BYTES];
		struct stat st;

		if (sscanf(e->d_name, "%16llx-%19llu.", &sequence, &weight) != 2)
			continue;
		p = (struct spool_piece){ .sequence = sequence, .weight = weight };
		p.sent = strstr(e->d_name, ".sent") != NULL;
		/* What has another name is not ours. */
		if (strcmp(spool_name(&p, p.sent, name), e->d_name) != 0 ||
		    fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		p.bytes = (uint64_t)st.st_size;
		r = spool_append(s, &p);
	}
	if (d)
		closedir(d);
	if (s->n)
		qsort(s->pieces, s->n, sizeof(*s->pieces), spool_order);
	for (size_t i = s->n; i-- && once && r >= 0;)
		if (s->pieces[s->first + i].sent) {
			spool_lose(s, s->first + i);
			i = s->n;
		}
	return r;
}

/* Opens, locks and reads the directory. */
static int spool_take_directory(struct spool *s, bool once, struct seam_error *err)
{
	int r = spool_make_directory(s->path);

	if (r >= 0)
		s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r < 0 || s->dir < 0)
		return spool_failed(s, r < 0 ? -r : errno, err);
	if (flock(s->dir, LOCK_EX | LOCK_NB) < 0)
		return seam_error_set(err, EEXIST, s->path, SEAM_NO_OFFSET, NULL,
		                      "another seam agent has this spool");
	spool_read_dropped(s);
	r = spool_scan(s, once);
	return r < 0 && r != -ENOMEM ? spool_failed(s, -r, err) : r;
}

int spool_open(struct spool **ret, const char *path, uint64_t most_bytes, bool once,
               struct seam_error *err)
{
	struct spool *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->dir = -1;
	s->most_bytes = most_bytes;
	pthread_mutex_init(&s->lock, NULL);
	s->path = strdup(path);
	r = s->path ? spool_take_directory(s, once, err) : -ENOMEM;
	if (r < 0)
		spool_close(s);
	else
		*ret = s;
	return r;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	if (s->dir >= 0)
		close(s->dir);
	pthread_mutex_destroy(&s->lock);
	free(s->pieces);
	free(s->path);
	free(s);
}

/* ---- pieces ---- */

/* Makes room by dropping the oldest that are not under way. False: there is none. */
static void spool_make_room(struct spool *s, uint64_t n)
{
	while (s->bytes + n > s->most_bytes && s->n > (s->under_way ? 1 : 0))
		spool_lose(s, s->first + (s->under_way ? 1 : 0));
}

/* Puts a piece behind the others. The lock is held while the disk is waited for: pieces are seconds
 * apart. */
int spool_put(struct spool *s, const void *bytes, size_t n, uint64_t weight, struct seam_error *err)
{
	struct spool_piece p = { .weight = weight, .bytes = n };
	char name[NAME_BYTES];
	int r;

	if (n > s->most_bytes || n > PIECE_BYTES)
		return seam_error_set(err, EMSGSIZE, s->path, SEAM_NO_OFFSET, NULL,
		                      "a window of %zu bytes is larger than the spool", n);
	pthread_mutex_lock(&s->lock);
	spool_make_room(s, n);
	p.sequence = s->next;
	r = spool_write(s, spool_name(&p, false, name), bytes, n, true);
	if (r >= 0) {
		r = spool_append(s, &p);
		if (r < 0)
			unlinkat(s->dir, name, 0);
	}
	pthread_mutex_unlock(&s->lock);
	return r < 0 && r != -ENOMEM ? spool_failed(s, -r, err) : r;
}

/* Renames the first piece. */
static void spool_mark(struct spool *s, bool sent)
{
	char from[NAME_BYTES], to[NAME_BYTES];
	struct spool_piece *p = &s->pieces[s->first];

	if (p->sent != sent &&
	    renameat(s->dir, spool_name(p, p->sent, from), s->dir, spool_name(p, sent, to)) == 0)
		p->sent = sent;
}

/* Appends what a file has. */
static int spool_read_file(int fd, uint64_t bytes, struct buf *to)
{
	unsigned char *room = fd < 0 ? NULL : buf_reserve(to, bytes);
	uint64_t at = 0;

	if (fd < 0)
		return -errno;
	while (room && at < bytes) {
		ssize_t n = read(fd, room + at, bytes - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		at += (uint64_t)n;
	}
	to->n += at;
	return room ? 1 : -ENOMEM;
}

/* Marks the oldest piece before it is read: who takes it may send it at once. */
int spool_first(struct spool *s, struct buf *to)
{
	char name[NAME_BYTES];
	int r = 0;

	pthread_mutex_lock(&s->lock);
	if (s->n) {
		const struct spool_piece *p = &s->pieces[s->first];
		int fd;

		s->under_way = true;
		spool_mark(s, true);
		fd = openat(s->dir, spool_name(p, p->sent, name),
		            O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		r = p->bytes > PIECE_BYTES ? -EBADMSG : spool_read_file(fd, p->bytes, to);
		if (fd >= 0)
			close(fd);
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

void spool_done(struct spool *s)
{
	pthread_mutex_lock(&s->lock);
	s->under_way = false;
	if (s->n)
		spool_remove(s, s->first);
	pthread_mutex_unlock(&s->lock);
}

void spool_drop(struct spool *s)
{
	pthread_mutex_lock(&s->lock);
	s->under_way = false;
	if (s->n)
		spool_lose(s, s->first);
	pthread_mutex_unlock(&s->lock);
}

void spool_back(struct spool *s)
{
	pthread_mutex_lock(&s->lock);
	s->under_way = false;
	if (s->n)
		spool_mark(s, false);
	pthread_mutex_unlock(&s->lock);
}

void spool_counts(struct spool *s, struct spool_counts *ret)
{
	pthread_mutex_lock(&s->lock);
	*ret = (struct spool_counts){ s->n, s->bytes, s->dropped, s->dropped_weight };
	pthread_mutex_unlock(&s->lock);
}

void spool_told(struct spool *s, const struct spool_counts *told)
{
	pthread_mutex_lock(&s->lock);
	s->dropped -= told->dropped;
	s->dropped_weight -= told->dropped_weight;
	if (told->dropped)
		spool_keep_dropped(s);
	pthread_mutex_unlock(&s->lock);
}
