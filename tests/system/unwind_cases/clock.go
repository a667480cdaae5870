// SPDX-License-Identifier: MIT
// clock.go: goroutines that ask for the time again and again, for so many seconds. The runtime does so on the thread's own stack.
package main

import (
	"os"
	"strconv"
	"sync"
	"time"
)

var start = time.Now()
var sums [4]int64

//go:noinline
func ask(n int) int64 {
	var sum int64
	for i := 0; i < n; i++ {
		sum += time.Now().UnixNano() + int64(time.Since(start))
	}
	return sum
}

//go:noinline
func deeper(depth int) int64 {
	if depth > 0 {
		return deeper(depth-1) + 1
	}
	return ask(1000)
}

//go:noinline
func worker(id int, end time.Duration) {
	for time.Since(start) < end {
		sums[id] += deeper(id)
	}
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	var all sync.WaitGroup
	for id := range sums {
		all.Add(1)
		go func(id int) {
			defer all.Done()
			worker(id, time.Duration(seconds)*time.Second)
		}(id)
	}
	all.Wait()
}
