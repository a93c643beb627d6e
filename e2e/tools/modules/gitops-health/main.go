// Command gitops-health says what Argo CD and Flux take the health of objects for: it reads one JSON document per object and writes
// one answer for each. The Lua runs in gopher-lua, Argo CD's own interpreter, with the libraries that Argo CD opens for scripts of its
// ConfigMap; kstatus and the CEL expressions are computed by Flux's own packages.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
)

type question struct {
	Object json.RawMessage                  `json:"object"`
	Lua    string                           `json:"lua"`
	Flux   kustomize.HealthCheckExpressions `json:"flux"`
}

type answer struct {
	Argo      json.RawMessage `json:"argo,omitempty"`
	ArgoError string          `json:"argoError,omitempty"`
	Kstatus   string          `json:"kstatus"`
	Flux      string          `json:"flux,omitempty"`
	FluxError string          `json:"fluxError,omitempty"`
}

func argoHealth(object map[string]any, script string) (json.RawMessage, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	// Argo CD opens these, and an os library with nothing but the time, which no script of ours uses.
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage,
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
	} {
		call := lua.P{Fn: state.NewFunction(open), Protect: true}
		if err := state.CallByParam(call, lua.LString(name)); err != nil {
			return nil, err
		}
	}
	// Argo CD gives a second; a machine that builds beside the tests needs longer.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", luajson.DecodeValue(state, object))
	if err := state.DoString(script); err != nil {
		return nil, err
	}
	returned := state.Get(-1)
	if returned.Type() != lua.LTTable {
		return nil, fmt.Errorf("the script returns a %s, not a table", returned.Type())
	}
	return luajson.Encode(returned)
}

func reply(asked question) (answer, error) {
	var found answer
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(asked.Object); err != nil {
		return found, err
	}
	// Lua numbers are floats; encoding/json gives those.
	var plain map[string]any
	if err := json.Unmarshal(asked.Object, &plain); err != nil {
		return found, err
	}
	health, err := argoHealth(plain, asked.Lua)
	if err != nil {
		found.ArgoError = err.Error()
	}
	found.Argo = health
	computed, err := status.Compute(object)
	if err != nil {
		return found, err
	}
	found.Kstatus = computed.Status.String()
	evaluator, err := cel.NewStatusEvaluator(&asked.Flux)
	if err != nil {
		return found, err
	}
	result, err := evaluator.Evaluate(context.Background(), object)
	if err != nil {
		found.FluxError = err.Error()
	} else {
		found.Flux = result.Status.String()
	}
	return found, nil
}

func run() error {
	input := json.NewDecoder(bufio.NewReader(os.Stdin))
	output := json.NewEncoder(os.Stdout)
	for {
		var asked question
		if err := input.Decode(&asked); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		found, err := reply(asked)
		if err != nil {
			return err
		}
		if err := output.Encode(found); err != nil {
			return err
		}
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
