//go:build !wasip1

package portcullis_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/portcullistest"
)

// lines counts the lines of a text.
func lines(ctx *portcullis.Context, _ struct{}) (string, error) {
	wc, err := ctx.Program("wc")
	if err != nil {
		return "", err
	}
	defer wc.Close()
	output, err := wc.Output(ctx, portcullis.Launch{
		Arguments:   []string{"-l"},
		Environment: map[string]string{"LC_ALL": "C"},
		Directory:   "/cache/a",
		Stdin:       strings.NewReader("one\ntwo\n"),
	}, 8)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%v|%s|%s|%t", output.Report.Err(), output.Stdout, output.Stderr, output.IsCut), nil
}

// What the tool run does.
var body func(ctx *portcullis.Context, wc *portcullis.Program) error

func run(ctx *portcullis.Context, _ struct{}) (string, error) {
	wc, err := ctx.Program("wc")
	if err != nil {
		return "", err
	}
	return "", body(ctx, wc)
}

func plays(execution portcullistest.Execution) *portcullistest.Host {
	return &portcullistest.Host{Programs: map[string]func(portcullis.Launch) (portcullistest.Execution, error){
		"wc": func(portcullis.Launch) (portcullistest.Execution, error) { return execution, nil },
	}}
}

// runs runs the body in the tool run.
func runs(t *testing.T, host *portcullistest.Host, do func(*portcullis.Context, *portcullis.Program) error) {
	t.Helper()
	body = do
	if _, err := portcullistest.Call(t, host, "run", `{}`); err != nil {
		t.Error(err)
	}
}

func TestAProgramGetsItsLaunchAndItsInput(t *testing.T) {
	host := plays(portcullistest.Execution{Stdout: "2", Stderr: "warning: 1 of 2", Exit: portcullis.Exited{Code: 2}})
	answer, err := portcullistest.Call(t, host, "lines", `{}`)
	if err != nil || answer.Output != "the program ended: exit code 2|2|warning:|true" {
		t.Fatalf("got %v, %v", answer, err)
	}
	launch := portcullis.Launch{
		Arguments: []string{"-l"}, Environment: map[string]string{"LC_ALL": "C"}, Directory: "/cache/a",
	}
	want := []portcullistest.Started{{Key: "wc", Launch: launch, Stdin: "one\ntwo\n"}}
	if !reflect.DeepEqual(host.Started, want) {
		t.Errorf("got %+v", host.Started)
	}
}

func TestAProgramThatDoesNotStartFailsWithTheReason(t *testing.T) {
	host := &portcullistest.Host{Programs: map[string]func(portcullis.Launch) (portcullistest.Execution, error){
		"wc": func(portcullis.Launch) (portcullistest.Execution, error) {
			return portcullistest.Execution{}, errors.New("/usr/bin/wc has changed")
		},
	}}
	_, err := portcullistest.Call(t, host, "lines", `{}`)
	if err == nil || *portcullis.FailureOf(err) != (portcullis.Failure{Kind: portcullis.KindFailed, Text: "/usr/bin/wc has changed"}) {
		t.Errorf("got %v", err)
	}
	_, err = portcullistest.Call(t, nil, "lines", `{}`)
	if err == nil || portcullis.FailureOf(err).Kind != portcullis.KindDenied {
		t.Errorf("got %v", err)
	}
}

func TestAStartNamesWhatTheProgramLacks(t *testing.T) {
	host := &portcullistest.Host{Programs: map[string]func(portcullis.Launch) (portcullistest.Execution, error){
		"wc": func(launch portcullis.Launch) (portcullistest.Execution, error) {
			if launch.Needs == portcullis.Destination("refused.example.org:443") {
				return portcullistest.Execution{}, errors.New("not approved")
			}
			return portcullistest.Execution{}, nil
		},
	}}
	needs := []portcullis.Missing{
		portcullis.Destination("files.example.org:443"), portcullis.ReadableDirectory("/srv/data"),
		portcullis.WritableDirectory("/srv/data"), nil,
	}
	runs(t, host, func(ctx *portcullis.Context, wc *portcullis.Program) error {
		for _, missing := range needs {
			if _, err := wc.Output(ctx, portcullis.Launch{Needs: missing}, 10); err != nil {
				return err
			}
		}
		_, err := wc.Start(ctx, portcullis.Launch{Needs: portcullis.Destination("refused.example.org:443")})
		if err == nil || *portcullis.FailureOf(err) != (portcullis.Failure{Kind: portcullis.KindFailed, Text: "not approved"}) {
			t.Errorf("got %v", err)
		}
		return nil
	})
	var started []portcullis.Missing
	for _, start := range host.Started {
		started = append(started, start.Launch.Needs)
	}
	if !slices.Equal(started, needs) {
		t.Errorf("got %#v", started)
	}
}

func TestBothStreamsAreReadTogether(t *testing.T) {
	large := strings.Repeat("x", 5000)
	host := plays(portcullistest.Execution{
		Stdout: large, Stderr: "e", Duration: time.Second, LeftProcesses: 2, Refused: []string{"GET http://a.example/"},
	})
	runs(t, host, func(ctx *portcullis.Context, wc *portcullis.Program) error {
		running, err := wc.Start(ctx, portcullis.Launch{})
		if err != nil {
			return err
		}
		defer running.Close()
		var stdout, stderr strings.Builder
		report, err := running.Copy(&stdout, &stderr)
		if stdout.String() != large || stderr.String() != "e" {
			t.Errorf("got %d bytes and %q", stdout.Len(), &stderr)
		}
		want := portcullis.ExitReport{
			Exit: portcullis.Exited{}, Duration: time.Second, LeftProcesses: 2, Refused: []string{"GET http://a.example/"},
		}
		if !reflect.DeepEqual(report, want) || !report.Success() || report.Err() != nil {
			t.Errorf("got %+v", report)
		}
		return err
	})
}

func TestEachStreamIsAReaderOrAWriter(t *testing.T) {
	host := plays(portcullistest.Execution{Stdout: "out", Stderr: "e"})
	runs(t, host, func(ctx *portcullis.Context, wc *portcullis.Program) error {
		running, err := wc.Start(ctx, portcullis.Launch{Stdin: strings.NewReader("dropped")})
		if err != nil {
			return err
		}
		defer running.Close()
		stdin := running.Stdin()
		if written, err := io.WriteString(stdin, strings.Repeat("y", 3000)); written != 3000 || err != nil {
			t.Errorf("got %d, %v", written, err)
		}
		if err := errors.Join(stdin.Close(), stdin.Close()); err != nil {
			t.Error(err)
		}
		if _, err := io.WriteString(stdin, "more"); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
		stdout, err := io.ReadAll(running.Stdout())
		stderr, otherErr := io.ReadAll(running.Stderr())
		if string(stdout) != "out" || string(stderr) != "e" {
			t.Errorf("got %q and %q", stdout, stderr)
		}
		_, waitErr := running.Wait()
		return errors.Join(err, otherErr, waitErr)
	})
	if host.Started[0].Stdin != strings.Repeat("y", 3000) {
		t.Errorf("got %d bytes", len(host.Started[0].Stdin))
	}
}

func TestAReaderOfOneStreamWritesTheInput(t *testing.T) {
	host := plays(portcullistest.Execution{Stdout: "out"})
	runs(t, host, func(ctx *portcullis.Context, wc *portcullis.Program) error {
		running, err := wc.Start(ctx, portcullis.Launch{Stdin: strings.NewReader("in")})
		if err != nil {
			return err
		}
		defer running.Close()
		_, err = io.ReadAll(running.Stdout())
		return err
	})
	if host.Started[0].Stdin != "in" {
		t.Errorf("got %q", host.Started[0].Stdin)
	}
}

func TestMergedStreamsAreOne(t *testing.T) {
	runs(t, plays(portcullistest.Execution{Stdout: "a", Stderr: "b"}), func(ctx *portcullis.Context, wc *portcullis.Program) error {
		output, err := wc.Output(ctx, portcullis.Launch{Merge: true}, 10)
		if err == nil && (string(output.Stdout) != "ab" || output.Stderr != nil || output.IsCut) {
			t.Errorf("got %+v", output)
		}
		return err
	})
}

func TestAProgramEndsWithItsContextOrAWriter(t *testing.T) {
	host := plays(portcullistest.Execution{Stdout: "begun", Endless: true})
	runs(t, host, func(ctx *portcullis.Context, wc *portcullis.Program) error {
		short, stop := context.WithTimeout(ctx, 10*time.Millisecond)
		defer stop()
		if _, err := wc.Output(short, portcullis.Launch{}, 10); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		running, err := wc.Start(ctx, portcullis.Launch{})
		if err != nil {
			return err
		}
		reader, writer := io.Pipe()
		reader.Close()
		if _, err := running.Copy(writer, nil); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
		report, err := running.Wait()
		if report.Exit != (portcullis.Stopped{Text: "the host ended it"}) {
			t.Errorf("got %v", report.Exit)
		}
		return err
	})
	host.Cancelled = true
	_, err := portcullistest.Call(t, host, "lines", `{}`)
	if err == nil || portcullis.FailureOf(err).Kind != portcullis.KindCancelled || !host.Started[0].Killed {
		t.Errorf("got %v, %+v", err, host.Started)
	}
}

func TestAClosedProgramSaysSo(t *testing.T) {
	host := plays(portcullistest.Execution{Endless: true})
	runs(t, host, func(ctx *portcullis.Context, wc *portcullis.Program) error {
		running, err := wc.Start(ctx, portcullis.Launch{})
		if err != nil {
			return err
		}
		stdin, stdout := running.Stdin(), running.Stdout()
		_, _, _ = running.Close(), running.Close(), wc.Close()
		_, reading := stdout.Read(make([]byte, 1))
		_, writing := stdin.Write([]byte("a"))
		_, starting := wc.Start(ctx, portcullis.Launch{})
		_, waiting := running.Wait()
		for _, err := range []error{reading, writing, starting, waiting} {
			if err == nil || !strings.Contains(err.Error(), "file already closed") {
				t.Errorf("got %v", err)
			}
		}
		return stdin.Close()
	})
	if !host.Started[0].Killed {
		t.Error("the program still runs")
	}
}

func TestALaunchThatIsNotUTF8IsRefused(t *testing.T) {
	runs(t, plays(portcullistest.Execution{}), func(ctx *portcullis.Context, wc *portcullis.Program) error {
		for _, launch := range []portcullis.Launch{
			{Arguments: []string{"a", coffee}}, {Environment: map[string]string{"DRINK": coffee}}, {Directory: coffee},
			{Needs: portcullis.Destination(coffee)}, {Needs: portcullis.WritableDirectory(coffee)},
		} {
			if _, err := wc.Start(ctx, launch); err == nil || portcullis.FailureOf(err).Kind != portcullis.KindInvalidArguments {
				t.Errorf("got %v", err)
			}
		}
		return nil
	})
}
