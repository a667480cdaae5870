// SPDX-License-Identifier: MIT
// side_code.c: see side_code.h.
#include "cli/side_code.h"

struct annotate side_code(struct naming *naming, struct compared_side *side, struct builds *builds)
{
	return (struct annotate){
		.search = &naming->symbols.search,
		.sources = naming->archive.dir,
		.dirs = naming_source_dirs(naming),
		.kernel_release =
		        seam_reader_feature_string(side->in.reader, SEAM_FEATURE_OSRELEASE),
		.rec = side->rec,
		.builds = builds,
		.load = { .profile = side->profile, .symbols = side->load.symbols },
	};
}

void side_code_end(struct annotate *code)
{
	code->load = (struct load){ 0 };
	annotate_free(code);
}
