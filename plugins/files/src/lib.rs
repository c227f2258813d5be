//! The files plugin: read, write, edit, list, glob, grep.
