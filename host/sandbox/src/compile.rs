//! Compiles a component to code for this processor. It runs in its own process, which can be killed, because wasmtime
//! does not limit the time and memory of a compilation.

use crate::artefact::Artefact;
use crate::codegen;
use crate::component::{COMPONENT_BYTES_MAX, Refusal};
use crate::engine::compile_settings;
use crate::own_process;
use crate::own_program::{self, WorkerError};

use portcullis_confine::{BROKER_ARGUMENT, WorkerExit, broker_main, only_compute};
use rustix::process::Signal;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Maximum wall-clock time of a compilation. CPython, the slowest real guest, takes 35 s on two busy cores.
pub const COMPILE_TIME_MAX: Duration = Duration::from_secs(180);

/// Maximum CPU time of a worker, in seconds: the maximum wall-clock time on two cores.
const COMPILE_CPU_SECONDS_MAX: u64 = 360;

/// Maximum address space of a worker, in bytes. CPython's code takes 600 MB. Threads reserve more than they use.
const COMPILE_MEMORY_BYTES_MAX: u64 = 6 * 1024 * 1024 * 1024;

/// Maximum size of compiled code, in bytes.
const ARTEFACT_BYTES_MAX: u64 = 4 * COMPONENT_BYTES_MAX;

/// Maximum bytes to read of a worker's message.
const MESSAGE_BYTES_MAX: u64 = 2048;

/// Maximum length of a reported compile error, in characters.
const MESSAGE_CHARACTERS_MAX: usize = 1024;

/// A worker's exit code for a component that no machine can compile.
const EXIT_REFUSED: i32 = 3;

/// A worker's exit code for a problem of the machine: it cannot set its limits, read or write.
const EXIT_BROKEN: i32 = 4;

/// The only argument of this program when it is started as a compile worker.
const WORKER_ARGUMENT: &str = "portcullis-compile-worker";

/// The beginning of compiled code, which is an ELF file.
const ARTEFACT_BEGINNING: &[u8] = b"\x7fELF";

/// The signals of a closed terminal, an interrupt at the terminal, and a system shutdown. A worker that they end has
/// not reached a limit.
const ENDED_BY_OTHERS: [i32; 3] = [Signal::HUP.as_raw(), Signal::INT.as_raw(), Signal::TERM.as_raw()];

/// Where components are compiled. Nowhere, if the program was built without the feature `compiler`.
#[derive(Clone, Debug, Default)]
pub enum Compiler {
    /// In a child process of this program, with limits on time and memory. `main` must begin with [`init`].
    #[default]
    Worker,
    /// In a child process of another program, with the same limits. The program must call [`compile_worker`] when it
    /// gets these arguments, and exit with the returned code.
    Program {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        arguments: Vec<OsString>,
    },
    /// In this process, on a thread that cannot be stopped. A hostile component can take minutes and a gigabyte, so use
    /// this only for your own plugins and for measurements.
    InProcess,
}

/// Why a component could not be compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The component is at fault.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The compilation exceeded its limits.
    #[error("compiling it took more than {} s, or more memory than the limit allows", COMPILE_TIME_MAX.as_secs())]
    Exhausted,
    /// The worker could not be run.
    #[error("the compile worker cannot be run")]
    Worker(#[from] io::Error),
    /// The program has no compiler, and the cache has no code of the plugin.
    #[error(
        "its code is not in the cache, and this program was built without the feature `compiler`: load the plugin once \
         with a program that has it and uses the same state directory"
    )]
    NoCompiler,
    /// This program cannot be started as a worker.
    #[error(transparent)]
    NoWorker(#[from] WorkerError),
}

impl Compiler {
    /// Checks that the compiler can be used in this process. Starts nothing.
    ///
    /// # Errors
    /// The compiler is [`Compiler::Worker`], and this program has not called [`init`] or has no known path.
    pub fn check(&self) -> Result<(), WorkerError> {
        match self {
            Self::Worker => own_program::path().map(|_| ()),
            Self::Program { .. } | Self::InProcess => Ok(()),
        }
    }

    /// Describes the limits of a compilation. A component that was refused under other limits is tried again.
    pub fn limits(&self) -> String {
        match self {
            Self::Worker | Self::Program { .. } => {
                let seconds = COMPILE_TIME_MAX.as_secs();
                format!("{seconds} s, {COMPILE_CPU_SECONDS_MAX} s of CPU time, {COMPILE_MEMORY_BYTES_MAX} bytes")
            }
            Self::InProcess => "no limits".to_owned(),
        }
    }

    /// Compiles a component that has passed [`check_component`](crate::check_component).
    ///
    /// # Errors
    /// The component is refused, exhausts the worker, or no worker can be run. Or the program was built without the
    /// feature `compiler`.
    pub async fn compile(&self, component: &[u8]) -> Result<Artefact, CompileError> {
        if !codegen::IS_BUILT_IN {
            return Err(CompileError::NoCompiler);
        }
        match self {
            Self::Worker => {
                let program = own_program::path()?;
                let code = in_worker(program, &[OsString::from(WORKER_ARGUMENT)], component).await?;
                if code.starts_with(ARTEFACT_BEGINNING) {
                    Ok(Artefact::in_memory(code))
                } else {
                    Err(not_first().into())
                }
            }
            Self::Program { program, arguments } => {
                Ok(Artefact::in_memory(in_worker(program, arguments, component).await?))
            }
            Self::InProcess => {
                let component = component.to_vec();
                let compiled = tokio::task::spawn_blocking(move || compile(&component)).await;
                let compiled = compiled.map_err(|_| CompileError::Exhausted)?.map_err(Refusal::Uncompilable)?;
                Ok(Artefact::in_memory(compiled))
            }
        }
    }
}

fn compile(component: &[u8]) -> Result<Vec<u8>, String> {
    let engine = wasmtime::Engine::new(&compile_settings()).map_err(|error| describe(&error))?;
    codegen::compile(&engine, component).map_err(|error| describe(&error))
}

/// Returns the text of a compile error. It may contain names from the component, so it is escaped.
fn describe(error: &wasmtime::Error) -> String {
    format!("{error:#}").escape_debug().take(MESSAGE_CHARACTERS_MAX).collect()
}

/// The error of a program that ran something else before [`init`], or instead of it, as a test harness does.
fn not_first() -> io::Error {
    io::Error::other("it returned no code: portcullis::init() is not the first line of its main")
}

async fn in_worker(program: &Path, arguments: &[OsString], component: &[u8]) -> Result<Vec<u8>, CompileError> {
    // On a timeout, dropping the future kills the worker.
    match tokio::time::timeout(COMPILE_TIME_MAX, run_worker(program, arguments, component)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(CompileError::Exhausted),
    }
}

async fn run_worker(program: &Path, arguments: &[OsString], component: &[u8]) -> Result<Vec<u8>, CompileError> {
    // A process that has given up the start of programs compiles in a worker of its broker.
    if let Some(worker) = own_process::start_worker() {
        let mut worker = worker?;
        let streams = worker.take_streams().ok_or_else(missing)?;
        let messages = streams.stderr.ok_or_else(missing)?;
        let (artefact, message) = feed(component, streams.stdin, streams.stdout, messages).await?;
        return match worker.ended().await.map_err(io::Error::other)? {
            WorkerExit::Code(code) => outcome(Some(code), None, artefact, &message),
            WorkerExit::Signal(signal) => outcome(None, Some(signal), artefact, &message),
        };
    }
    #[expect(clippy::disallowed_methods, reason = "the compile worker is the one process the sandbox starts")]
    let mut child = tokio::process::Command::new(program)
        .args(arguments)
        // The worker parses hostile bytes, so it gets no variable of the host.
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        // Its own process group, so that Ctrl-C at the terminal goes only to the host, which stops the worker itself.
        .process_group(0)
        .spawn()?;
    let input = child.stdin.take().ok_or_else(missing)?;
    let output = child.stdout.take().ok_or_else(missing)?;
    let messages = child.stderr.take().ok_or_else(missing)?;
    let (artefact, message) = feed(component, input, output, messages).await?;
    let status = child.wait().await?;
    outcome(status.code(), status.signal(), artefact, &message)
}

fn missing() -> CompileError {
    CompileError::Worker(io::ErrorKind::BrokenPipe.into())
}

/// Passes the component to a worker. Returns the code and the message that it wrote.
async fn feed(
    component: &[u8],
    mut input: impl AsyncWrite + Unpin,
    output: impl AsyncRead + Unpin,
    messages: impl AsyncRead + Unpin,
) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut artefact, mut message) = (Vec::new(), Vec::new());
    let (mut output, mut messages) = (output.take(ARTEFACT_BYTES_MAX), messages.take(MESSAGE_BYTES_MAX));
    let feed = async move {
        // A worker that refuses early closes its input, so a write error is expected. The exit code has the reason.
        let _ = input.write_all(component).await;
        drop(input);
    };
    let read = async { tokio::try_join!(output.read_to_end(&mut artefact), messages.read_to_end(&mut message)) };
    // At the same time, because a worker that waits until its output is read would not read its input.
    let ((), read) = tokio::join!(feed, read);
    read?;
    Ok((artefact, message))
}

/// Returns what the end of a worker means.
fn outcome(code: Option<i32>, signal: Option<i32>, artefact: Vec<u8>, message: &[u8]) -> Result<Vec<u8>, CompileError> {
    let message = || String::from_utf8_lossy(message).escape_debug().take(MESSAGE_CHARACTERS_MAX).collect::<String>();
    match code {
        Some(0) => Ok(artefact),
        Some(EXIT_REFUSED) => Err(Refusal::Uncompilable(message()).into()),
        Some(EXIT_BROKEN) => Err(CompileError::Worker(io::Error::other(message()))),
        // Ended from outside, not because of the component.
        None if signal.is_some_and(|signal| ENDED_BY_OTHERS.contains(&signal)) => {
            Err(CompileError::Worker(io::ErrorKind::Interrupted.into()))
        }
        // Killed by a limit, or aborted because memory ran out.
        Some(_) | None => Err(CompileError::Exhausted),
    }
}

/// Makes this program able to compile plugins and to start programs in a child process of itself. Call it as the first
/// line of `main`.
///
/// If the process was started as a compile worker, this compiles one plugin and ends the process. If it was started to
/// start the programs of a host, this does so until the host ends. Otherwise it returns immediately. Nothing may start
/// a thread or use the standard streams before it: a worker reads the plugin from stdin and writes the code to stdout.
///
/// ```
/// // The first line of `main`.
/// portcullis_sandbox::init();
/// ```
pub fn init() {
    let mut arguments = std::env::args_os().skip(1);
    let only = arguments.next().filter(|_| arguments.next().is_none());
    let work: Option<fn() -> i32> = match only {
        Some(word) if word == WORKER_ARGUMENT => Some(compile_worker),
        Some(word) if word == BROKER_ARGUMENT => Some(|| broker_main(compile_worker)),
        Some(_) | None => None,
    };
    if let Some(work) = work {
        #[expect(clippy::exit, reason = "a worker must not run the rest of its main")]
        process::exit(work());
    }
    own_program::remember();
}

/// Runs the compile worker: reads a component from stdin, writes code to stdout, and returns the exit code. It sets its
/// resource limits before it reads a byte. It also takes from itself the files, the network, other programs and other
/// processes: a fault of the compiler reaches nothing but its streams. The process must have one thread. [`init`] calls
/// it. Only a program that is used as [`Compiler::Program`] needs to call it itself.
pub fn compile_worker() -> i32 {
    match work() {
        Ok(()) => 0,
        Err((exit, message)) => {
            let _ = io::stderr().write_all(message.as_bytes());
            exit
        }
    }
}

/// Limits the process, and compiles. An error is an exit code and a message.
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
        setrlimit(resource, limit).map_err(|error| broken(format!("it cannot set its resource limits: {error}")))?;
    }
    // What follows parses hostile bytes.
    only_compute().map_err(|error| broken(format!("it cannot confine itself: {error}")))?;
    let mut component = Vec::new();
    let read = io::stdin().take(COMPONENT_BYTES_MAX + 1).read_to_end(&mut component);
    read.map_err(|error| broken(format!("it cannot read the component: {error}")))?;
    let artefact = compile(&component).map_err(|message| (EXIT_REFUSED, message))?;
    let mut output = io::stdout();
    let written = output.write_all(&artefact).and_then(|()| output.flush());
    written.map_err(|error| broken(format!("it cannot write the compiled code: {error}")))
}

// Without a compiler, no worker is started.
#[cfg(all(test, feature = "compiler"))]
mod tests {
    use super::*;

    /// This test program is such a program: its main is that of the test harness. Started as a worker, it finds no test
    /// of that name, prints a summary and succeeds.
    #[tokio::test]
    async fn a_program_whose_main_does_not_begin_with_init_returns_no_code() {
        own_program::remember();
        match Compiler::Worker.compile(b"\0asm").await {
            Err(CompileError::Worker(error)) => assert!(error.to_string().contains("not the first line"), "{error}"),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("the output of a test harness was taken for code"),
        }
    }
}
