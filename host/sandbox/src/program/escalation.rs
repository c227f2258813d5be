//! What a program may get for one run in addition to its binding, if a person allows it.

use crate::directory::Directory;
use crate::http::Client;
use portcullis_policy::Access;
use std::path::PathBuf;

/// A request for one thing that a program lacks, for one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escalation {
    /// The key of the program.
    pub key: String,
    /// The path of the program.
    pub program: PathBuf,
    /// The arguments of the run, from the guest.
    pub arguments: Vec<String>,
    /// The variables of the run that the guest sets.
    pub environment: Vec<(String, String)>,
    /// The directory to start in, if the guest names one.
    pub directory: Option<String>,
    /// What the program lacks.
    pub missing: Missing,
}

/// What a program lacks. Untrusted text of the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A host and a port.
    Destination(String),
    /// A directory of the machine.
    Directory {
        /// Its absolute path.
        path: String,
        /// What the program needs to do there.
        access: Access,
    },
}

/// What a person allowed a program for one run.
#[derive(Clone)]
pub enum ProgramExtra {
    /// A client for one destination.
    Client(Client),
    /// A directory.
    Directory(Directory),
}
