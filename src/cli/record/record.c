// SPDX-License-Identifier: MIT
// record.c: the command `seam record`: its place in the table, its description.
#include "cli/cmds.h"
#include "asked/record_options.h"
#include "cli/record/record_run.h"

/* An exit code, of the command that was recorded if there was one. */
static int record_main(int argc, char **argv, const struct cmd *cmd)
{
	struct record_opts o;
	int code = record_options_parse(&o, argc, argv, cmd);

	if (code == OPTIONS_HELP)
		code = EXIT_OK;
	else if (code)
		code = EXIT_USAGE;
	else
		code = record_run(&o, cmd);
	record_options_free(&o);
	return code;
}

COMMAND(record) = {
	.name = "record",
	.lasts = true,
	.synopsis = "[options] [-- command]",
	.summary = "Record where a command, processes or the whole machine spend their time",
	.details = CMD_PARAGRAPHS(
	        "Without -e, cycles are sampled, or cpu-clock where the machine has no cycle "
	        "counter, as in many virtual machines; so where -e says cycles, with any "
	        "modifiers. Other events that the machine does not have are left out as long as "
	        "one is left, and it is said. Without command, -p and -t, everything that runs "
	        "is recorded until Ctrl-C. With -a or -p a command only says how long.",
	        "Callchains are on. One line says how user stacks are taken, and one each why a "
	        "better way is not open. Best is --call-graph dwarf,defer: BPF programs walk "
	        "the stack in the kernel by the programs' unwind tables, at once, and where a "
	        "page is not in memory, or more than 256 frames are there, on the way back to "
	        "user space (x86_64; root, or CAP_BPF and CAP_PERFMON; Linux 6.18; from 6.9 on "
	        "at once only); =always defers each stack, =never none. Else the kernel defers "
	        "to the return to user space by frame pointers (Linux 6.19, x86_64); else a "
	        "copy of the stack is unwound while recording (x86_64, aarch64); else frame "
	        "pointers at once. Events that BPF programs cannot take, as tracepoints, take "
	        "their own samples beside, with copies of the stack, and one line says so. A "
	        "deferred stack may still be owed when sampling stops, so the event that "
	        "receives them stays on for a grace period (--grace, 100 ms by default, less "
	        "when nothing is owed). Tasks that sleep are read where they are, without being "
	        "woken (root, or CAP_BPF and CAP_PERFMON); who could not be read keeps the "
	        "kernel stack only, and seam report counts them.",
	        "With --call-graph dwarf each sample brings the registers and SIZE bytes of the "
	        "stack (8192 by default, at most 65528). The recorder unwinds them at once and "
	        "writes ordinary callchains, so the file is as small as with fp and any tool "
	        "reads it; --keep-stacks writes the copies as perf does. From some 10,000 Hz on "
	        "this costs less than dwarf,defer, which comes first all the same: stacks that "
	        "are deeper than SIZE are cut, and interpreters' functions are not in them. "
	        "The last lines say how "
	        "many walks reached their outermost frame, and what ended the others; each "
	        "sample says it too, to stat, report and script -F +state. Frames in code made "
	        "at run time are found by what its jitdump says of unwinding it, or by its "
	        "instructions where these lead straight to its return (python -X perf); else by "
	        "frame pointer, and such frames are kept only if the walk goes on to the end "
	        "from there. When the recorder cannot keep up, samples keep their user address "
	        "only, and are counted.",
	        "The exit status is that of the command, 128 + N when signal N ended it, 127 "
	        "when it was not found, 126 when it could not be run. Ctrl-C, SIGTERM and "
	        "SIGHUP stop the recording, finish the file and wait for the command, which is "
	        "sent the signal too; a second one leaves at once. The file is finished within "
	        "a second, also on a machine that is too busy: where that is allowed the "
	        "recorder comes first meanwhile, and what it could not read is counted and left "
	        "out. With --duration or --max-size the command is sent SIGTERM at the end and "
	        "the status is 0. When writing fails, the recording ends, the command runs on, "
	        "and the status is 1 unless the command's own is not 0.",
	        "An existing file is kept as FILE.old. What was drained from the rings, at "
	        "least four times a second, is in the file even if the recorder is killed: such "
	        "a file has no features at its end and is read by all seam commands. A finished "
	        "file is read by perf report and perf script too; one with deferred stacks by "
	        "perf of Linux 6.19 or newer, and by any after seam convert; a compressed one "
	        "(-z) only by a recent perf.",
	        "Defaults are read from $XDG_CONFIG_HOME/seam/config, or the file that "
	        "SEAM_CONFIG or --config names: [call-graph] record-mode; [record] events, "
	        "freq, mmap-pages, output, compression-level."),
	.options = record_option_defs,
	.stops_at_operand = true,
	.run = record_main,
};
