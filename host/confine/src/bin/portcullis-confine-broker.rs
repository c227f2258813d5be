//! A broker by itself, for the tests of this crate. With the argument `--without-namespaces`, it first refuses itself
//! the system calls that make namespaces, as a container does.

#[cfg(target_os = "linux")]
fn main() {
    if std::env::args().any(|word| word == "--without-namespaces") {
        portcullis_confine::refuse_namespaces().unwrap_or_else(|error| panic!("{error}"));
    }
    std::process::exit(portcullis_confine::broker_main());
}

#[cfg(not(target_os = "linux"))]
fn main() {}
