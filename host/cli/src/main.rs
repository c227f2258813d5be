//! The portcullis command line.
fn main() {}
