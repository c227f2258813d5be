//! A broker with one directory, for the tests.

use portcullis_confine::{
    Broker, BrokerProgram, ConfineError, Confinement, ConfinementLimits, MaskedPath, OpenProgram, ProgramNetwork,
    ProgramReport, ProgramStart, RunningProgram, Tier, ViewAccess, ViewDirectory, path_of,
};
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// Both tiers. Each property holds for both, unless its test says otherwise.
pub(crate) const TIERS: [Tier; 2] = [Tier::Namespaces, Tier::Landlock];

/// A directory that is removed at the end of its test.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) struct Lab {
    pub(crate) broker: Broker,
    pub(crate) workspace: Scratch,
    pub(crate) limits: ConfinementLimits,
    pub(crate) access: ViewAccess,
    pub(crate) masked: Vec<MaskedPath>,
    pub(crate) network: ProgramNetwork,
}

/// The limits of a short command.
fn limits() -> ConfinementLimits {
    ConfinementLimits {
        time: Duration::from_secs(120),
        cpu_time: Duration::from_secs(120),
        processes: 64,
        memory_bytes: 1 << 30,
        open_files: 1024,
        file_bytes: 1 << 30,
        temporary_bytes: 256 << 20,
    }
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) text: String,
    pub(crate) report: ProgramReport,
}

impl Lab {
    /// Starts a broker of the machine's best tier, or of Landlock alone.
    pub(crate) fn new(tier: Tier) -> Self {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_portcullis-confine-broker"));
        let mut program = BrokerProgram::new(program);
        if tier == Tier::Landlock {
            program.arguments.push("--without-namespaces".into());
        }
        let broker = Broker::start(&program).unwrap();
        assert_eq!(broker.tier().tier, Some(tier), "{:?}", broker.tier());
        Self {
            broker,
            workspace: Scratch::new(),
            limits: limits(),
            access: ViewAccess::ReadWrite,
            masked: Vec::new(),
            network: ProgramNetwork::None,
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.workspace.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, content: &str) {
        let place = self.file(name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, content).unwrap();
    }

    pub(crate) async fn start(&self, command: &str) -> Result<RunningProgram, ConfineError> {
        self.start_in(&File::open(self.workspace.path()).unwrap(), command).await
    }

    /// Starts a command with a directory that was opened before.
    pub(crate) async fn start_in(&self, directory: &File, command: &str) -> Result<RunningProgram, ConfineError> {
        let program = OpenProgram::open(Path::new("/bin/bash")).unwrap();
        self.start_with(&program, directory, vec!["-c".to_owned(), command.to_owned()]).await
    }

    /// Starts a program with arguments.
    pub(crate) async fn start_program(
        &self,
        program: &OpenProgram,
        arguments: &[&str],
    ) -> Result<RunningProgram, ConfineError> {
        let directory = File::open(self.workspace.path()).unwrap();
        self.start_with(program, &directory, arguments.iter().map(|word| (*word).to_owned()).collect()).await
    }

    async fn start_with(
        &self,
        program: &OpenProgram,
        directory: &File,
        arguments: Vec<String>,
    ) -> Result<RunningProgram, ConfineError> {
        let confinement = Confinement {
            directories: vec![ViewDirectory {
                path: path_of(directory).unwrap(),
                link: Some("workspace".to_owned()),
                access: self.access,
                masked: self.masked.clone(),
            }],
            working_directory: self.workspace.path().to_owned(),
            environment: Vec::new(),
            network: self.network,
            limits: self.limits.clone(),
        };
        let start = ProgramStart {
            program,
            arguments,
            confinement,
            directories: &[directory.as_fd()],
            merge: true,
            namespaces_required: false,
        };
        self.broker.begin(start)?.started().await
    }

    /// Runs a command of the shell to its end.
    pub(crate) async fn run(&self, command: &str) -> Outcome {
        outcome(self.start(command).await.unwrap_or_else(|error| panic!("{command}: {error}"))).await
    }
}

/// Reads what a program prints until it has ended.
pub(crate) async fn outcome(mut running: RunningProgram) -> Outcome {
    let mut streams = running.take_streams().unwrap();
    drop(streams.stdin);
    let mut bytes = Vec::new();
    let (read, report) = tokio::join!(streams.stdout.read_to_end(&mut bytes), running.ended());
    read.unwrap();
    Outcome { text: String::from_utf8_lossy(&bytes).into_owned(), report: report.unwrap() }
}
