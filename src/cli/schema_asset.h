/* SPDX-License-Identifier: MIT */
/* schema_asset.h: the JSON Schema of what a command prints with --json, made of docs/json.md by the
 * build. */
#ifndef SEAM_CLI_SCHEMA_ASSET_H
#define SEAM_CLI_SCHEMA_ASSET_H

#include <stddef.h>

extern const unsigned char schema_report[], schema_explain[];
extern const size_t schema_report_size, schema_explain_size;

#endif
