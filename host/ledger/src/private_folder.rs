//! Folders for the host's own user.

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt};
use std::io;

/// Opens a folder of a directory. Creates it if it does not exist, so that only the user of this process can use it.
pub(crate) fn open(parent: &Dir, name: &str) -> io::Result<Dir> {
    let mut builder = DirBuilder::new();
    // Without a mode, the umask decides, and some systems let the user's group write.
    builder.mode(0o700);
    match parent.create_dir_with(name, &builder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    parent.open_dir_nofollow(name)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own directory")]
mod tests {
    use super::*;
    use crate::state_directory::{HostDirectories, StatePlace};
    use rustix::fs::Mode;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// Some systems give their users this umask.
    #[test]
    fn a_new_state_directory_is_private_if_the_umask_lets_a_group_write() {
        let path = std::env::temp_dir().join(format!("portcullis-umask-{}", std::process::id()));
        let before = rustix::process::umask(Mode::from_raw_mode(0o002));
        let opened = HostDirectories::open(&StatePlace::from(&path));
        rustix::process::umask(before);
        let opened = opened.unwrap();
        for name in ["cache", "other"] {
            open(&opened.directory, name).unwrap();
            assert_eq!(fs::metadata(path.join(name)).unwrap().permissions().mode() & 0o777, 0o700, "{name}");
        }
        fs::remove_dir_all(&path).unwrap();
    }
}
