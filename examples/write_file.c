// SPDX-License-Identifier: MIT
// write_file.c: turns lines of text into a perf.data, with libseam: what another sampler saw, for
// seam, perf and hotspot.
//
//	cc write_file.c $(pkg-config --cflags --libs seam) -o write_file
//	printf '1000 0x401126 0x401200\n2000 0x401130 0x401200\n' | ./write_file made.data
//	seam report -i made.data
//
// Each line is a sample: its time in ns, then the addresses of its stack, innermost first. They are
// of one process whose program, /usr/bin/true, is mapped at 0x400000.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seam/seam.h>

#define PID 4711u
#define FRAMES_MAX 127

/* A record grows in here: an 8-byte header, then fields in the order of the ABI. */
struct bytes {
	unsigned char at[64 + 8 * FRAMES_MAX];
	size_t n;
};

static void put(struct bytes *b, const void *value, size_t n)
{
	memcpy(b->at + b->n, value, n);
	b->n += n;
}

static void put_u32(struct bytes *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static void put_u64(struct bytes *b, uint64_t v)
{
	put(b, &v, sizeof(v));
}

/* The header is written last: only then the size is known. */
static int write_record(struct seam_writer *writer, struct bytes *b, uint32_t type, uint16_t misc,
                        struct seam_error *err)
{
	uint16_t size = (uint16_t)b->n;

	memcpy(b->at, &type, 4);
	memcpy(b->at + 4, &misc, 2);
	memcpy(b->at + 6, &size, 2);
	return seam_writer_write(writer, b->at, b->n, err);
}

/* PERF_RECORD_MMAP: where the program lies. Its name is padded to a multiple of 8 bytes. */
static int write_mapping(struct seam_writer *writer, struct seam_error *err)
{
	char path[16] = "/usr/bin/true";
	struct bytes b = { .n = 8 };

	put_u32(&b, PID);
	put_u32(&b, PID);
	put_u64(&b, 0x400000); /* address */
	put_u64(&b, 0x100000); /* bytes */
	put_u64(&b, 0);        /* offset in the file */
	put(&b, path, sizeof(path));
	return write_record(writer, &b, SEAM_RECORD_MMAP, SEAM_MISC_USER, err);
}

/* PERF_RECORD_SAMPLE, with the fields that the event's sample_type names: IP, TID, TIME,
 * CALLCHAIN. */
static int write_sample(struct seam_writer *writer, char *line, struct seam_error *err)
{
	uint64_t time_ns = strtoull(line, &line, 0), frames[FRAMES_MAX], n = 0;
	struct bytes b = { .n = 8 };

	for (char *end; n < FRAMES_MAX; line = end) {
		frames[n] = strtoull(line, &end, 0);
		if (end == line)
			break;
		n++;
	}
	if (!n)
		return seam_error_set(err, EINVAL, "standard input", SEAM_NO_OFFSET, NULL,
		                      "a line without an address");
	put_u64(&b, frames[0]);
	put_u32(&b, PID);
	put_u32(&b, PID);
	put_u64(&b, time_ns);
	put_u64(&b, n + 1);
	put_u64(&b, SEAM_CONTEXT_USER);
	put(&b, frames, n * sizeof(frames[0]));
	return write_record(writer, &b, SEAM_RECORD_SAMPLE, SEAM_MISC_USER, err);
}

int main(int argc, char **argv)
{
	const struct seam_attr attr = {
		.type = SEAM_TYPE_SOFTWARE,
		.size = 144,
		.sample_period = 1000000,
		.sample_type =
		        SEAM_SAMPLE_IP | SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_CALLCHAIN,
		.flags = SEAM_ATTR_EXCLUDE_KERNEL,
	};
	struct seam_events *events = NULL;
	struct seam_writer *writer = NULL;
	struct seam_error err = { 0 };
	char line[4096];
	int r = seam_events_new(&events), closed;

	if (r >= 0)
		r = seam_events_add(events, &attr, "cpu-clock:u", NULL, 0, &err);
	if (r >= 0)
		r = seam_writer_open(&writer, argc > 1 ? argv[1] : "made.data", events, NULL, &err);
	if (r >= 0)
		r = write_mapping(writer, &err);
	while (r >= 0 && fgets(line, sizeof(line), stdin))
		r = write_sample(writer, line, &err);
	closed = writer ? seam_writer_close(writer, r < 0 ? NULL : &err) : 0;
	seam_events_free(events);
	if (r >= 0 && closed >= 0)
		return 0;
	fprintf(stderr, "%s\n", err.text[0] ? err.text : "out of memory");
	return 1;
}
