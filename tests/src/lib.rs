//! Black-box tests of the host, through its public API and its binary.
