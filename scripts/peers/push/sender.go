// A plain sender with Go's net/http, for `tocsin-bench push`: one HTTP/2 connection, many requests at once.
//
// Arguments: origin, CA file, pushes, requests at once. Prints one line of JSON.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const payload = `{"aps":{"alert":{"title":"Disk full","body":"The disk of db-3 is 91 % full."},"sound":"default","thread-id":"t"},"messageId":"m"}`

func cpuSeconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}

func push(client *http.Client, origin string, number int) error {
	url := fmt.Sprintf("%s/3/device/%064x", origin, number)
	request, err := http.NewRequest("POST", url, bytes.NewReader([]byte(payload)))
	if err != nil {
		return err
	}
	request.Header.Set("authorization", "bearer "+strings.Repeat("t", 200))
	request.Header.Set("apns-topic", "com.example.tocsin")
	request.Header.Set("apns-push-type", "alert")
	request.Header.Set("apns-priority", "10")
	request.Header.Set("apns-expiration", "1900000000")
	request.Header.Set("apns-collapse-id", "0197-message")
	request.Header.Set("apns-id", fmt.Sprintf("00000000-0000-4000-8000-%012d", number))
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	if response.StatusCode != 200 {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}

func main() {
	origin, authority := os.Args[1], os.Args[2]
	count, _ := strconv.Atoi(os.Args[3])
	atOnce, _ := strconv.Atoi(os.Args[4])
	pem, err := os.ReadFile(authority)
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	if err := push(client, origin, 0); err != nil {
		panic(err)
	}
	start, cpu := time.Now(), cpuSeconds()
	numbers := make(chan int, atOnce)
	var senders sync.WaitGroup
	for sender := 0; sender < atOnce; sender++ {
		senders.Add(1)
		go func() {
			defer senders.Done()
			for number := range numbers {
				if err := push(client, origin, number); err != nil {
					panic(err)
				}
			}
		}()
	}
	for number := 0; number < count; number++ {
		numbers <- number
	}
	close(numbers)
	senders.Wait()
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"pushes": count, "seconds": time.Since(start).Seconds(), "cpuSeconds": cpuSeconds() - cpu,
	})
}
