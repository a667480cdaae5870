// SPDX-License-Identifier: MIT
// inlined_tables.cc: empty Unicode tables for re2, whose own Debian makes from other packages: the
// work of bench/table has no need of them.
#include "re2/unicode_casefold.h"
#include "re2/unicode_groups.h"

namespace re2 {
const CaseFold unicode_casefold[] = { { 0, 0, 0 } };
const int num_unicode_casefold = 0;
const CaseFold unicode_tolower[] = { { 0, 0, 0 } };
const int num_unicode_tolower = 0;
const UGroup unicode_groups[] = { { "", 0, nullptr, 0, nullptr, 0 } };
const int num_unicode_groups = 0;
}
