package host

// Launch is what to start a program with.
type Launch struct {
	Arguments   []string
	Environment []Variable
	// Directory is the directory of the binding if empty.
	Directory string
	Merge     bool
	// Needs is nil if the program lacks nothing.
	Needs *Missing
}

// MissingKind is a case of what a program lacks, with the number that it has in the contract.
type MissingKind uint8

const (
	MissingDestination MissingKind = iota
	MissingReadableDirectory
	MissingWritableDirectory
)

// Missing is what a program lacks for one run.
type Missing struct {
	Kind MissingKind
	Text string
}

// Variable is an environment variable.
type Variable struct {
	Name, Value string
}

// Stream is one of the two streams that a program writes.
type Stream uint8

const (
	Stdout Stream = iota
	Stderr
)

// ExitKind says how a program ended.
type ExitKind uint8

const (
	ExitedByItself ExitKind = iota
	EndedBySignal
	StoppedByHost
)

// ExitReport is the report of a program that has ended.
type ExitReport struct {
	Kind ExitKind
	// Number is the exit code or the signal.
	Number uint8
	// Text says which limit the program reached, if the host stopped it.
	Text          string
	Milliseconds  uint64
	LeftProcesses uint32
	Refused       []string
}
