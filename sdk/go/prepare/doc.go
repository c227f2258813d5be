// Package prepare makes the component export the preparer of its plugin, see [portcullis.Preparer]. Import it for that
// alone:
//
//	import _ "portcullis.dev/portcullis/prepare"
//
// A component cannot export a preparer and a generator or a reviewer, so do not import the packages generate and review
// too.
package prepare
