module plugin-{{name}}

go 1.27

require portcullis.dev/portcullis v0.1.0

replace portcullis.dev/portcullis => ./sdk
