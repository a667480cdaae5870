// SPDX-License-Identifier: MIT
/*
 * live_work.cc: what bench/table compiles and records where Debian's sources cannot be had. Formulas
 * are parsed, kept in maps, evaluated by virtual calls with exceptions out of their depth, and
 * shapes are sorted by comparators that call on.
 *
 *	live_work ROUNDS        always the same work; prints a sum, so that nothing of it is left out
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

using variables = std::map<std::string, double>;

struct node {
	virtual ~node() = default;
	virtual double value(const variables &v) const = 0;
};
using node_ptr = std::unique_ptr<node>;

struct number final : node {
	double n;
	explicit number(double n) : n(n)
	{
	}
	double value(const variables &) const override
	{
		return n;
	}
};

struct variable final : node {
	std::string name;
	explicit variable(std::string name) : name(std::move(name))
	{
	}
	double value(const variables &v) const override
	{
		auto found = v.find(name);

		if (found == v.end())
			throw std::out_of_range("no variable " + name);
		return found->second;
	}
};

struct negative final : node {
	node_ptr of;
	explicit negative(node_ptr of) : of(std::move(of))
	{
	}
	double value(const variables &v) const override
	{
		return -of->value(v);
	}
};

template <typename Operation> struct binary final : node {
	node_ptr left, right;
	binary(node_ptr left, node_ptr right) : left(std::move(left)), right(std::move(right))
	{
	}
	double value(const variables &v) const override
	{
		return Operation()(left->value(v), right->value(v));
	}
};

struct quotient {
	double operator()(double a, double b) const
	{
		if (std::fabs(b) < 1e-9)
			throw std::domain_error("divided by zero");
		return a / b;
	}
};

class parser
{
	const char *at;

	char next()
	{
		while (*at == ' ')
			at++;
		return *at;
	}
	node_ptr factor()
	{
		char c = next();

		if (c == '(') {
			at++;
			node_ptr inner = sum();
			if (next() != ')')
				throw std::invalid_argument("no )");
			at++;
			return inner;
		}
		if (c == '-') {
			at++;
			return std::make_unique<negative>(factor());
		}
		if (c >= 'a' && c <= 'z') {
			const char *begin = at;
			while ((*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9'))
				at++;
			return std::make_unique<variable>(std::string(begin, at));
		}
		char *end;
		double n = std::strtod(at, &end);
		if (end == at)
			throw std::invalid_argument("no number");
		at = end;
		return std::make_unique<number>(n);
	}
	node_ptr product()
	{
		node_ptr left = factor();

		for (char c = next(); c == '*' || c == '/'; c = next()) {
			at++;
			node_ptr right = factor();
			if (c == '*')
				left = std::make_unique<binary<std::multiplies<double>>>(
				        std::move(left), std::move(right));
			else
				left = std::make_unique<binary<quotient>>(std::move(left),
				                                          std::move(right));
		}
		return left;
	}
	node_ptr sum()
	{
		node_ptr left = product();

		for (char c = next(); c == '+' || c == '-'; c = next()) {
			at++;
			node_ptr right = product();
			if (c == '+')
				left = std::make_unique<binary<std::plus<double>>>(std::move(left),
				                                                   std::move(
				                                                           right));
			else
				left = std::make_unique<binary<std::minus<double>>>(std::move(left),
				                                                    std::move(
				                                                            right));
		}
		return left;
	}

      public:
	explicit parser(const std::string &text) : at(text.c_str())
	{
	}
	node_ptr parse()
	{
		node_ptr all = sum();

		if (next())
			throw std::invalid_argument("something behind the formula");
		return all;
	}
};

std::string formula(std::mt19937 &random, unsigned depth)
{
	static const char operations[] = "+-*/";

	if (!depth || random() % 8 == 0)
		return random() % 2 ? "v" + std::to_string(random() % 202)
		                    : std::to_string(random() % 100);
	return "(" + formula(random, depth - 1) + " " + operations[random() % 4] + " " +
	       formula(random, depth - 1) + ")";
}

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
};

struct circle final : shape {
	double r;
	explicit circle(double r) : r(r)
	{
	}
	double area() const override
	{
		return std::sin(r) + r * r * 3.14159;
	}
};

struct frame final : shape {
	std::unique_ptr<shape> inner;
	double edge;
	frame(std::unique_ptr<shape> inner, double edge) : inner(std::move(inner)), edge(edge)
	{
	}
	double area() const override
	{
		return inner->area() + edge;
	}
};

template <typename Each> double formulas(std::mt19937 &random, const variables &v, Each &&each)
{
	std::map<std::string, node_ptr> known;
	double sum = 0;

	for (unsigned i = 0; i < 150; i++) {
		std::string text = formula(random, 5);
		known[text] = parser(text).parse();
	}
	for (unsigned again = 0; again < 40; again++)
		for (const auto &k : known)
			sum += each([&] { return k.second->value(v); });
	return sum;
}

double shapes(std::mt19937 &random)
{
	std::vector<std::unique_ptr<shape>> all;

	for (unsigned i = 0; i < 3000; i++) {
		std::unique_ptr<shape> s = std::make_unique<circle>(random() % 1000);
		for (unsigned depth = random() % 6; depth; depth--)
			s = std::make_unique<frame>(std::move(s), random() % 7);
		all.push_back(std::move(s));
	}
	std::sort(all.begin(), all.end(),
	          [](const auto &a, const auto &b) { return a->area() < b->area(); });
	return all[all.size() / 2]->area();
}

} // namespace

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
	std::mt19937 random(1);
	variables v;
	double sum = 0;

	for (unsigned i = 0; i < 200; i++) /* two are not there */
		v["v" + std::to_string(i)] = random() % 1000 - 500.0;
	for (int i = 0; i < rounds; i++) {
		sum += formulas(random, v, [](auto &&value) {
			try {
				return std::fmod(value(), 1000);
			} catch (const std::exception &) {
				return 1.0;
			}
		});
		sum += shapes(random);
	}
	std::printf("%g\n", sum);
	return 0;
}
