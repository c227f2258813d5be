//go:build !wasip1

package host

import (
	"bytes"
	"io"
)

// The number of bytes of a played program that arrive at once: few, so that even a short output arrives in pieces.
const chunkBytes = 1024

// How a host reports a program that the tool killed.
const killed = "the host ended it"

// Execution is a run of a played program.
type Execution struct {
	Stdout, Stderr []byte
	Report         ExitReport
	// Endless: the program goes on until it is killed.
	Endless bool
}

// Started is a start of a played program.
type Started struct {
	Key    string
	Launch *Launch
	Stdin  []byte
	// Killed: the tool ended the program before its end.
	Killed bool
}

// Program is a played program.
type Program struct {
	key    string
	script *Script
	play   func(*Launch) (execution *Execution, reason string)
}

// OpenProgram opens a program by its key.
func OpenProgram(key string) (*Program, error) {
	script := script()
	if err := script.reach("program", key, "execute"); err != nil {
		return nil, err
	}
	if play, granted := script.Programs[key]; granted {
		return &Program{key, script, play}, nil
	}
	return nil, NotGranted
}

// Close drops the program.
func (*Program) Close() {}

// Start starts the program. If there is no run, the reason is the script's.
func (p *Program) Start(launch *Launch) (run *Run, reason string) {
	execution, reason := p.play(launch)
	if execution == nil {
		return nil, reason
	}
	started := &Started{Key: p.key, Launch: launch}
	p.script.Started = append(p.script.Started, started)
	outputs := [2]*bytes.Buffer{bytes.NewBuffer(execution.Stdout), bytes.NewBuffer(execution.Stderr)}
	if launch.Merge {
		outputs = [2]*bytes.Buffer{bytes.NewBuffer(append(bytes.Clone(execution.Stdout), execution.Stderr...)), {}}
	}
	return &Run{started, outputs, execution.Report, execution.Endless, true}, ""
}

// A Run is a run of a played program.
type Run struct {
	started     *Started
	outputs     [2]*bytes.Buffer
	report      ExitReport
	isRunning   bool
	isInputOpen bool
}

// WriteInput writes a piece.
func (r *Run) WriteInput(bytes []byte) (written int, open bool) {
	if !r.isInputOpen {
		return 0, false
	}
	piece := bytes[:min(len(bytes), chunkBytes)]
	r.started.Stdin = append(r.started.Stdin, piece...)
	return len(piece), true
}

// EndInput ends the input.
func (r *Run) EndInput() bool {
	r.isInputOpen = false
	return true
}

// Read returns a piece of what the program writes.
func (r *Run) Read(stream Stream, bytesMax int) ([]byte, error) {
	piece := bytes.Clone(r.outputs[stream].Next(min(bytesMax, chunkBytes)))
	if len(piece) == 0 && !r.isRunning {
		return nil, io.EOF
	}
	return piece, nil
}

// Report returns how the program ended, or nil while it runs.
func (r *Run) Report() *ExitReport {
	if r.isRunning {
		return nil
	}
	report := r.report
	if r.started.Killed {
		report.Kind, report.Text = StoppedByHost, killed
	}
	return &report
}

// Kill ends the program.
func (r *Run) Kill() {
	r.started.Killed = r.started.Killed || r.isRunning
	r.isRunning = false
}

// Close ends the program.
func (r *Run) Close() { r.Kill() }
