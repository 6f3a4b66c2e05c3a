// A parser of one's own in Go, as a worker of docs/engine-protocol.md. Run it with `go run worker.go`, or enter it:
//
//	go build worker.go && toolcall-inspector engines add mine --command ./worker
//
// It reads calls between <tool_call> and </tool_call> and sends each when it is whole.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
)

type object = map[string]any

const opens, closes = "<tool_call>", "</tool_call>"

type parser struct {
	held  string
	calls int
}

// feed takes a delta and gives what a client is sent for it; at the end nothing stays behind.
func (p *parser) feed(text string, end bool) any {
	p.held += text
	content, calls := "", []object{}
	for {
		at := strings.Index(p.held, opens)
		if at < 0 {
			break
		}
		content += p.held[:at]
		p.held = p.held[at:]
		size := strings.Index(p.held, closes)
		if size < 0 {
			break
		}
		var call struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if json.Unmarshal([]byte(p.held[len(opens):size]), &call) == nil {
			function := object{"name": call.Name, "arguments": string(call.Arguments)}
			calls = append(calls, object{"index": p.calls, "function": function})
			p.calls++
		}
		p.held = p.held[size+len(closes):]
	}
	if !strings.HasPrefix(p.held, opens) || end {
		keep := 0
		for size := range opens {
			if !end && strings.HasSuffix(p.held, opens[:size]) {
				keep = size
			}
		}
		content += p.held[:len(p.held)-keep]
		p.held = p.held[len(p.held)-keep:]
	}
	if content == "" && len(calls) == 0 {
		return nil
	}
	return object{"content": content, "tool_calls": calls}
}

var out = json.NewEncoder(os.Stdout)

func replay(deltas [][]any, report bool) object {
	one, sent := parser{}, []any{}
	for step := 0; step <= len(deltas); step++ {
		if report && step > 0 {
			out.Encode(object{"progress": object{"step": step + 1, "sent": sent[step-1]}})
		} else if report {
			out.Encode(object{"progress": object{"step": 1}})
		}
		text, end := "", step == len(deltas)
		if !end {
			text = deltas[step][0].(string)
		}
		sent = append(sent, one.feed(text, end))
	}
	return object{"sent": sent}
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked struct {
			Run *struct {
				Parser, Report string
				Replays        [][][]any
			}
		}
		if err := json.Unmarshal(line, &asked); err != nil {
			out.Encode(object{"failed": err.Error()})
		} else if asked.Run == nil {
			parsers := []object{{"name": "tags", "kind": "tool"}}
			out.Encode(object{"answer": object{"protocol": 1, "name": "mine", "parsers": parsers}})
		} else if asked.Run.Parser != "tags" {
			out.Encode(object{"failed": "there is no parser " + asked.Run.Parser})
		} else {
			replays := []object{}
			for _, deltas := range asked.Run.Replays {
				replays = append(replays, replay(deltas, asked.Run.Report == "steps"))
			}
			out.Encode(object{"answer": object{"replays": replays}})
		}
	}
}
