//go:build !wasip1

package portcullistest

import (
	"time"

	"portcullis.dev/portcullis"
	"portcullis.dev/portcullis/internal/host"
)

// An Execution is a run of a played program.
type Execution struct {
	Stdout string
	// Stderr comes after Stdout if the launch merges the streams.
	Stderr string
	// Exit is how the program ends. Nil is exit code 0.
	Exit portcullis.Exit
	// Duration is reported. The test does not wait for it.
	Duration      time.Duration
	LeftProcesses int
	Refused       []string
	// Endless: the program goes on until the tool ends it.
	Endless bool
}

// A Started is a start of a played program.
type Started struct {
	Key    string
	Launch portcullis.Launch
	// Stdin is what was written to the program.
	Stdin string
	// Killed: the tool ended the program before its end.
	Killed bool
}

func execution(played Execution, err error) (*host.Execution, string) {
	if err != nil {
		return nil, err.Error()
	}
	report := host.ExitReport{
		Milliseconds:  uint64(played.Duration.Milliseconds()),
		LeftProcesses: uint32(played.LeftProcesses),
		Refused:       played.Refused,
	}
	switch exit := played.Exit.(type) {
	case portcullis.Exited:
		report.Kind, report.Number = host.ExitedByItself, uint8(exit.Code)
	case portcullis.Signaled:
		report.Kind, report.Number = host.EndedBySignal, uint8(exit.Signal)
	case portcullis.Stopped:
		report.Kind, report.Text = host.StoppedByHost, exit.Text
	}
	return &host.Execution{
		Stdout:  []byte(played.Stdout),
		Stderr:  []byte(played.Stderr),
		Report:  report,
		Endless: played.Endless,
	}, ""
}

// raised returns a launch as the tool wrote it, without its Stdin.
func raised(launch *host.Launch) portcullis.Launch {
	raised := portcullis.Launch{Arguments: launch.Arguments, Directory: launch.Directory, Merge: launch.Merge}
	for _, variable := range launch.Environment {
		if raised.Environment == nil {
			raised.Environment = map[string]string{}
		}
		raised.Environment[variable.Name] = variable.Value
	}
	if needs := launch.Needs; needs != nil {
		switch needs.Kind {
		case host.MissingDestination:
			raised.Needs = portcullis.Destination(needs.Text)
		case host.MissingReadableDirectory:
			raised.Needs = portcullis.ReadableDirectory(needs.Text)
		case host.MissingWritableDirectory:
			raised.Needs = portcullis.WritableDirectory(needs.Text)
		}
	}
	return raised
}

func started(starts []*host.Started) []Started {
	var all []Started
	for _, start := range starts {
		all = append(all, Started{start.Key, raised(start.Launch), string(start.Stdin), start.Killed})
	}
	return all
}
