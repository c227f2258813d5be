package host

import (
	"io"
	"unsafe"
)

//go:wasmimport portcullis:tool/programs@0.2.0 open-program
func openProgram(key string, result *area)

//go:wasmimport portcullis:tool/programs@0.2.0 [method]program.start
func programStart(
	program uint32, arguments unsafe.Pointer, argumentCount uint32, variables unsafe.Pointer, variableCount uint32,
	hasDirectory bool, directory string, merge bool, result *area,
)

//go:wasmimport portcullis:tool/programs@0.2.0 [method]program.start-with
func programStartWith(
	program uint32, arguments unsafe.Pointer, argumentCount uint32, variables unsafe.Pointer, variableCount uint32,
	hasDirectory bool, directory string, merge bool, missingKind uint32, missing string, result *area,
)

//go:wasmimport portcullis:tool/programs@0.2.0 [resource-drop]program
func dropProgram(program uint32)

//go:wasmimport portcullis:tool/programs@0.2.0 [method]running.stdin
func runningStdin(running uint32, result *area)

//go:wasmimport portcullis:tool/programs@0.2.0 [method]running.stdout
func runningStdout(running uint32, result *area)

//go:wasmimport portcullis:tool/programs@0.2.0 [method]running.stderr
func runningStderr(running uint32, result *area)

//go:wasmimport portcullis:tool/programs@0.2.0 [method]running.exit
func runningExit(running uint32, result *area)

//go:wasmimport portcullis:tool/programs@0.2.0 [method]running.kill
func runningKill(running uint32)

//go:wasmimport portcullis:tool/programs@0.2.0 [resource-drop]running
func dropRunning(running uint32)

// Program is a program that the policy binds.
type Program struct {
	handle uint32
}

// OpenProgram opens a program by its key.
func OpenProgram(key string) (*Program, error) {
	result := new(area)
	openProgram(key, result)
	program, err := handle(result)
	if err != nil {
		return nil, err
	}
	return &Program{program}, nil
}

// Close drops the program. What it has started runs on.
func (p *Program) Close() { dropProgram(p.handle) }

// Start starts the program. All texts are UTF-8. If there is no run, the reason is the host's message.
func (p *Program) Start(launch *Launch) (run *Run, reason string) {
	texts := newTextBlock(launchBytes(launch))
	defer texts.release()
	arguments := make([]Place, 0, len(launch.Arguments))
	for _, argument := range launch.Arguments {
		arguments = append(arguments, texts.place(argument))
	}
	variables := make([]struct{ name, value Place }, 0, len(launch.Environment))
	for _, variable := range launch.Environment {
		variables = append(variables, struct{ name, value Place }{texts.place(variable.Name), texts.place(variable.Value)})
	}
	result := new(area)
	argumentList, argumentCount := unsafe.Pointer(unsafe.SliceData(arguments)), uint32(len(arguments))
	variableList, variableCount := unsafe.Pointer(unsafe.SliceData(variables)), uint32(len(variables))
	if launch.Needs == nil {
		programStart(
			p.handle, argumentList, argumentCount, variableList, variableCount,
			launch.Directory != "", launch.Directory, launch.Merge, result,
		)
	} else {
		programStartWith(
			p.handle, argumentList, argumentCount, variableList, variableCount,
			launch.Directory != "", launch.Directory, launch.Merge,
			uint32(launch.Needs.Kind), launch.Needs.Text, result,
		)
	}
	if result.tag(0) != 0 {
		return nil, result.string(4)
	}
	run = &Run{handle: result.word(4)}
	run.stdin = openStream(run.handle, runningStdin)
	run.outputs = [2]openedStream{openStream(run.handle, runningStdout), openStream(run.handle, runningStderr)}
	return run, ""
}

// launchBytes returns the size of the texts that a launch lists.
func launchBytes(launch *Launch) int {
	size := 0
	for _, argument := range launch.Arguments {
		size += len(argument)
	}
	for _, variable := range launch.Environment {
		size += len(variable.Name) + len(variable.Value)
	}
	return size
}

// An openedStream is a stream of a run, until it ends or is dropped.
type openedStream struct {
	handle uint32
	isOpen bool
}

func openStream(running uint32, open func(running uint32, result *area)) openedStream {
	result := new(area)
	open(running, result)
	return openedStream{result.word(4), result.tag(0) != 0}
}

// close drops the stream, unless it is dropped already.
func (o *openedStream) close(drop func(handle uint32)) {
	if o.isOpen {
		o.isOpen = false
		drop(o.handle)
	}
}

// A Run is a program that runs, and its streams. No method waits.
type Run struct {
	handle  uint32
	stdin   openedStream
	outputs [2]openedStream
	// Whether stdin has bytes that the host has accepted, and may not have passed on.
	isUnflushed bool
}

// WriteInput writes as much as the program accepts now. If open is false, the program has closed its stdin.
func (r *Run) WriteInput(bytes []byte) (written int, open bool) {
	room, open := r.room()
	piece := bytes[:min(uint64(len(bytes)), room)]
	if !open || len(piece) == 0 {
		return 0, open
	}
	result := new(area)
	streamWrite(r.stdin.handle, unsafe.Pointer(unsafe.SliceData(piece)), uint32(len(piece)), result)
	if result.tag(0) != 0 {
		r.brokenInput(result, 4)
		return 0, false
	}
	r.isUnflushed = true
	return len(piece), true
}

// EndInput ends the input. If it returns false, the program does not have all bytes yet: then call it again later.
func (r *Run) EndInput() bool {
	if r.stdin.isOpen && r.isUnflushed {
		r.isUnflushed = false
		result := new(area)
		streamFlush(r.stdin.handle, result)
		if result.tag(0) != 0 {
			r.brokenInput(result, 4)
		}
	}
	// Dropping the stream could lose bytes that the host has accepted. While it flushes them, it accepts none.
	if room, open := r.room(); open && room == 0 {
		return false
	}
	r.stdin.close(dropOutputStream)
	return true
}

// room returns how many bytes the program accepts now.
func (r *Run) room() (bytes uint64, open bool) {
	if !r.stdin.isOpen {
		return 0, false
	}
	result := new(area)
	streamCheckWrite(r.stdin.handle, result)
	if result.tag(0) != 0 {
		r.brokenInput(result, 8)
		return 0, false
	}
	return result.long(8), true
}

// brokenInput drops stdin and its error.
func (r *Run) brokenInput(result *area, offset uintptr) {
	_ = streamFailure(result, offset, unexplained)
	r.stdin.close(dropOutputStream)
}

// Read returns what has arrived, at most as many bytes as given. At the end it returns [io.EOF].
func (r *Run) Read(stream Stream, bytesMax int) ([]byte, error) {
	output := &r.outputs[stream]
	if !output.isOpen {
		return nil, io.EOF
	}
	result := new(area)
	streamRead(output.handle, uint64(min(bytesMax, readBytes)), result)
	if result.tag(0) != 0 {
		err := streamFailure(result, 4, unexplained)
		output.close(dropInputStream)
		return nil, err
	}
	return result.bytes(4), nil
}

// Report returns how the program ended, or nil while it runs.
func (r *Run) Report() *ExitReport {
	result := new(area)
	runningExit(r.handle, result)
	if result.tag(0) == 0 {
		return nil
	}
	report := &ExitReport{
		Kind:          ExitKind(result.tag(8)),
		Milliseconds:  result.long(24),
		LeftProcesses: result.word(32),
	}
	if report.Kind == StoppedByHost {
		report.Text = result.string(12)
	} else {
		report.Number = result.tag(12)
	}
	for _, refused := range elements[Place](result, 36) {
		report.Refused = append(report.Refused, refused.take())
	}
	return report
}

// Kill ends the program and everything that it started.
func (r *Run) Kill() { runningKill(r.handle) }

// Close drops all handles, which ends the program. The order matters: a child must be dropped before its parent.
func (r *Run) Close() {
	r.stdin.close(dropOutputStream)
	for stream := range r.outputs {
		r.outputs[stream].close(dropInputStream)
	}
	dropRunning(r.handle)
}
