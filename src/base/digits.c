// SPDX-License-Identifier: MIT
/* digits.c: the tables of digits.h: two decimal digits at a time, powers of ten to count digits by,
 * and " xx" for each byte; 16 bytes at once where the processor can. */
#include "base/digits.h"

#ifdef __x86_64__
#include <tmmintrin.h>
#endif

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

#ifdef __x86_64__
/* By instructions that every x86_64 since 2007 has, but not all of them. */
__attribute__((target("ssse3"))) static void digits_bytes_ssse3(char *to,
                                                                const unsigned char *bytes)
{
	const __m128i digit = _mm_setr_epi8('0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a',
	                                    'b', 'c', 'd', 'e', 'f');
	const __m128i low = _mm_set1_epi8(15), all = _mm_loadu_si128((const void *)bytes);
	const __m128i high = _mm_shuffle_epi8(digit, _mm_and_si128(_mm_srli_epi16(all, 4), low));
	const __m128i rest = _mm_shuffle_epi8(digit, _mm_and_si128(all, low));
	/* The digits of the first 8 bytes, and of the others; those around the middle. */
	const __m128i a = _mm_unpacklo_epi8(high, rest), b = _mm_unpackhi_epi8(high, rest);
	const __m128i middle = _mm_alignr_epi8(b, a, 8);
	/* Where each character is from; -1: a blank goes there. */
	const __m128i of_a = _mm_setr_epi8(-1, 0, 1, -1, 2, 3, -1, 4, 5, -1, 6, 7, -1, 8, 9, -1);
	const __m128i of_middle =
	        _mm_setr_epi8(2, 3, -1, 4, 5, -1, 6, 7, -1, 8, 9, -1, 10, 11, -1, 12);
	const __m128i of_b =
	        _mm_setr_epi8(5, -1, 6, 7, -1, 8, 9, -1, 10, 11, -1, 12, 13, -1, 14, 15);
	const __m128i blank = _mm_set1_epi8(' ');

	/* What has no digit is 0 until here; a digit has the bit of a blank. */
	_mm_storeu_si128((void *)to, _mm_or_si128(_mm_shuffle_epi8(a, of_a), blank));
	_mm_storeu_si128((void *)(to + 16),
	                 _mm_or_si128(_mm_shuffle_epi8(middle, of_middle), blank));
	_mm_storeu_si128((void *)(to + 32), _mm_or_si128(_mm_shuffle_epi8(b, of_b), blank));
}
#endif

void digits_put_bytes16(char *to, const unsigned char *bytes)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("ssse3")) {
		digits_bytes_ssse3(to, bytes);
		return;
	}
#endif
	for (unsigned i = 0; i < 16; i++)
		memcpy(to + i * 3, digits_bytes + bytes[i] * 3, 3);
}
