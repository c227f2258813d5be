//! The file system view of a program: a read-only system, its directories, and a private `/tmp`.
//!
//! The view is a new file system in memory. The machine's own tree is below [`MACHINE`] until the view is furnished.
//! Then it is gone.

use super::system::{outer_user, set_mount_attributes};
use crate::confinement::{Masked, MaskedPath, ViewAccess, ViewDirectory};
use crate::message::StartRequest;
use crate::program::same_file;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags, fstat, mkdirat, open, openat, openat2, readlinkat,
    statx, symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change, mount_remount, unmount,
};
use rustix::process::{chdir, pivot_root};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Where the machine's own tree is while the view is built.
const MACHINE: &str = "/.machine";

/// The directories of the system. Where the machine has a link, so has the view.
const SYSTEM: &[&str] = &["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix"];

/// The files and directories of `/etc` that programs need: the linker, certificates, names of users and time zones.
/// None holds a secret: private keys are beside the certificates, so only those are named. A small file is copied.
const SETTINGS: &[&str] = &[
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "ssl/certs",
    "ssl/cert.pem",
    "ssl/ca-bundle.pem",
    "ssl/openssl.cnf",
    "ca-certificates",
    "pki/ca-trust",
    "pki/tls/certs",
    "pki/tls/cert.pem",
    "pki/tls/openssl.cnf",
    "localtime",
    "timezone",
    "protocols",
    "services",
    "mime.types",
    "debian_version",
    "os-release",
    "java-17-openjdk",
    "python3",
    "python3.11",
];

/// The devices of the view.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];

/// Files of `/proc` that describe or control the machine. They are empty in the view.
const HIDDEN_PROC_FILES: &[&str] = &["kcore", "keys", "key-users", "timer_list", "kallsyms", "sysrq-trigger", "kmsg"];

/// Maximum bytes of a copied file. A larger one is mounted.
const COPIED_BYTES_MAX: u64 = 16 * 1024;

/// Bytes for the names and small files of the view itself.
const ROOT_OPTIONS: &std::ffi::CStr = c"mode=0755,size=4m";

/// What a mount of the view never has.
const PLAIN: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// `MOUNT_ATTR_RDONLY`, `MOUNT_ATTR_NOSUID` and `MOUNT_ATTR_NODEV` of mount_setattr(2).
const READ_ONLY: u64 = 1;
const NO_SETUID: u64 = 2;
const NO_DEVICES: u64 = 4;

/// What hides a masked file and a masked directory: no user can read them, and they cannot be changed.
const HIDDEN_FILE: &str = "/.hidden-file";
const HIDDEN_DIRECTORY: &str = "/.hidden-directory";

/// Builds what is the same for every program, in the mount namespace of this process.
pub(super) fn prepare() -> io::Result<()> {
    // These mounts are slaves of the machine's, mount_namespaces(7). What the machine mounts later would appear in the
    // view.
    told("/", mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC))?;
    // The mount point does not matter: the mount moves to the root, and no longer covers it.
    let flags = PLAIN;
    told("the view", mount("portcullis", "/tmp", "tmpfs", flags, ROOT_OPTIONS))?;
    chdir("/tmp")?;
    make_directory(Path::new("/tmp/.machine"))?;
    told("the root", pivot_root(".", ".machine"))?;
    chdir("/")?;
    for name in SYSTEM {
        mirror(&format!("{MACHINE}/{name}"), &format!("/{name}"))?;
    }
    make_directory(Path::new("/etc"))?;
    for name in SETTINGS {
        mirror(&format!("{MACHINE}/etc/{name}"), &format!("/etc/{name}"))?;
    }
    write_users()?;
    make_devices()?;
    mount_processes()?;
    for directory in ["/tmp", "/var", "/run", "/home", "/root"] {
        make_directory(Path::new(directory))?;
    }
    symlinkat("/tmp", CWD, "/var/tmp")?;
    // So that the size of `/tmp` limits shared memory, too.
    symlinkat("/tmp", CWD, "/dev/shm")?;
    put_file(Path::new(HIDDEN_FILE), b"", 0)?;
    make_directory(Path::new(HIDDEN_DIRECTORY))?;
    rustix::fs::chmod(HIDDEN_DIRECTORY, Mode::empty())?;
    Ok(())
}

/// Adds what a confinement names, and takes the machine's tree away.
pub(super) fn furnish(request: &StartRequest, program: BorrowedFd<'_>, directories: &[OwnedFd]) -> io::Result<()> {
    let confinement = &request.confinement;
    let options = format!("mode=1777,size={}", confinement.limits.temporary_bytes);
    told("/tmp", mount("portcullis", "/tmp", "tmpfs", PLAIN, CString::new(options)?.as_c_str()))?;
    let mut placed: Vec<(&ViewDirectory, &OwnedFd)> = confinement.directories.iter().zip(directories).collect();
    // A directory above another one comes first, so that it does not cover it.
    placed.sort_by_key(|(directory, _)| directory.path.components().count());
    for (directory, granted) in &placed {
        put_directory(directory, granted).map_err(|error| about(&directory.path, &error))?;
    }
    // After all directories, because one that is mounted later would cover a mask in the one above it.
    for (directory, _) in &placed {
        for masked in &directory.masked {
            mask(directory, masked).map_err(|error| about(&directory.path.join(&masked.path), &error))?;
        }
    }
    put_program(request, program)?;
    for directory in &confinement.directories {
        put_link(directory);
    }
    // The tree has mounts of its own, so it is busy. Only a detached unmount removes it whole.
    told("the machine", unmount(MACHINE, UnmountFlags::DETACH))?;
    rustix::fs::rmdir(MACHINE)?;
    told("the view", mount_remount("/", MountFlags::BIND | MountFlags::RDONLY | PLAIN, ""))
}

fn about(place: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", place.display()))
}

fn told(place: &str, done: Result<(), Errno>) -> io::Result<()> {
    done.map_err(|error| about(Path::new(place), &error.into()))
}

fn attributes(place: &Path, attributes: u64) -> io::Result<()> {
    set_mount_attributes(&CString::new(place.as_os_str().as_bytes())?, attributes)
}

/// Makes a directory and those above it.
fn make_directory(place: &Path) -> io::Result<()> {
    let mut above = PathBuf::new();
    for part in place.components() {
        above.push(part);
        match mkdirat(CWD, &above, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            // A directory of the system, which is read-only and exists.
            Err(Errno::ROFS) if rustix::fs::stat(&above).is_ok() => {}
            Err(error) => return Err(about(&above, &error.into())),
        }
    }
    Ok(())
}

fn put_file(place: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::EXCL;
    let file = open(place, flags, Mode::from_raw_mode(mode))?;
    File::from(file).write_all(content)
}

/// Puts a file, a link or a directory of the machine into the view, read-only. Does nothing if the machine has none.
fn mirror(source: &str, target: &str) -> io::Result<()> {
    let found = match statx(CWD, source, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS) {
        Ok(found) => found,
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(about(Path::new(source), &error.into())),
    };
    if let Some(above) = Path::new(target).parent() {
        make_directory(above)?;
    }
    match FileType::from_raw_mode(found.stx_mode.into()) {
        FileType::Symlink => {
            let leads = readlinkat(CWD, source, Vec::new())?;
            Ok(symlinkat(leads, CWD, target)?)
        }
        FileType::Directory => {
            make_directory(Path::new(target))?;
            told(target, mount_bind_recursive(source, target))?;
            attributes(Path::new(target), READ_ONLY | NO_SETUID | NO_DEVICES)
                .map_err(|error| about(Path::new(target), &error))
        }
        FileType::RegularFile if found.stx_size <= COPIED_BYTES_MAX => {
            let mut content = Vec::new();
            let file = File::from(open(source, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?);
            file.take(COPIED_BYTES_MAX).read_to_end(&mut content)?;
            put_file(Path::new(target), &content, 0o644)
        }
        FileType::RegularFile => bind_file(Path::new(source), Path::new(target)),
        _ => Ok(()),
    }
}

/// Mounts a file of the machine, read-only.
fn bind_file(source: &Path, target: &Path) -> io::Result<()> {
    put_file(target, b"", 0o644)?;
    mount_bind_recursive(source, target).map_err(|error| about(target, &error.into()))?;
    attributes(target, READ_ONLY | NO_SETUID | NO_DEVICES)
}

/// Writes the names of the only two users that files of the view can have.
fn write_users() -> io::Result<()> {
    let (user, group) = outer_user();
    let name = if user == 0 { "root" } else { "user" };
    let users = format!(
        "{name}:x:{user}:{group}:{name}:/tmp:/bin/sh\nunmapped:x:65534:65534:unmapped:/nonexistent:/usr/sbin/nologin\n"
    );
    put_file(Path::new("/etc/passwd"), users.as_bytes(), 0o644)?;
    put_file(Path::new("/etc/group"), format!("{name}:x:{group}:\nunmapped:x:65534:\n").as_bytes(), 0o644)?;
    put_file(Path::new("/etc/hosts"), b"127.0.0.1 localhost\n::1 localhost\n", 0o644)?;
    put_file(Path::new("/etc/nsswitch.conf"), b"passwd: files\ngroup: files\nhosts: files\n", 0o644)
}

fn make_devices() -> io::Result<()> {
    make_directory(Path::new("/dev"))?;
    for name in DEVICES {
        let (source, target) = (format!("{MACHINE}/dev/{name}"), format!("/dev/{name}"));
        put_file(Path::new(&target), b"", 0o666)?;
        told(&target, mount_bind_recursive(source, &target))?;
    }
    let links =
        [("/proc/self/fd", "/dev/fd"), ("fd/0", "/dev/stdin"), ("fd/1", "/dev/stdout"), ("fd/2", "/dev/stderr")];
    for (leads, place) in links {
        symlinkat(leads, CWD, place)?;
    }
    Ok(())
}

/// Mounts `/proc` of this process namespace. It is read-only, because user 0 could change settings of the machine
/// through it without any capability.
fn mount_processes() -> io::Result<()> {
    make_directory(Path::new("/proc"))?;
    told("/proc", mount("proc", "/proc", "proc", PLAIN | MountFlags::NOEXEC, c""))?;
    for name in HIDDEN_PROC_FILES {
        let place = format!("/proc/{name}");
        match mount_bind_recursive("/dev/null", &place) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(about(Path::new(&place), &error.into())),
        }
    }
    attributes(Path::new("/proc"), READ_ONLY | NO_SETUID)
}

/// Mounts a directory of the machine at its own path.
fn put_directory(directory: &ViewDirectory, granted: &OwnedFd) -> io::Result<()> {
    let place = &directory.path;
    let reserved = ["/", "/proc", "/dev", "/sys", MACHINE];
    if reserved.iter().any(|name| place == Path::new(name)) || place.starts_with("/proc") || place.starts_with("/dev") {
        return Err(io::Error::other("a program cannot be given this directory: the view has its own"));
    }
    let machine = open(MACHINE, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let below: PathBuf = place.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // The path has no links, so a link means that somebody changes it at this moment.
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    let found = openat2(&machine, &below, flags, Mode::empty(), resolve)?;
    same_file(&found, granted)?;
    make_directory(place)?;
    // Mounted by the descriptor that was compared, because the path may lead elsewhere by now.
    let source = format!("/proc/self/fd/{}", found.as_fd().as_raw_fd());
    mount_bind_recursive(source, place)?;
    let read_only = match directory.access {
        ViewAccess::ReadOnly => READ_ONLY,
        ViewAccess::ReadWrite => 0,
    };
    attributes(place, read_only | NO_SETUID | NO_DEVICES)
}

/// Mounts over a masked place. The directories above it become mounts too, because a mount cannot be renamed: otherwise
/// the program could rename `.git`, and make another one without the mask.
fn mask(directory: &ViewDirectory, masked: &MaskedPath) -> io::Result<()> {
    let root = open(&directory.path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let open_in_view = |path: &Path| {
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        openat2(&root, path, flags, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)
    };
    if directory.access == ViewAccess::ReadWrite {
        let above = masked.path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
        for path in above.collect::<Vec<_>>().into_iter().rev() {
            pin(&directory.path.join(path), &open_in_view(path)?)?;
        }
    }
    let found = match open_in_view(&masked.path) {
        Ok(found) => found,
        // It was removed since the caller found it.
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::LOOP) => return Err(link_refused()),
        Err(error) => return Err(error.into()),
    };
    let kind = FileType::from_raw_mode(fstat(&found)?.st_mode);
    let target = format!("/proc/self/fd/{}", found.as_raw_fd());
    let place = directory.path.join(&masked.path);
    match (masked.masked, kind) {
        (_, FileType::Symlink) => return Err(link_refused()),
        (Masked::Hidden, FileType::Directory) => mount_bind_recursive(HIDDEN_DIRECTORY, &target)?,
        (Masked::Hidden, _) => mount_bind_recursive(HIDDEN_FILE, &target)?,
        (Masked::ReadOnly, _) => mount_bind_recursive(&target, &target)?,
    }
    // By path, because the descriptor still leads to what the new mount covers.
    attributes(&place, READ_ONLY | NO_SETUID | NO_DEVICES)
}

/// Makes a directory a mount of its own, unless it is one.
fn pin(place: &Path, found: &OwnedFd) -> io::Result<()> {
    let mount_of = |file: BorrowedFd<'_>| -> io::Result<u64> {
        Ok(statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?.stx_mnt_id)
    };
    let parent = openat(found, "..", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    if mount_of(found.as_fd())? != mount_of(parent.as_fd())? {
        return Ok(());
    }
    let target = format!("/proc/self/fd/{}", found.as_raw_fd());
    mount_bind_recursive(&target, &target).map_err(|error| about(place, &error.into()))
}

fn link_refused() -> io::Error {
    io::Error::other("it is a symbolic link, which a mask cannot protect: replace it by a file, or lift the mask")
}

/// Mounts the program itself if it is in no directory of the view.
fn put_program(request: &StartRequest, program: BorrowedFd<'_>) -> io::Result<()> {
    let place = &request.path;
    let is_there = open(place, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty());
    if is_there.is_ok_and(|found| same_file(found, program).is_ok()) {
        return Ok(());
    }
    let source = Path::new(MACHINE).join(place.strip_prefix("/").unwrap_or(place));
    let found = open(&source, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
        .map_err(|error| about(place, &error.into()))?;
    same_file(&found, program).map_err(|error| about(place, &error))?;
    if let Some(above) = place.parent() {
        make_directory(above)?;
    }
    bind_file(&source, place).map_err(|error| about(place, &error))
}

/// Adds the link of a directory, unless something has its name.
fn put_link(directory: &ViewDirectory) {
    if let Some(name) = &directory.link
        && !name.contains('/')
    {
        // What has the name stays.
        let _ = symlinkat(&directory.path, CWD, format!("/{name}"));
    }
}
