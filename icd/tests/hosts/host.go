// Go as a host: its runtime has handlers for all signals, preempts its threads by SIGURG, and makes
// a panic of a fault of its own.
//
//	CGO_LDFLAGS="-L FOLDER -lhost" go run host.go
package main

// #include "host.h"
import "C"

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// Reads through a null pointer, and recovers from the panic that this is.
func fault() (caught bool) {
	defer func() { caught = recover() != nil }()
	var pointer *int
	return *pointer == 0
}

func check(line C.int) {
	if line != 0 {
		fmt.Println("host.c:", line)
		os.Exit(1)
	}
}

func main() {
	stop := make(chan bool)
	for i := 0; i < 4; i++ {
		go func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if i%1000 == 0 {
					runtime.GC()
				}
			}
		}()
	}
	for i := 0; i < 50; i++ {
		check(C.host_right())
		check(C.host_fault())
		if !fault() {
			fmt.Println("a fault of Go's was not caught")
			os.Exit(1)
		}
	}
	close(stop)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR2)
	syscall.Kill(os.Getpid(), syscall.SIGUSR2)
	<-signals
	if out, err := exec.Command("echo", "child").Output(); err != nil || string(out) != "child\n" {
		fmt.Println("a child process:", err)
		os.Exit(1)
	}
	check(C.host_right())
	fmt.Println("Go is the host that it was")
	os.Exit(7)
}
