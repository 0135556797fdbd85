package tripnote

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const clock = "1767276090000"

// server is a real service: the binary that TRIPNOTE_BIN names, on its own port, killed and started anew at will.
type server struct {
	t       *testing.T
	address string
	config  string
	args    []string
	process *exec.Cmd
}

func repository(t *testing.T) string {
	here, err := os.Getwd()
	must(t, err)
	here, err = filepath.EvalSymlinks(here)
	must(t, err)
	return filepath.Join(here, "..", "..", "..")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func freeAddress(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

func ways(t *testing.T) string {
	text, err := os.ReadFile(filepath.Join(repository(t), "tests", "fixtures", "ways", "tripnote.toml"))
	must(t, err)
	return string(text)
}

func serve(t *testing.T, config string, args ...string) *server {
	return serveAt(t, freeAddress(t), config, args...)
}

func serveAt(t *testing.T, address, config string, args ...string) *server {
	s := &server{t: t, address: address, config: filepath.Join(t.TempDir(), "tripnote.toml"), args: args}
	text := fmt.Sprintf("grpc = %q\nhttp = \"127.0.0.1:0\"\n%s", s.address, config)
	must(t, os.WriteFile(s.config, []byte(text), 0o600))
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *server) start() {
	s.t.Helper()
	binary := os.Getenv("TRIPNOTE_BIN")
	if binary == "" {
		binary = filepath.Join(repository(s.t), "target", "debug", "tripnote")
	}
	s.process = exec.Command(binary, append([]string{"serve", "--ephemeral", "--config", s.config}, s.args...)...)
	log, err := s.process.StderrPipe()
	must(s.t, err)
	must(s.t, s.process.Start())
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "serving endpoint") {
			go func() {
				for lines.Scan() {
				}
			}()
			return
		}
	}
	s.t.Fatal("the service did not start")
}

func (s *server) kill() {
	if s.process != nil {
		s.signal(syscall.SIGCONT)
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

func (s *server) signal(signal syscall.Signal) { must(s.t, s.process.Process.Signal(signal)) }

type line struct {
	CallID    string          `json:"call_id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Admit     string          `json:"admit"`
	Payload   string          `json:"payload"`
	Failed    bool            `json:"failed"`
	Report    string          `json:"report"`
}

func (l *line) sees() string {
	switch {
	case l.Admit != "go":
		return l.Admit
	case l.Report == "deliver":
		return l.Payload
	default:
		return l.Report
	}
}

func scenario(t *testing.T) []line {
	file, err := os.Open(filepath.Join(repository(t), "tests", "fixtures", "ways", "scenario.jsonl"))
	must(t, err)
	defer file.Close()
	var lines []line
	for decoder := json.NewDecoder(file); decoder.More(); {
		var next line
		must(t, decoder.Decode(&next))
		lines = append(lines, next)
	}
	return lines
}

// told keeps what a client says in its log.
type told struct {
	lock  sync.Mutex
	lines []string
}

func (t *told) hear(line string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.lines = append(t.lines, line)
}

func dial(t *testing.T, options Options) *Client {
	if options.Deadline == 0 {
		options.Deadline = 5 * time.Second
	}
	if options.Log == nil {
		options.Log = func(line string) { t.Log(line) }
	}
	client, err := Dial(options)
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// proxy forwards to a service. hang leaves the connections that there are open and dead; new ones work.
type proxy struct {
	listener net.Listener
	lock     sync.Mutex
	gates    []*sync.RWMutex
}

func forward(t *testing.T, to string) *proxy {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &proxy{listener: listener}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			gate := &sync.RWMutex{}
			p.lock.Lock()
			p.gates = append(p.gates, gate)
			p.lock.Unlock()
			go pump(near, far, gate)
			go pump(far, near, gate)
		}
	}()
	return p
}

func pump(from, to net.Conn, gate *sync.RWMutex) {
	defer to.Close()
	for buffer := make([]byte, 1<<16); ; {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		gate.RLock()
		_, err = to.Write(buffer[:n])
		gate.RUnlock()
		if err != nil {
			return
		}
	}
}

func (p *proxy) hang() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, gate := range p.gates {
		gate.Lock()
	}
	p.gates = nil
}

// until waits for what must come, however slow the machine is.
func until(t *testing.T, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come")
		}
	}
}
