package portcullis

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"portcullis.dev/portcullis/internal/host"
)

const (
	// The time that waiting for a program sleeps at first.
	pauseMin = 100 * time.Microsecond
	// The maximum time that it sleeps. What the program writes, and its end, are noticed at most this much later.
	pauseMax = 5 * time.Millisecond
	// The number of bytes to read at once.
	programReadBytes = 64 << 10
)

// A Launch is what to start a program with.
type Launch struct {
	// Arguments are those after the program's own name. No shell reads them.
	Arguments []string
	// Environment has more variables. A variable of the policy wins over one of the same name.
	Environment map[string]string
	// Directory is the directory to start in, such as "/workspace/src": the key of a directory of the program's
	// binding, and a path below it. The default is the first directory of the binding.
	Directory string
	// Stdin is written to the program while its output is read. A Read that blocks also holds up the output.
	Stdin io.Reader
	// Merge sends stderr to the stream of stdout, in the order of the writes.
	Merge bool
	// Needs is what the program lacks for this run. The start then asks an approver, who reads the program and its
	// arguments, and waits for the answer. Only a person can allow it.
	Needs Missing
}

// Missing is what a program lacks for one run: a [Destination], a [ReadableDirectory] or a [WritableDirectory].
type Missing interface {
	missing() *host.Missing
}

// Destination is a host and a port, such as "files.example.org:443".
type Destination string

// ReadableDirectory is a directory to read, by its absolute path on the machine.
type ReadableDirectory string

// WritableDirectory is a directory to read and write, by its absolute path on the machine.
type WritableDirectory string

func (d Destination) missing() *host.Missing {
	return &host.Missing{Kind: host.MissingDestination, Text: string(d)}
}

func (r ReadableDirectory) missing() *host.Missing {
	return &host.Missing{Kind: host.MissingReadableDirectory, Text: string(r)}
}

func (w WritableDirectory) missing() *host.Missing {
	return &host.Missing{Kind: host.MissingWritableDirectory, Text: string(w)}
}

// An Exit says how a program ended: [Exited], [Signaled] or [Stopped].
type Exit interface {
	fmt.Stringer
	exit()
}

// Exited is the end of a program that ended by itself, with a code.
type Exited struct{ Code int }

// Signaled is the end of a program that a signal ended.
type Signaled struct{ Signal int }

// Stopped is the end of a program that the host ended. The text says which limit it reached, for the model.
type Stopped struct{ Text string }

func (Exited) exit()   {}
func (Signaled) exit() {}
func (Stopped) exit()  {}

func (e Exited) String() string   { return fmt.Sprintf("exit code %d", e.Code) }
func (s Signaled) String() string { return fmt.Sprintf("signal %d", s.Signal) }
func (s Stopped) String() string  { return s.Text }

// An ExitReport is the report of a program that has ended.
type ExitReport struct {
	Exit Exit
	// Duration goes from start to end.
	Duration time.Duration
	// LeftProcesses is the number of background processes that the host ended with the program.
	LeftProcesses int
	// Refused is what the confinement refused and the host knows of, such as "GET http://a.example/": for the model.
	Refused []string
}

// Success returns whether the program ended by itself with the code 0.
func (r ExitReport) Success() bool { return r.Exit == Exited{0} }

// Err returns nil if the program ended by itself with the code 0, and otherwise [Failed] with how it ended.
func (r ExitReport) Err() error {
	if r.Success() {
		return nil
	}
	return Failed(fmt.Sprintf("the program ended: %v", r.Exit))
}

// A ProgramOutput is what a program wrote, and how it ended.
type ProgramOutput struct {
	Stdout []byte
	// Stderr is empty if stderr went to the stream of stdout.
	Stderr []byte
	// IsCut: the program wrote more than was kept.
	IsCut  bool
	Report ExitReport
}

// A Program is a program that the policy binds to a key. Nothing runs before it is started. It can be closed like a
// [Store].
type Program struct {
	key string
	// Nil once it is closed.
	program *host.Program
}

// Program opens the program that the policy binds to a key.
func (c *Context) Program(key string) (*Program, error) {
	program, err := host.OpenProgram(host.Said(key))
	if err != nil {
		return nil, noHandle("program", key, err)
	}
	return &Program{key, program}, nil
}

// Close closes the handle. What was started runs on, but Start fails from now on.
func (p *Program) Close() error {
	if p.program != nil {
		p.program.Close()
		p.program = nil
	}
	return nil
}

// Output runs the program to its end, and returns what it wrote. It keeps as many bytes of each stream as given, and
// drops the rest. An exit code other than 0 is not an error: see [ExitReport.Err]. If the context ends, it ends the
// program, and returns the context's error.
func (p *Program) Output(ctx context.Context, launch Launch, bytesMax int) (*ProgramOutput, error) {
	running, err := p.Start(ctx, launch)
	if err != nil {
		return nil, err
	}
	defer running.Close()
	output := &ProgramOutput{}
	for chunk, err := range running.Chunks() {
		if err != nil {
			return nil, err
		}
		kept := &output.Stdout
		if chunk.Stream == Stderr {
			kept = &output.Stderr
		}
		room := min(len(chunk.Bytes), bytesMax-len(*kept))
		*kept = append(*kept, chunk.Bytes[:room]...)
		output.IsCut = output.IsCut || room < len(chunk.Bytes)
	}
	output.Report, err = running.Wait()
	return output, err
}

// Start starts the program. Close what it returns, or the program runs until its end or the end of the call. If the
// context ends while something waits for the program, the program is ended. If the launch needs something, [Failed] also
// means that the policy does not let the program ask, or that the approver said no.
func (p *Program) Start(ctx context.Context, launch Launch) (*Running, error) {
	if p.program == nil {
		return nil, Failed(fmt.Sprintf("the program %q: %v", p.key, fs.ErrClosed))
	}
	lowered, err := launch.lower()
	if err != nil {
		return nil, err
	}
	run, reason := p.program.Start(lowered)
	if run == nil {
		return nil, Failed(reason)
	}
	stdin := launch.Stdin
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	return &Running{ctx: ctx, run: run, feed: &programFeed{from: stdin}, unread: [2]bool{true, true}}, nil
}

func (l *Launch) lower() (*host.Launch, error) {
	launch := &host.Launch{Arguments: l.Arguments, Directory: l.Directory, Merge: l.Merge}
	for _, name := range slices.Sorted(maps.Keys(l.Environment)) {
		launch.Environment = append(launch.Environment, host.Variable{Name: name, Value: l.Environment[name]})
	}
	texts := slices.Concat(l.Arguments, []string{l.Directory})
	for _, variable := range launch.Environment {
		texts = append(texts, variable.Name, variable.Value)
	}
	if l.Needs != nil {
		launch.Needs = l.Needs.missing()
		texts = append(texts, launch.Needs.Text)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return nil, InvalidArguments(fmt.Sprintf("%q in the launch of a program is not UTF-8", text))
		}
	}
	return launch, nil
}

// Stream is one of the two streams that a program writes.
type Stream uint8

// The streams of a program.
const (
	Stdout = Stream(host.Stdout)
	Stderr = Stream(host.Stderr)
)

// A Chunk is what a program wrote at a time.
type Chunk struct {
	Stream Stream
	Bytes  []byte
}

// A Running is a program that runs. [Running.Chunks], [Running.Copy] and [Running.Wait] read both streams together and
// write the input in the meantime, so that the program never waits for a stream that nothing reads. Other goroutines
// run while one waits.
type Running struct {
	ctx context.Context
	// Guards what follows. It is not held while something waits.
	mutex sync.Mutex
	// Nil once it is closed.
	run *host.Run
	// The end of the program, once it is known.
	report *host.ExitReport
	feed   *programFeed
	// Whether Chunks reads a stream: it has not ended, and nothing else reads it.
	unread [2]bool
}

// Chunks iterates over what the program writes, in the order of arrival, until it has ended and everything is read. An
// error is the last pair.
func (r *Running) Chunks() iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for {
			chunk, err := r.next()
			if err == io.EOF || !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// Copy writes what the program writes to these writers, in the order of arrival, and returns how it ended. Nil drops a
// stream. If a writer fails, it ends the program, and returns the error.
func (r *Running) Copy(stdout, stderr io.Writer) (ExitReport, error) {
	writers := [2]io.Writer{stdout, stderr}
	for chunk, err := range r.Chunks() {
		if err != nil {
			return ExitReport{}, err
		}
		if writers[chunk.Stream] == nil {
			continue
		}
		if _, err := writers[chunk.Stream].Write(chunk.Bytes); err != nil {
			r.Kill()
			return ExitReport{}, err
		}
	}
	return r.Wait()
}

// Wait waits until the program has ended. It drops what the program writes to a stream that nothing else reads.
func (r *Running) Wait() (ExitReport, error) {
	for {
		if _, err := r.next(); err == io.EOF {
			report, _ := r.Report()
			return report, nil
		} else if err != nil {
			return ExitReport{}, err
		}
	}
}

// Report returns how the program ended, or false while it runs.
func (r *Running) Report() (report ExitReport, ended bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.report == nil && r.run != nil {
		r.report = r.run.Report()
	}
	if r.report == nil {
		return ExitReport{}, false
	}
	return raised(r.report), true
}

func raised(report *host.ExitReport) ExitReport {
	var exit Exit
	switch report.Kind {
	case host.ExitedByItself:
		exit = Exited{int(report.Number)}
	case host.EndedBySignal:
		exit = Signaled{int(report.Number)}
	default:
		exit = Stopped{report.Text}
	}
	return ExitReport{
		Exit:          exit,
		Duration:      time.Duration(report.Milliseconds) * time.Millisecond,
		LeftProcesses: int(report.LeftProcesses),
		Refused:       report.Refused,
	}
}

// Kill ends the program and everything that it started. What it wrote before can still be read.
func (r *Running) Kill() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.run != nil {
		r.run.Kill()
	}
}

// Close ends the program if it still runs, and closes its streams.
func (r *Running) Close() error {
	r.Report()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.run != nil {
		r.run.Close()
		r.run = nil
	}
	return nil
}

// Stdin returns a writer to stdin. It replaces the Stdin of the launch. Close it to end the input.
func (r *Running) Stdin() io.WriteCloser {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.feed = nil
	return programInput{r}
}

// Stdout returns a reader of stdout, which Chunks, Copy and Wait then skip. A program that fills a stream that nothing
// reads waits without end, so also read stderr, or set Merge.
func (r *Running) Stdout() io.Reader { return r.take(Stdout) }

// Stderr returns a reader of stderr, see Stdout. It is empty if stderr goes to the stream of stdout.
func (r *Running) Stderr() io.Reader { return r.take(Stderr) }

func (r *Running) take(stream Stream) io.Reader {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.unread[stream] = false
	return programOutput{r, stream}
}

// next waits for the next chunk. The error is [io.EOF] when the program has ended and everything is read.
func (r *Running) next() (chunk Chunk, err error) {
	err = r.until(func() (done bool, err error) {
		chunk, err = r.poll()
		if err != nil || chunk.Bytes != nil {
			return true, err
		}
		_, ended := r.Report()
		r.mutex.Lock()
		defer r.mutex.Unlock()
		switch {
		case ended && !r.unread[Stdout] && !r.unread[Stderr]:
			return true, io.EOF
		case r.run == nil:
			return true, fs.ErrClosed
		default:
			return false, nil
		}
	})
	return chunk, err
}

// poll returns the next chunk, if there is one now.
func (r *Running) poll() (Chunk, error) {
	for _, stream := range [...]Stream{Stdout, Stderr} {
		r.mutex.Lock()
		isUnread := r.unread[stream]
		r.mutex.Unlock()
		if !isUnread {
			continue
		}
		bytes, err := r.read(stream, programReadBytes)
		if len(bytes) > 0 {
			return Chunk{stream, bytes}, nil
		}
		if err != nil {
			r.take(stream)
		}
		if err != nil && err != io.EOF {
			return Chunk{}, err
		}
	}
	return Chunk{}, nil
}

// until repeats a step until it is done, and writes the input of the launch in the meantime.
func (r *Running) until(step func() (done bool, err error)) error {
	for pause := pauseMin; ; pause = min(2*pause, pauseMax) {
		if err := r.ctx.Err(); err != nil {
			r.Kill()
			return err
		}
		if err := r.writeInput(); err != nil {
			return err
		}
		if done, err := step(); done || err != nil {
			return err
		}
		time.Sleep(pause)
	}
}

func (r *Running) read(stream Stream, bytesMax int) ([]byte, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.run == nil {
		return nil, fs.ErrClosed
	}
	return r.run.Read(host.Stream(stream), bytesMax)
}

// A programFeed is the input of a launch, on its way to the program.
type programFeed struct {
	// Held while something writes the input.
	writing sync.Mutex
	from    io.Reader
	// What was read and is not written yet.
	rest    []byte
	isEnded bool
}

// writeInput writes as much of the input as the program accepts now, and then ends stdin.
func (r *Running) writeInput() error {
	r.mutex.Lock()
	feed := r.feed
	r.mutex.Unlock()
	// Another goroutine that waits for the program may be at it.
	if feed == nil || !feed.writing.TryLock() {
		return nil
	}
	defer feed.writing.Unlock()
	for {
		if err := feed.fill(); err != nil {
			return err
		}
		if len(feed.rest) == 0 && !feed.isEnded {
			return nil
		}
		if again := r.writeOnce(feed); !again {
			return nil
		}
	}
}

// fill reads more of the input, if everything is written.
func (f *programFeed) fill() error {
	if len(f.rest) > 0 || f.isEnded {
		return nil
	}
	buffer := make([]byte, programReadBytes)
	read, err := f.from.Read(buffer)
	f.rest, f.isEnded = buffer[:read], err == io.EOF
	if f.isEnded {
		return nil
	}
	return err
}

// writeOnce writes a piece of the input, or ends it. It returns whether there is more to do now.
func (r *Running) writeOnce(feed *programFeed) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.run == nil || r.feed != feed {
		return false
	}
	if len(feed.rest) == 0 {
		if r.run.EndInput() {
			r.feed = nil
		}
		return false
	}
	written, open := r.run.WriteInput(feed.rest)
	feed.rest = feed.rest[written:]
	if !open {
		// A program that closes its stdin does not want the rest.
		r.feed = nil
	}
	return open && written > 0
}

// A programInput writes to stdin.
type programInput struct {
	running *Running
}

// Write waits until the program has taken all bytes.
func (p programInput) Write(bytes []byte) (written int, err error) {
	err = p.running.until(func() (done bool, err error) {
		count, err := p.running.write(bytes[written:])
		written += count
		return written == len(bytes), err
	})
	return written, err
}

func (r *Running) write(bytes []byte) (written int, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.run == nil {
		return 0, fs.ErrClosed
	}
	written, open := r.run.WriteInput(bytes)
	if !open {
		return written, io.ErrClosedPipe
	}
	return written, nil
}

// Close waits until the program has all bytes, or does not want them, and then ends the input.
func (p programInput) Close() error {
	return p.running.until(func() (done bool, err error) {
		p.running.mutex.Lock()
		defer p.running.mutex.Unlock()
		return p.running.run == nil || p.running.run.EndInput(), nil
	})
}

// A programOutput reads a stream.
type programOutput struct {
	running *Running
	stream  Stream
}

func (p programOutput) Read(into []byte) (read int, err error) {
	if len(into) == 0 {
		return 0, nil
	}
	err = p.running.until(func() (done bool, err error) {
		bytes, err := p.running.read(p.stream, len(into))
		read = copy(into, bytes)
		return read > 0, err
	})
	return read, err
}
