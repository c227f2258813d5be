module portcullis.dev/portcullis

go 1.27
