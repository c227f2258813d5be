//! Turning a component into code for this processor: in a process of its own that can be killed, since compiling is
//! the one thing wasmtime does not bound.

use crate::component::{COMPONENT_BYTES_MAX, Refusal};
use crate::engine::compile_settings;
use rustix::process::Signal;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Wall-clock time a compilation may take. CPython, the slowest real guest, takes 35 s on two busy cores.
const COMPILE_TIME_MAX: Duration = Duration::from_secs(180);

/// CPU time a worker may take, in seconds: the wall clock on two cores.
const COMPILE_CPU_SECONDS_MAX: u64 = 360;

/// Address space a worker may take, in bytes. CPython's code takes 600 MB; threads reserve more than they use.
const COMPILE_MEMORY_BYTES_MAX: u64 = 6 * 1024 * 1024 * 1024;

/// The largest compiled code, in bytes.
const ARTEFACT_BYTES_MAX: u64 = 4 * COMPONENT_BYTES_MAX;

/// The most of a worker's message that is kept, in bytes.
const MESSAGE_BYTES_MAX: u64 = 2048;

/// The most of a compile error that is told, in characters.
const MESSAGE_CHARACTERS_MAX: usize = 1024;

/// A worker's exit code for a component that cannot be compiled, whatever the machine.
const EXIT_REFUSED: i32 = 3;

/// A worker's exit code where the machine is at fault: it cannot limit itself, read or write.
const EXIT_BROKEN: i32 = 4;

/// What ends a worker that has reached no limit: a terminal that is closed or typed at, a system that shuts down.
const ENDED_BY_OTHERS: [i32; 3] = [Signal::HUP.as_raw(), Signal::INT.as_raw(), Signal::TERM.as_raw()];

/// Compiled code that this process may run: made by a compiler of ours, or read back under its MAC.
pub struct Artefact(Vec<u8>);

impl Artefact {
    pub(crate) fn authenticated(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Where components are compiled.
#[derive(Clone, Debug)]
pub enum Compiler {
    /// In a child process with limits on time and memory: this program, given these arguments, calls
    /// [`compile_worker`] and exits with what it returns.
    Worker {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        arguments: Vec<OsString>,
    },
    /// In this process, on a thread that cannot be stopped. A hostile component can take minutes and a gigabyte: for
    /// plugins one has built oneself, and for measuring.
    InProcess,
}

/// Why there is no code.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The component is at fault.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The compiler took too much.
    #[error("compiling it took more than {} s, or more memory than a plugin may ask for", COMPILE_TIME_MAX.as_secs())]
    Exhausted,
    /// The worker could not be run.
    #[error("the compile worker cannot be run: {0}")]
    Worker(#[from] io::Error),
}

impl Compiler {
    /// Describes what a compilation may take. A component that was refused under other limits is tried again.
    pub fn limits(&self) -> String {
        match self {
            Self::Worker { .. } => {
                let seconds = COMPILE_TIME_MAX.as_secs();
                format!("{seconds} s, {COMPILE_CPU_SECONDS_MAX} s of CPU time, {COMPILE_MEMORY_BYTES_MAX} bytes")
            }
            Self::InProcess => "no limits".to_owned(),
        }
    }

    /// Compiles a component that has passed [`check_component`](crate::check_component).
    ///
    /// # Errors
    /// The component is refused, exhausts the worker, or no worker can be run.
    pub async fn compile(&self, component: &[u8]) -> Result<Artefact, CompileError> {
        match self {
            Self::Worker { program, arguments } => {
                // A worker that is past its time is killed with the future that waits for it.
                match tokio::time::timeout(COMPILE_TIME_MAX, in_worker(program, arguments, component)).await {
                    Ok(outcome) => outcome,
                    Err(_) => Err(CompileError::Exhausted),
                }
            }
            Self::InProcess => {
                let component = component.to_vec();
                let compiled = tokio::task::spawn_blocking(move || compile(&component)).await;
                Ok(compiled.map_err(|_| CompileError::Exhausted)?.map_err(Refusal::Uncompilable)?)
            }
        }
    }
}

fn compile(component: &[u8]) -> Result<Artefact, String> {
    let engine = wasmtime::Engine::new(&compile_settings()).map_err(|error| describe(&error))?;
    engine.precompile_component(component).map(Artefact).map_err(|error| describe(&error))
}

/// The words of a compile error. They may hold names from the component, so they are escaped here.
fn describe(error: &wasmtime::Error) -> String {
    format!("{error:#}").escape_debug().take(MESSAGE_CHARACTERS_MAX).collect()
}

async fn in_worker(program: &PathBuf, arguments: &[OsString], component: &[u8]) -> Result<Artefact, CompileError> {
    #[expect(clippy::disallowed_methods, reason = "the compile worker is the one process the sandbox starts")]
    let mut child = tokio::process::Command::new(program)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        // What a person types at the terminal is for the host, which stops it where it stops.
        .process_group(0)
        .spawn()?;
    let missing = || CompileError::Worker(io::ErrorKind::BrokenPipe.into());
    let mut input = child.stdin.take().ok_or_else(missing)?;
    let output = child.stdout.take().ok_or_else(missing)?;
    let messages = child.stderr.take().ok_or_else(missing)?;
    let (mut artefact, mut message) = (Vec::new(), Vec::new());
    let (mut output, mut messages) = (output.take(ARTEFACT_BYTES_MAX), messages.take(MESSAGE_BYTES_MAX));
    let feed = async move {
        // A worker that refuses early closes its end; its exit code tells why.
        let _ = input.write_all(component).await;
        drop(input);
    };
    let read = async { tokio::try_join!(output.read_to_end(&mut artefact), messages.read_to_end(&mut message)) };
    let ((), read) = tokio::join!(feed, read);
    read?;
    let status = child.wait().await?;
    let message = || String::from_utf8_lossy(&message).escape_debug().take(MESSAGE_CHARACTERS_MAX).collect::<String>();
    match status.code() {
        Some(0) => Ok(Artefact(artefact)),
        Some(EXIT_REFUSED) => Err(Refusal::Uncompilable(message()).into()),
        Some(EXIT_BROKEN) => Err(CompileError::Worker(io::Error::other(message()))),
        // Ended by whoever ends programs, and not for what it compiled.
        None if status.signal().is_some_and(|signal| ENDED_BY_OTHERS.contains(&signal)) => {
            Err(CompileError::Worker(io::ErrorKind::Interrupted.into()))
        }
        // Killed by a limit, or aborted because memory ran out.
        Some(_) | None => Err(CompileError::Exhausted),
    }
}

/// The compile worker: reads a component from stdin, writes code to stdout, and returns the exit code. It limits
/// itself before it looks at a byte.
pub fn compile_worker() -> i32 {
    match work() {
        Ok(()) => 0,
        Err((exit, message)) => {
            let _ = io::stderr().write_all(message.as_bytes());
            exit
        }
    }
}

/// Does the worker's work. An error is an exit code and a message.
fn work() -> Result<(), (i32, String)> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limits = [
        (Resource::As, COMPILE_MEMORY_BYTES_MAX),
        (Resource::Cpu, COMPILE_CPU_SECONDS_MAX),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ];
    let broken = |message: String| (EXIT_BROKEN, message);
    for (resource, limit) in limits {
        let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
        setrlimit(resource, limit).map_err(|error| broken(format!("it cannot limit itself: {error}")))?;
    }
    let mut component = Vec::new();
    let read = io::stdin().take(COMPONENT_BYTES_MAX + 1).read_to_end(&mut component);
    read.map_err(|error| broken(format!("it cannot read the component: {error}")))?;
    let artefact = compile(&component).map_err(|message| (EXIT_REFUSED, message))?;
    let written = io::stdout().write_all(artefact.bytes());
    written.map_err(|error| broken(format!("it cannot answer: {error}")))
}
