// SPDX-License-Identifier: MIT
// schema.c: see schema.h.
#include "cli/schema.h"

#include <string.h>

#include "cli/schema_asset.h"
#include "cmd/outfile.h"

int schema_print(const struct cmd *cmd)
{
	bool report = !strcmp(cmd->name, "report");
	struct buf out = { 0 };
	int code;

	buf_put(&out, report ? schema_report : schema_explain,
	        report ? schema_report_size : schema_explain_size);
	code = outfile_print(cmd, &out);
	buf_free(&out);
	return code;
}
