// SPDX-License-Identifier: MIT
// mix.cc: what C++ programs do, for so many seconds of CPU time and on two threads: containers, streams, regular expressions, virtual calls,
// std::function, exceptions, an aligned frame with vectors.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../work.h"

namespace
{

struct Shape {
	virtual ~Shape() = default;
	virtual double area(double) const = 0;
};

struct Round : Shape {
	double area(double r) const override
	{
		return r * r * 3.14;
	}
};

struct Square : Shape {
	double area(double a) const override
	{
		return a * a;
	}
};

volatile double sink;

double descend(int n, const std::function<double(int)> &f)
{
	if (!n)
		throw std::runtime_error("the end");
	return f(n) + descend(n - 1, f);
}

__attribute__((noinline)) double aligned(const std::vector<double> &v)
{
	alignas(64) double sums[32] = {};

	for (size_t i = 0; i < v.size(); i++)
		sums[i & 31] += v[i];
	double sum = 0;
	for (double s : sums)
		sum += s;
	return sum;
}

void containers(std::mt19937 &random)
{
	std::map<std::string, int> counts;
	std::regex form("key([0-9]+)");
	std::smatch found;

	for (int i = 0; i < 3000; i++) {
		std::ostringstream out;
		out << "key" << random() % 700;
		counts[out.str()]++;
	}
	for (const auto &pair : counts)
		if (std::regex_match(pair.first, found, form))
			sink = sink + std::stoi(found[1]);
}

void calls(std::mt19937 &random)
{
	std::vector<double> v(20000);
	Round round;
	Square square;

	for (auto &x : v)
		x = static_cast<double>(random() % 1000);
	std::sort(v.begin(), v.end(), [](double a, double b) { return a > b; });
	for (double x : v) {
		const Shape &shape = x > 500 ? static_cast<const Shape &>(round) : square;
		sink = sink + shape.area(x);
	}
	for (int i = 0; i < 10; i++)
		sink = sink + aligned(v);
	try {
		sink = descend(30, [](int n) { return n + sink; });
	} catch (const std::runtime_error &) {
	}
}

void run(double seconds, unsigned seed)
{
	uint64_t end = work_until(seconds * 1000);
	std::mt19937 random(seed);

	while (work_goes_on(end)) {
		containers(random);
		calls(random);
	}
}

} // namespace

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? std::atof(argv[1]) : 1;
	std::thread other(run, seconds, 1);

	run(seconds, 2);
	other.join();
}
