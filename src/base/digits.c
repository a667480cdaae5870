// SPDX-License-Identifier: MIT
/* digits.c: the tables of digits.h: two decimal digits at a time, powers of ten to count digits by,
 * and " xx" for each byte. */
#include "base/digits.h"

#define TEN(d) d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9"
/* clang-format off */
#define SIXTEEN(d) " " d "0 " d "1 " d "2 " d "3 " d "4 " d "5 " d "6 " d "7 " d "8 " d "9 " \
                   d "a " d "b " d "c " d "d " d "e " d "f"

const char digits_pairs[201] = TEN("0") TEN("1") TEN("2") TEN("3") TEN("4")
                               TEN("5") TEN("6") TEN("7") TEN("8") TEN("9");

const uint64_t digits_powers[DIGITS_MAX] = { 0,
	                                     10,
	                                     100,
	                                     1000,
	                                     10000,
	                                     100000,
	                                     1000000,
	                                     10000000,
	                                     100000000,
	                                     1000000000,
	                                     10000000000,
	                                     100000000000,
	                                     1000000000000,
	                                     10000000000000,
	                                     100000000000000,
	                                     1000000000000000,
	                                     10000000000000000,
	                                     100000000000000000,
	                                     1000000000000000000,
	                                     10000000000000000000u };

const char digits_bytes[769] = SIXTEEN("0") SIXTEEN("1") SIXTEEN("2") SIXTEEN("3")
                               SIXTEEN("4") SIXTEEN("5") SIXTEEN("6") SIXTEEN("7")
                               SIXTEEN("8") SIXTEEN("9") SIXTEEN("a") SIXTEEN("b")
                               SIXTEEN("c") SIXTEEN("d") SIXTEEN("e") SIXTEEN("f");
/* clang-format on */
