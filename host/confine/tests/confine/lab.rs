//! A broker with one directory, for the tests.

use portcullis_confine::{
    BROKER_ARGUMENT, Broker, BrokerProgram, ConfineError, Confinement, ConfinementLimits, MaskedPath, OpenProgram,
    ProgramNetwork, ProgramReport, ProgramStart, RunningProgram, Tier, ViewAccess, ViewDirectory, path_of,
};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// The variables by which a run as another user finds the broker and a directory that it may write to.
pub(crate) const BROKER_VARIABLE: &str = "PORTCULLIS_TEST_BROKER";
pub(crate) const SCRATCH_VARIABLE: &str = "PORTCULLIS_TEST_SCRATCH";

/// Maximum time of a step that waits for a program. Programs of these tests take at most a few seconds.
const STEP_TIME_MAX: Duration = Duration::from_secs(20);

/// Returns the tiers that the kernel allows this user. Each property holds for both, unless its test says otherwise.
pub(crate) fn tiers() -> Vec<Tier> {
    [Tier::Namespaces, Tier::Landlock].into_iter().filter(|tier| kernel_allows(*tier)).collect()
}

/// Returns whether the kernel allows this user a tier. It does not ask the broker, whose faults must skip no test.
pub(crate) fn kernel_allows(tier: Tier) -> bool {
    let allowed = match tier {
        Tier::Namespaces => {
            let mut probe = std::process::Command::new("unshare");
            probe.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--net", "true"]);
            probe.output().unwrap().status.success()
        }
        Tier::Landlock => landlock_version() >= LANDLOCK_VERSION_NEEDED,
    };
    if !allowed {
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        report(&format!("SKIPPED: {test} with {tier}: the kernel does not allow it to this user\n"));
    }
    allowed
}

/// Writes around the capture of the test harness, so that it is seen. `.config/nextest.toml` shows it although the test
/// passes.
pub(crate) fn report(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

const LANDLOCK_VERSION_NEEDED: i64 = 6;

#[expect(unsafe_code, reason = "the version has no safe wrapper")]
fn landlock_version() -> i64 {
    const VERSION: u32 = 1;
    // SAFETY: with this flag, the call reads no memory.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION) }
}

/// Returns the number of the user of this run.
pub(crate) fn user() -> u32 {
    std::fs::metadata("/proc/self").unwrap().uid()
}

/// Returns the path of the broker.
pub(crate) fn broker_path() -> PathBuf {
    place(BROKER_VARIABLE, env!("CARGO_BIN_EXE_portcullis-confine-broker"))
}

fn place(variable: &str, default: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| OsString::from(default)).into()
}

/// A directory that is removed at the end of its test.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            place(SCRATCH_VARIABLE, env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}", std::process::id()));
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
    pub(crate) environment: Vec<(String, String)>,
    /// The path that the directory had when it was granted, if that is not its path now.
    pub(crate) granted_path: Option<PathBuf>,
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
        Self::started_by(tier, Path::new("/usr/bin/env"), &[])
    }

    /// Starts a broker by another program, whose last arguments it must execute.
    pub(crate) fn started_by(tier: Tier, launcher: &Path, arguments: &[&str]) -> Self {
        let mut program = BrokerProgram::new(launcher.to_owned());
        let broker = [broker_path().into(), OsString::from(BROKER_ARGUMENT)];
        program.arguments = arguments.iter().map(OsString::from).chain(broker).collect();
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
            environment: Vec::new(),
            granted_path: None,
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
                path: self.granted_path.clone().unwrap_or_else(|| path_of(directory).unwrap()),
                link: Some("workspace".to_owned()),
                access: self.access,
                masked: self.masked.clone(),
            }],
            working_directory: self.workspace.path().to_owned(),
            environment: self.environment.clone(),
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
        in_time("the start of a program", self.broker.begin(start)?.started()).await
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
    let read_and_ended = async { tokio::join!(streams.stdout.read_to_end(&mut bytes), running.ended()) };
    let (read, report) = in_time("a program", read_and_ended).await;
    read.unwrap();
    Outcome { text: String::from_utf8_lossy(&bytes).into_owned(), report: report.unwrap() }
}

/// Waits for something that a guard ends. Without the guard, the test fails by its name instead of hanging.
pub(crate) async fn in_time<T>(what: &str, step: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(STEP_TIME_MAX, step).await;
    done.unwrap_or_else(|_| panic!("{what} took longer than {} s", STEP_TIME_MAX.as_secs()))
}
