// SPDX-License-Identifier: MIT
// tasks_work.cc: a program about which bench/tasks asks questions whose answers are known: a worker
// whose hot function has two callers, and a loader that sleeps. argv[1]: how often hash_row goes
// over a row; argv[2]: milliseconds of CPU time for the worker.
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#define APART __attribute__((noinline, noclone))

static volatile uint64_t sink;
static int hash_rounds = 1;
static volatile bool done;

static uint64_t cpu_ms()
{
	timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return static_cast<uint64_t>(t.tv_sec) * 1000 + static_cast<uint64_t>(t.tv_nsec) / 1000000;
}

APART uint64_t parse_number(const std::string &text)
{
	uint64_t v = 0;

	for (int round = 0; round < 40; round++)
		for (char c : text)
			v = v * 10 + static_cast<uint64_t>(c - '0'); // the line that is asked for
	return v;
}

APART uint64_t read_table(const std::vector<std::string> &rows)
{
	uint64_t sum = 0;

	for (const std::string &row : rows)
		sum += parse_number(row) + parse_number(row);
	sink = sum;
	return sum;
}

APART uint64_t check_row(const std::string &row)
{
	uint64_t v = parse_number(row) + 1;

	sink = v;
	return v;
}

APART uint64_t hash_row(const std::string &row)
{
	uint64_t h = 14695981039346656037u;

	for (int i = 0; i < 20 * hash_rounds; i++)
		for (char c : row)
			h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
	return h;
}

static void *loader(void *)
{
	pthread_setname_np(pthread_self(), "loader");
	while (!done) {
		usleep(20000);
		sink = sink + 1;
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	std::vector<std::string> rows;
	uint64_t ms = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1000;
	pthread_t thread;

	if (argc > 1)
		hash_rounds = atoi(argv[1]);
	for (int i = 0; i < 200; i++)
		rows.push_back(std::to_string(7919 * (i + 1)) + std::to_string(104729 * (i + 1)));
	pthread_create(&thread, nullptr, loader, nullptr);
	while (cpu_ms() < ms) {
		read_table(rows);
		for (const std::string &row : rows) {
			check_row(row);
			sink = hash_row(row);
		}
	}
	done = true;
	pthread_join(thread, nullptr);
	return 0;
}
