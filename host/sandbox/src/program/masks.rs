//! Finds the places of a directory that are masked, because the operating system can mask only what exists.

use crate::directory::Directory;
use portcullis_confine::{Masked, MaskedPath};
use portcullis_policy::{Access, MaskTrail, Masks};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, accessat, openat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Maximum files and directories of a walk. A million takes about a second.
const ENTRIES_MAX: usize = 1_000_000;

/// Maximum masked places. Each is a mount, and one more for each directory above it.
const PLACES_MAX: usize = 2000;

/// Maximum depth of a walk. Each level holds an open directory.
const DEPTH_MAX: usize = 64;

/// Returns the masked places that exist in a directory.
pub(super) fn masked_places(directory: &Directory) -> io::Result<Vec<MaskedPath>> {
    let Some(masks) = directory.masks() else { return Ok(Vec::new()) };
    let writable = directory.access() == Access::ReadWrite;
    // In a read-only directory, a read-only mask adds nothing.
    if !writable && !masks.hide_something() {
        return Ok(Vec::new());
    }
    let mut walk = MaskWalk { masks, writable, entries: 0, found: Vec::new() };
    let root = reopen(directory.handle())?;
    walk.visit(&root, Path::new(""), &masks.start(), 0)?;
    Ok(walk.found)
}

/// Opens a directory again, because reading a directory moves the position of its handle.
fn reopen(directory: &File) -> io::Result<OwnedFd> {
    Ok(openat(directory, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

struct MaskWalk<'a> {
    masks: &'a Masks,
    writable: bool,
    entries: usize,
    found: Vec<MaskedPath>,
}

impl MaskWalk<'_> {
    fn visit(&mut self, directory: &OwnedFd, path: &Path, trail: &MaskTrail, depth: usize) -> io::Result<()> {
        for entry in Dir::read_from(directory)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                return Err(too_many("files to search for masked ones", ENTRIES_MAX));
            }
            let place = path.join(name);
            // A mask is a text. What is not UTF-8 in a name counts as U+FFFD, which only a wildcard matches. The place
            // keeps the name itself.
            let text = name.to_string_lossy();
            let step = self.masks.step(trail, &text);
            let is_directory = is_directory(directory, name, entry.file_type())?;
            let stands_in = !is_directory && self.masks.name_on_the_way(trail, &text);
            if step.is_hidden() {
                self.add(place, Masked::Hidden)?;
            } else if self.writable && (step.is_read_only() || stands_in) {
                self.add(place, Masked::ReadOnly)?;
            } else if is_directory && !step.is_clear() {
                self.enter(directory, (name, &place), &step, depth)?;
            }
        }
        Ok(())
    }

    fn enter(
        &mut self,
        directory: &OwnedFd,
        (name, place): (&OsStr, &PathBuf),
        trail: &MaskTrail,
        depth: usize,
    ) -> io::Result<()> {
        if depth >= DEPTH_MAX {
            return Err(io::Error::other(format!("{} is too deep to search for masked places", place.display())));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(directory.as_fd(), name, flags, Mode::empty()) {
            Ok(below) => self.visit(&below, place, trail, depth + 1),
            // It was removed or replaced meanwhile.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
            // Which masked places are in it is not known.
            Err(Errno::ACCESS) if can_enter(directory, name)? => self.add(place.clone(), self.widest()),
            // The program cannot reach anything in it either.
            Err(Errno::ACCESS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns how a directory is masked in which any place may be masked.
    fn widest(&self) -> Masked {
        if self.masks.hide_something() { Masked::Hidden } else { Masked::ReadOnly }
    }

    fn add(&mut self, path: PathBuf, masked: Masked) -> io::Result<()> {
        if self.found.len() >= PLACES_MAX {
            return Err(too_many("masked places", PLACES_MAX));
        }
        self.found.push(MaskedPath { path, masked });
        Ok(())
    }
}

/// Returns whether the entry of a directory is a directory itself, and no link to one. Some file systems list no types.
fn is_directory(around: &OwnedFd, name: &OsStr, listed: FileType) -> io::Result<bool> {
    if listed != FileType::Unknown {
        return Ok(listed == FileType::Directory);
    }
    match statat(around, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(FileType::from_raw_mode(found.st_mode) == FileType::Directory),
        // It was removed meanwhile.
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a program may reach what is in a directory that this user cannot list. It may know the names. If the
/// directory belongs to the user, it may also change the mode.
fn can_enter(around: &OwnedFd, name: &OsStr) -> io::Result<bool> {
    let is_own = match statat(around, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => found.st_uid == geteuid().as_raw(),
        Err(Errno::NOENT) => false,
        Err(error) => return Err(error.into()),
    };
    Ok(is_own || accessat(around, name, rustix::fs::Access::EXEC_OK, AtFlags::EACCESS).is_ok())
}

fn too_many(what: &str, most: usize) -> io::Error {
    io::Error::other(format!("the directory has more than {most} {what}: bind a smaller one, or read-only"))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests make the directories that they search")]
mod tests {
    use super::*;
    use portcullis_policy::Mask;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// A directory that is removed at the end of its test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(test: &str) -> Self {
            let path = std::env::temp_dir().join(format!("portcullis-masks-{test}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        /// Makes a file, and the directories above it.
        fn put(&self, path: &[u8]) {
            let place = self.0.join(OsStr::from_bytes(path));
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, "x").unwrap();
        }

        /// Returns the masked places, sorted by their paths.
        fn masked(&self, hidden: &[&str], read_only: &[&str]) -> Vec<(Vec<u8>, Masked)> {
            let masks = |texts: &[&str]| texts.iter().map(|text| Mask::new(text).unwrap()).collect();
            let directory = Directory::open(&self.0, Access::ReadWrite).unwrap();
            let found = masked_places(&directory.masked(Masks::new(masks(hidden), masks(read_only)))).unwrap();
            let bytes = |place: MaskedPath| (place.path.into_os_string().into_encoded_bytes(), place.masked);
            let mut found: Vec<_> = found.into_iter().map(bytes).collect();
            found.sort_by(|one, other| one.0.cmp(&other.0));
            found
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_place_is_masked_although_its_path_is_not_utf_8() {
        let scratch = Scratch::new("bytes");
        for path in [&b"d\xff/.env"[..], b"d\xff/.git/hooks/x", b".env\xff", b".env\xff\xfe/x", b"plain\xff"] {
            scratch.put(path);
        }
        let wanted: [(&[u8], Masked); 4] = [
            (b".env\xff", Masked::Hidden),
            (b".env\xff\xfe", Masked::Hidden),
            (b"d\xff/.env", Masked::Hidden),
            (b"d\xff/.git/hooks", Masked::ReadOnly),
        ];
        let wanted = wanted.map(|(path, masked)| (path.to_vec(), masked));
        assert_eq!(scratch.masked(&[".env*"], &["**/.git/hooks"]), wanted);
    }
    #[test]
    fn the_type_of_an_entry_is_found_although_the_file_system_does_not_list_it() {
        let scratch = Scratch::new("types");
        scratch.put(b"directory/file");
        std::os::unix::fs::symlink("directory", scratch.0.join("link")).unwrap();
        let around = OwnedFd::from(File::open(&scratch.0).unwrap());
        for (name, expected) in [("directory", true), ("link", false), ("directory/file", false), ("gone", false)] {
            assert_eq!(is_directory(&around, name.as_ref(), FileType::Unknown).unwrap(), expected, "{name}");
        }
        assert!(is_directory(&around, "directory".as_ref(), FileType::Directory).unwrap());
        assert!(!is_directory(&around, "link".as_ref(), FileType::Symlink).unwrap());
    }
    /// Root lists every directory, so the search runs as another user.
    #[test]
    fn a_directory_that_cannot_be_listed_is_masked_whole_if_a_program_could_enter_it() {
        const USER: u32 = 65534;
        let scratch = Scratch::new("modes");
        let modes = [("own", 0o000), ("own-open", 0o700), ("known-names", 0o711), ("closed", 0o700)];
        for (name, mode) in modes {
            scratch.put(format!("{name}/.env").as_bytes());
            fs::set_permissions(scratch.0.join(name), PermissionsExt::from_mode(mode)).unwrap();
        }
        let is_root = geteuid().is_root();
        if is_root {
            for name in ["own", "own-open"] {
                std::os::unix::fs::chown(scratch.0.join(name), Some(USER), None).unwrap();
            }
        }
        let search = || {
            if is_root {
                let user = rustix::process::Uid::from_raw(USER);
                // Only of this thread.
                rustix::thread::set_thread_res_uid(user, user, user).unwrap();
            }
            (scratch.masked(&[".env"], &[]), scratch.masked(&[], &[".env"]))
        };
        let (hidden, read_only) = std::thread::scope(|scope| scope.spawn(search).join().unwrap());
        fs::set_permissions(scratch.0.join("own"), PermissionsExt::from_mode(0o700)).unwrap();
        // For a user other than root, all of them are the user's own, and can be listed but for one.
        let wanted = |masked| {
            let places = if is_root {
                ["known-names", "own", "own-open/.env"].as_slice()
            } else {
                &["closed/.env", "known-names/.env", "own", "own-open/.env"]
            };
            places.iter().map(|path| (path.as_bytes().to_vec(), masked)).collect::<Vec<_>>()
        };
        assert_eq!(hidden, wanted(Masked::Hidden));
        assert_eq!(read_only, wanted(Masked::ReadOnly));
    }
}
