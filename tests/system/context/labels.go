// SPDX-License-Identifier: MIT
//
// labels.go: goroutines whose labels say in which function they are: nested, inherited, more than a bucket of Go's map holds,
// none, and one whose text is in memory that the program does not read. They give their thread up often, so that they move between threads.
package main

import (
	"context"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

var sink uint64

//go:noinline
func alpha() { work() }

//go:noinline
func inner() { work() }

//go:noinline
func inherited() { work() }

//go:noinline
func beta() { work() }

//go:noinline
func nobody() { work() }

//go:noinline
func work() {
	s := uint64(0)
	for n := 0; n < 40; n++ {
		for i := uint64(0); i < 20000; i++ {
			s += i * i
		}
		runtime.Gosched()
	}
	sink += s
}

//go:noinline
func unread() { work() }

// named is the text of a file, in memory that nobody reads: a constant of a program may be such.
func named(path string) string {
	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, 5, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	return *(*string)(unsafe.Pointer(&b))
}

var text string

func round() {
	pprof.Do(context.Background(), pprof.Labels("function", "alpha", "route", "/cart", "empty", ""), func(c context.Context) {
		alpha()
		pprof.Do(c, pprof.Labels("function", "inner"), func(c context.Context) {
			inner()
			pprof.Do(c, pprof.Labels("function", "inherited"), func(context.Context) {
				done := make(chan bool)
				go func() {
					inherited()
					done <- true
				}()
				<-done
			})
		})
	})
	many := []string{"function", "beta", "long", "x" + strings.Repeat("\u00e4", 200)}
	for i := 0; i < 20; i++ {
		many = append(many, "key"+strconv.Itoa(i), strconv.Itoa(i))
	}
	pprof.Do(context.Background(), pprof.Labels(many...), func(context.Context) { beta() })
	nobody()
	if text != "" {
		pprof.Do(context.Background(), pprof.Labels("function", text), func(context.Context) { unread() })
	}
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	if len(os.Args) > 2 {
		text = named(os.Args[2])
	}
	var wait sync.WaitGroup
	for g := 0; g < 6; g++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := 0; i < rounds; i++ {
				round()
			}
		}()
	}
	wait.Wait()
}
