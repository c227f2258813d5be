//! Build and check the repository.
fn main() {}
