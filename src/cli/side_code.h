/* SPDX-License-Identifier: MIT */
// side_code.h: the source and instructions of what a loaded recording's samples hit.
#ifndef SEAM_CLI_SIDE_CODE_H
#define SEAM_CLI_SIDE_CODE_H

#include "annotate/annotate.h"
#include "input/compared.h"
#include "input/naming.h"

/* Where the code of a side's functions is found. builds: compared_builds. Profile and symbols stay
 * the side's, which must live as long. */
struct annotate side_code(struct naming *naming, struct compared_side *side, struct builds *builds);
void side_code_end(struct annotate *code);

#endif
