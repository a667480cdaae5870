// SPDX-License-Identifier: MIT
// work.go: goroutines that sort, allocate, panic and recover: work SECONDS, of CPU time.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The CPU time of all threads.
func had() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

type tree struct {
	left, right *tree
	n           int
}

//go:noinline
func grow(depth int) *tree {
	if depth == 0 {
		return &tree{n: 1}
	}
	return &tree{grow(depth - 1), grow(depth - 1), depth}
}

//go:noinline
func (t *tree) sum() int {
	if t == nil {
		return 0
	}
	return t.n + t.left.sum() + t.right.sum()
}

//go:noinline
func fails(n int) (ret int) {
	defer func() {
		if recover() != nil {
			ret = 1
		}
	}()
	var none []int
	return none[n]
}

func work(end time.Duration, done chan<- int) {
	total := 0
	for i := 0; had() < end; i++ {
		words := make(map[string]int)
		for k := 0; k < 300; k++ {
			words[strconv.Itoa(k*i%97)] += k
		}
		keys := make([]string, 0, len(words))
		for w := range words {
			keys = append(keys, w)
		}
		sort.Slice(keys, func(a, b int) bool { return words[keys[a]] < words[keys[b]] })
		total += len(strings.Join(keys, ",")) + grow(8).sum() + fails(i) + len(fmt.Sprintf("%v %x", keys[0], i))
	}
	done <- total
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	end := time.Duration(seconds * float64(time.Second))
	done := make(chan int)
	for i := 0; i < 3; i++ {
		go work(end, done)
	}
	fmt.Println(<-done + <-done + <-done)
}
