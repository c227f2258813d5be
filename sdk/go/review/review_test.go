package review

import "testing"

func TestAPanicRefuses(t *testing.T) {
	defer func() { registered = nil }()
	Register(func(*Call) Verdict { panic("at the disco") })
	if got, want := decide(&Call{}), Refuse("the review failed: at the disco"); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
