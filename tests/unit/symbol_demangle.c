// SPDX-License-Identifier: MIT
// symbol_demangle.c: names of three languages, what is no name, and names made to explode.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "symbol/symbol.h"

static void check(const char *mangled, bool parameters, const char *want)
{
	char *got = symbol_demangle(mangled, parameters);

	if (want) {
		assert_non_null(got);
		assert_string_equal(got, want);
	} else {
		assert_null(got);
	}
	free(got);
}

static void test_languages(void **state)
{
	check("_ZNSt6vectorIiSaIiEE9push_backEOi", false,
	      "std::vector<int, std::allocator<int> >::push_back");
	check("_ZNSt6vectorIiSaIiEE9push_backEOi", true,
	      "std::vector<int, std::allocator<int> >::push_back(int&&)");
	check("_Z3fooi.cold", false, "foo [clone .cold]");
	check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", false, "core::fmt::Formatter::pad");
	check("_RNvNtCs1234_7mycrate3foo3bar", false, "mycrate::foo::bar");
	check("_D3std5stdio7writelnFAyaZv", false, "std.stdio.writeln(immutable(char)[])");
}

static void test_no_names(void **state)
{
	check("main", false, NULL);
	check("", false, NULL);
	check("_", false, NULL);
	check("_Z", false, NULL);
	check("_start", false, NULL);
	check("_ZNSt6vectorIiSaIi", false, NULL);
	check("_Z.cold", false, NULL);
}

/* f(A<int, int>, A<S0, S0>, A<S1, S1> ...): by back references each argument is twice the one
 * before. */
static void put_doubling(struct buf *b, int levels)
{
	buf_clear(b);
	buf_put_text(b, "_Z1f1AIiiE");
	for (int i = 0; i < levels; i++)
		buf_printf(b, "S_IS%c_S%c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i],
		           "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
}

static void test_bombs(void **state)
{
	struct buf b = { 0 };

	put_doubling(&b, 2);
	check(buf_text(&b), true,
	      "f(A<int, int>, A<A<int, int>, A<int, int> >, A<A<A<int, int>, A<int, int> >, "
	      "A<A<int, int>, A<int, int> > >)");
	put_doubling(&b, 34); /* 2^34 ints */
	check(buf_text(&b), true, NULL);
	buf_clear(&b);
	buf_put_text(&b, "_Z1f");
	while (b.n < SYMBOL_DEMANGLE_MAX - 2)
		buf_put_text(&b, "P");
	buf_put_text(&b, "i");
	free(symbol_demangle(buf_text(&b), true)); /* as deep as it is long */
	buf_put_text(&b, "ii");
	check(buf_text(&b), true, NULL); /* too long */
	buf_clear(&b);
	buf_put_text(&b, "_D1a");
	for (int i = 0; i < 100; i++)
		buf_put_text(&b, "QbQd");
	check(buf_text(&b), false, NULL);
	buf_clear(&b);
	buf_put_text(&b, "_RIC1a");
	while (b.n < 4000)
		buf_put_text(&b, "TB5_B5_");
	free(symbol_demangle(buf_text(&b), false));
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_languages),
		cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_bombs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
