package tripnote

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// runExample runs the agent as a reader does, against the service at address.
func runExample(t *testing.T, address string) string {
	command := exec.Command("go", "run", "./examples/agent")
	command.Env = append(os.Environ(), "TRIPNOTE_CONNECT="+address)
	out, err := command.Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

func TestTheExampleGoesWhereTheContractSendsIt(t *testing.T) {
	config, err := os.ReadFile(filepath.Join(repository(t), "proto", "clients", "example.toml"))
	must(t, err)
	out := runExample(t, serve(t, string(config)).address)
	if !strings.Contains(out, `"action":"switch_to_fallback","breaker":"payments"`) ||
		!strings.HasSuffix(out, "charged 5, calls 8, requests_to_card 3") {
		t.Error(out)
	}
}

func TestTheExampleChangesNothingWithoutTheService(t *testing.T) {
	out := runExample(t, freeAddress(t))
	if !strings.Contains(out, "charge_card: not called; the breaker service does not answer") ||
		!strings.HasSuffix(out, "charged 0, calls 30, requests_to_card 0") {
		t.Error(out)
	}
}
