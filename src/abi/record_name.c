// SPDX-License-Identifier: MIT
// record_name.c: what a type of record is called.
#include "abi/decode.h"

const char *seam_record_name(uint32_t type)
{
	static const char *const names[RECORD_TYPES] = {
#define RECORD(id, symbol, name, least, decoder, printer, fields) [id] = name,
#include "abi/records.def"
	};

	return type < RECORD_TYPES ? names[type] : NULL;
}
