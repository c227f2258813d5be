// Package generate makes the component export the generator of its plugin, see [portcullis.Generator]. Import it for that
// alone:
//
//	import _ "portcullis.dev/portcullis/generate"
//
// A component cannot export a generator and a reviewer, so do not import the package review too.
package generate
