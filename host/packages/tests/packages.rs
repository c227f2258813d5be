//! The tests of installed packages.
