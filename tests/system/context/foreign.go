// SPDX-License-Identifier: MIT
//
// foreign.go: beside labels.go, with C: its linker puts g among C's variables of threads.
package main

/*
static __thread volatile int mine[3];
static int foreign(void) { return ++mine[1]; }
*/
import "C"

func init() { sink += uint64(C.foreign()) }
