// SPDX-License-Identifier: MIT
// work.cc: a program that works and sometimes throws, as programs do: work SECONDS, of CPU time.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "../work.h"

namespace
{

struct parse_error : std::runtime_error {
	using std::runtime_error::runtime_error;
};

// A recursive descent over "(1+2)*3 ...": an exception leaves through all of it.
class parser
{
      public:
	explicit parser(const std::string &text) : at_(text.c_str())
	{
	}
	long sum()
	{
		long value = product();

		while (*at_ == '+' || *at_ == '-')
			value = *at_++ == '+' ? value + product() : value - product();
		return value;
	}

      private:
	long product()
	{
		long value = atom();

		while (*at_ == '*') {
			at_++;
			value = value * atom() % 1000003;
		}
		return value;
	}
	long atom()
	{
		std::unique_ptr<std::string> kept(new std::string(at_, 1));

		if (*at_ == '(') {
			at_++;
			long value = sum();
			if (*at_++ != ')')
				throw parse_error("no ) after " + *kept);
			return value;
		}
		if (*at_ < '0' || *at_ > '9')
			throw parse_error("no number but " + *kept);
		return std::strtol(at_, const_cast<char **>(&at_), 10);
	}
	const char *at_;
};

std::string expression(unsigned depth, unsigned seed, bool broken)
{
	std::ostringstream out;

	if (!depth)
		out << (broken ? "x" : std::to_string(seed % 1000));
	else
		out << '(' << expression(depth - 1, seed * 7 + 1, false) << (seed % 2 ? '+' : '*')
		    << expression(depth - 1, seed * 3 + 2, broken) << ')';
	return out.str();
}

} // namespace

int main(int, char **argv)
{
	uint64_t end = work_until(atof(argv[1]) * 1000);
	std::map<long, unsigned> seen;
	unsigned broken = 0, found = 0;

	for (unsigned i = 0; work_goes_on(end); i++) {
		std::string text = expression(7, i, i % 8 == 0);
		std::vector<std::string> lines(60, text.substr(0, 40));

		try {
			seen[parser(text).sum()]++;
		} catch (const parse_error &) {
			broken++;
		}
		std::sort(lines.begin(), lines.end(),
		          [](const std::string &a, const std::string &b) {
			          return a.size() ^ a[1] ? a < b : b < a;
		          });
		if (i % 16 == 0)
			found += std::regex_search(text, std::regex("([0-9]+)\\*\\(([0-9]+)\\+"));
	}
	std::printf("%zu %u %u\n", seen.size(), broken, found);
	return 0;
}
