//! Runs the program that prints a secret, and kills everything that it started.
//!
//! The program leads its own process group. When it has ended, failed or timed out, the host kills the rest of that
//! group. It does not kill a process that leaves the group, as a daemon does with `setsid`.

use super::secret_error::SecretError;
use crate::base::PathBase;
use crate::process_group::ProcessGroup;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStdout};
use tokio::time::{sleep, timeout};
use zeroize::Zeroizing;

/// Maximum time of a program that prints a secret. It may ask a keyring, but not a person.
const COMMAND_TIME: Duration = Duration::from_secs(10);
/// How long the host keeps reading after the program has ended, while a process that it started keeps the pipe open.
/// The program's own output is in the pipe by then. The grace is for the last stage of a pipeline.
const READ_GRACE: Duration = Duration::from_millis(200);

/// Runs a program without a shell, in the directory of `base`, and returns at most `bytes_max` bytes that it printed.
///
/// # Errors
/// The program does not start, fails, takes too long, or prints more.
pub(super) async fn output(
    words: &[String],
    base: &PathBase,
    bytes_max: usize,
) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    within(COMMAND_TIME, run(words, base, bytes_max)).await
}

async fn within<T>(time: Duration, run: impl Future<Output = Result<T, SecretError>>) -> Result<T, SecretError> {
    timeout(time, run).await.unwrap_or(Err(SecretError::Slow))
}

async fn run(words: &[String], base: &PathBase, bytes_max: usize) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    let mut child = start(words, base)?;
    // Declared after the child, so that the group is killed before the child is dropped and its process number can be
    // reused.
    let group = ProcessGroup::of(&child).map_err(|_| SecretError::Command)?;
    let pipe = child.stdout.take().ok_or(SecretError::Command)?;
    let printed = read(pipe, &group, bytes_max).await?;
    group.leader_ended().await.map_err(|_| SecretError::Command)?;
    drop(group);
    let status = child.wait().await.map_err(|_| SecretError::Command)?;
    if status.success() { Ok(printed) } else { Err(SecretError::Command) }
}

#[expect(clippy::disallowed_methods, reason = "the policy names the program that prints a secret")]
fn start(words: &[String], base: &PathBase) -> Result<Child, SecretError> {
    let (program, arguments) = words.split_first().ok_or(SecretError::Command)?;
    let mut command = tokio::process::Command::new(base.program(program));
    command.args(arguments).current_dir(base.path()).process_group(0).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().map_err(|_| SecretError::Command)
}

/// Reads until the pipe is closed, or until [`READ_GRACE`] after the program has ended.
async fn read(
    mut pipe: ChildStdout,
    group: &ProcessGroup,
    bytes_max: usize,
) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    // Allocate the full capacity, because a growing buffer would leave a copy of the secret behind.
    let mut printed = Zeroizing::new(Vec::with_capacity(bytes_max + 1));
    let over = async {
        let ended = group.leader_ended().await;
        sleep(READ_GRACE).await;
        ended
    };
    tokio::pin!(over);
    loop {
        let room = (bytes_max + 1 - printed.len()) as u64;
        let mut rest = (&mut pipe).take(room);
        tokio::select! {
            // What is in the pipe is read before the end of the program counts.
            biased;
            read = rest.read_buf(&mut *printed) => match read.map_err(|_| SecretError::Command)? {
                // A read of zero bytes is the end, or there is no room left.
                0 if printed.len() > bytes_max => return Err(SecretError::Long),
                0 => return Ok(printed),
                _ => {}
            },
            ended = &mut over => {
                ended.map_err(|_| SecretError::Command)?;
                return Ok(printed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};

    const BYTES_MAX: usize = 64 * 1024;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn root() -> PathBase {
        PathBase::from(PathBuf::from("/"))
    }

    async fn shell(script: &str) -> Result<Zeroizing<Vec<u8>>, SecretError> {
        output(&words(&["sh", "-c", script]), &root(), BYTES_MAX).await
    }

    /// A pipe that a script opens as its descriptor 3. Its reader sees the end once no process holds it any longer.
    struct Witness {
        sender: tokio::net::unix::pipe::Sender,
        reader: tokio::net::unix::pipe::Receiver,
    }

    impl Witness {
        fn new() -> Self {
            let (sender, reader) = tokio::net::unix::pipe::pipe().unwrap();
            Self { sender, reader }
        }

        /// Returns the start of a script that opens the pipe.
        fn opened(&self) -> String {
            let (process, descriptor) = (std::process::id(), self.sender.as_raw_fd());
            format!("exec 3>/proc/{process}/fd/{descriptor}; echo up >&3; ")
        }

        /// Waits until every process of the script is gone. One that lives on would hold the pipe for 10 minutes.
        async fn assert_all_gone(mut self) {
            drop(self.sender);
            let gone = timeout(COMMAND_TIME, self.reader.read_to_end(&mut Vec::new())).await;
            gone.expect("a process of the script is left").unwrap();
        }
    }

    #[tokio::test]
    async fn a_program_is_run_without_a_shell_and_believed_only_when_it_succeeds() {
        // `~` is the home directory only in the name of the program.
        let base = root().with_home(Some(Path::new("/bin")));
        let run = async |line: &[&str]| output(&words(line), &base, BYTES_MAX).await;
        assert_eq!(&**run(&["~/echo", "~"]).await.unwrap(), b"~\n");
        assert_eq!(output(&words(&["~/echo"]), &root(), BYTES_MAX).await, Err(SecretError::Command));
        assert_eq!(&**run(&["echo", "$HOME;", "id"]).await.unwrap(), b"$HOME; id\n");
        assert_eq!(run(&["false"]).await, Err(SecretError::Command));
        assert_eq!(run(&["/nowhere/at/all"]).await, Err(SecretError::Command));
        assert_eq!(run(&["yes"]).await, Err(SecretError::Long));
        assert_eq!(run(&[]).await, Err(SecretError::Command));
        assert_eq!(&**shell("exec 1>&-; sleep 0.05; exit 0").await.unwrap(), b"");
        assert_eq!(shell("echo tok-8c1f0a5e; exec 1>&-; sleep 0.05; exit 3").await, Err(SecretError::Command));
    }

    #[tokio::test]
    async fn a_grandchild_that_keeps_the_output_open_does_not_fail_the_program_and_is_killed() {
        let witness = Witness::new();
        let script = witness.opened() + "sleep 600 & echo tok-8c1f0a5e";
        assert_eq!(&**shell(&script).await.unwrap(), b"tok-8c1f0a5e\n");
        witness.assert_all_gone().await;
    }

    #[tokio::test]
    async fn a_program_that_takes_too_long_is_killed_with_its_children() {
        let witness = Witness::new();
        let words = words(&["sh", "-c", &(witness.opened() + "sleep 600 & sleep 600")]);
        let ended = within(Duration::from_secs(1), run(&words, &root(), BYTES_MAX)).await;
        assert_eq!(ended, Err(SecretError::Slow));
        witness.assert_all_gone().await;
    }

    #[tokio::test]
    async fn a_program_that_prints_too_much_is_killed_with_its_children() {
        let witness = Witness::new();
        let script = witness.opened() + "sleep 600 & yes";
        assert_eq!(shell(&script).await, Err(SecretError::Long));
        witness.assert_all_gone().await;
    }

    #[tokio::test]
    async fn a_caller_that_stops_waiting_leaves_no_process_behind() {
        let mut witness = Witness::new();
        let script = witness.opened() + "sleep 600 & sleep 600";
        let mut up = [0; 3];
        tokio::select! {
            _ = shell(&script) => panic!("the program runs for 10 minutes"),
            read = witness.reader.read_exact(&mut up) => drop(read.unwrap()),
        }
        witness.assert_all_gone().await;
    }

    #[tokio::test]
    async fn a_pipeline_is_read_to_its_end() {
        assert_eq!(&**shell("echo tok-8c1f0a5e | tr a-z A-Z").await.unwrap(), b"TOK-8C1F0A5E\n");
    }
}
