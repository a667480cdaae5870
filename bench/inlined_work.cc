// SPDX-License-Identifier: MIT
// inlined_work.cc: work for bench/table: compiles and matches regular expressions with re2 for as
// many seconds as the argument says. Its stacks are deep and full of inlined calls.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "re2/re2.h"
#include "re2/set.h"

static std::string text(unsigned seed)
{
	std::string s;

	for (int i = 0; i < 4000; i++) {
		seed = seed * 1103515245 + 12345;
		s += "abcdefgh 0123456789.,@-/"[seed >> 16 & 23];
	}
	return s;
}

static unsigned long once(unsigned seed)
{
	static const char *const patterns[] = {
		"(\\w+)@(\\w+)\\.com", "([a-h]+)\\d{2,4}", "(?i)(abc|bcd|cde)+\\s",
		"(\\d+)-(\\d+)-(\\d+)", "((a*)*b)+c?", "[[:alpha:]]{2,6}/[[:digit:]]+", ".*g.{20}$",
	};
	const std::string s = text(seed);
	unsigned long found = 0;
	RE2::Set set(RE2::DefaultOptions, RE2::UNANCHORED);
	std::vector<int> which;

	for (const char *pattern : patterns) {
		RE2 re(std::string(pattern) + (seed & 1 ? "|zz" : ""));
		re2::StringPiece rest(s);
		std::string group;

		while (found < ~0UL && RE2::FindAndConsume(&rest, re))
			found++;
		found += RE2::PartialMatch(s, re, &group) + group.size();
		set.Add(pattern, nullptr);
	}
	set.Compile();
	set.Match(s, &which);
	return found + which.size();
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	unsigned long found = 0;

	for (unsigned seed = 0; clock() < seconds * CLOCKS_PER_SEC; seed++)
		found += once(seed);
	printf("%lu\n", found);
}
