// SPDX-License-Identifier: MIT
// throw.cc: threads that throw and catch through frames with destructors, and sort strings meanwhile.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../work.h"

struct Guard {
	std::string text;
	explicit Guard(unsigned n) : text(n % 40 + 20, 'x')
	{
	}
	~Guard()
	{
		text[0] = 'y';
	}
};

__attribute__((noinline)) static unsigned sink(unsigned n, unsigned depth)
{
	Guard guard(n);

	if (!depth)
		throw std::runtime_error(guard.text);
	return sink(n + 1, depth - 1) + static_cast<unsigned>(guard.text.size());
}

static void work(double ms)
{
	uint64_t end = work_until(ms);
	std::map<std::string, unsigned> words;

	for (unsigned n = 0; work_goes_on(end); n++) {
		try {
			words["never"] += sink(n, 8);
		} catch (const std::exception &e) {
			words[e.what()]++;
		}
		std::vector<std::string> list;
		for (unsigned i = 0; i < 50; i++)
			list.push_back(std::to_string((n + i) * 2654435761u));
		std::sort(list.begin(), list.end(),
		          [](const auto &a, const auto &b) { return b < a; });
		words[list[n % 50].substr(0, 2)]++;
	}
}

int main(int argc, char **argv)
{
	double ms = argc > 1 ? std::atof(argv[1]) * 1000 : 1000;
	std::vector<std::thread> threads;

	for (int i = 0; i < 2; i++)
		threads.emplace_back(work, ms);
	work(ms);
	for (auto &t : threads)
		t.join();
}
