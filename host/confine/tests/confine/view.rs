//! What a program sees and what it can change.

use crate::lab::{Lab, kernel_allows, tiers};
use portcullis_confine::{ConfineError, Masked, MaskedPath, ProgramExit, Tier, ViewAccess, path_of};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

#[tokio::test]
async fn a_program_reads_and_writes_its_directory() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        lab.put("a.txt", "hello\n");
        let outcome = lab.run("cat a.txt; echo more > b.txt; pwd; echo done").await;
        assert_eq!(outcome.report.exit, ProgramExit::Code(0), "{outcome:?}");
        assert_eq!(outcome.text, format!("hello\n{}\ndone\n", lab.workspace.path().display()));
        assert_eq!(std::fs::read_to_string(lab.file("b.txt")).unwrap(), "more\n");
    }
}

#[tokio::test]
async fn a_read_only_directory_cannot_be_changed_in_any_way() {
    for tier in tiers() {
        let mut lab = Lab::new(tier);
        lab.access = ViewAccess::ReadOnly;
        lab.put("a.txt", "hello\n");
        lab.put("dir/b.txt", "hello\n");
        std::fs::create_dir(lab.file("empty")).unwrap();
        for command in [
            "echo x > a.txt",
            "echo x > new",
            "rm a.txt",
            "mv a.txt b.txt",
            "mkdir d",
            "ln a.txt b",
            "ln -s a.txt b",
            "mkfifo pipe",
            "rmdir empty",
            "truncate -s 0 a.txt",
            "python3 -c 'import os; os.truncate(\"a.txt\", 0)'",
            "mv dir dir2",
            "cp a.txt dir/c.txt",
        ] {
            let outcome = lab.run(command).await;
            assert_ne!(outcome.report.exit, ProgramExit::Code(0), "{tier}: {command}: {outcome:?}");
        }
        let outcome = lab.run("cat a.txt && ls").await;
        assert_eq!(outcome.text, "hello\na.txt\ndir\nempty\n", "{tier}");
    }
}

/// Each command tries to read or to write something of the machine that the program was not given.
#[tokio::test]
async fn nothing_outside_the_view_can_be_read_or_written() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        let secret = lab.workspace.path().with_extension("secret");
        std::fs::write(&secret, "the secret\n").unwrap();
        symlink(&secret, lab.file("link")).unwrap();
        let (own, place) = (std::process::id(), secret.display().to_string());
        for command in [
            format!("cat {place}"),
            "cat link".to_owned(),
            format!("cat /proc/1/root{place}"),
            format!("cat /proc/self/root{place}"),
            format!("cat /proc/{own}/environ"),
            format!("cat /proc/{own}/cmdline | grep ."),
            format!("ls /proc/{own}/fd"),
            "cat /proc/1/environ".to_owned(),
            "cat /proc/1/mem".to_owned(),
            "readlink /proc/1/fd/0".to_owned(),
            "cat /proc/1/fd/0".to_owned(),
            "ls -l /proc/1/exe | grep -e '->'".to_owned(),
            "ls -A \"$(dirname \"$PWD\")\" | grep secret".to_owned(),
            "ls /root/.ssh /home/*".to_owned(),
            "cat /etc/shadow".to_owned(),
            "ls /sys/kernel".to_owned(),
            "ls /.machine".to_owned(),
            "ls /dev/sda /dev/vda /dev/mem /dev/kmsg /dev/tty".to_owned(),
            "head -c 1 /proc/kcore | grep .".to_owned(),
            "echo x > /usr/bin/portcullis-test".to_owned(),
            "echo x > /etc/passwd".to_owned(),
            "echo x > /portcullis-test".to_owned(),
            "echo x > /proc/sys/kernel/core_pattern".to_owned(),
            "echo x > /proc/sysrq-trigger".to_owned(),
            "mount -t tmpfs x /tmp".to_owned(),
            "unshare -Ur true".to_owned(),
            "unshare -m true".to_owned(),
            "chroot . true".to_owned(),
            "mknod device b 8 0".to_owned(),
        ] {
            let outcome = lab.run(&format!("{{ {command}; }} 2>/dev/null")).await;
            assert_ne!(outcome.report.exit, ProgramExit::Code(0), "{tier}: {command}: {outcome:?}");
            assert!(!outcome.text.contains("the secret"), "{tier}: {command}: {outcome:?}");
        }
        std::fs::remove_file(secret).unwrap();
    }
}

#[tokio::test]
async fn nothing_is_inherited_but_the_streams() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        let outcome = lab.run("env -0 | tr '\\0' '\\n' | cut -d= -f1 | sort | tr '\\n' ' '").await;
        let names: Vec<&str> = outcome.text.split_whitespace().filter(|name| *name != "_").collect();
        assert_eq!(names, ["HOME", "LANG", "PATH", "PWD", "SHLVL", "TMPDIR"], "{tier}: {outcome:?}");
        if tier == Tier::Namespaces {
            let outcome = lab.run("exec 9</dev/null; exec 9<&-; ls /proc/self/fd | tr '\\n' ' '").await;
            assert_eq!(outcome.text, "0 1 2 3 ", "the last is of ls itself");
            let outcome =
                lab.run("grep -E '^(CapEff|CapPrm|CapBnd|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status").await;
            let zero = "0000000000000000";
            assert_eq!(
                outcome.text,
                format!(
                    "CapPrm:\t{zero}\nCapEff:\t{zero}\nCapBnd:\t{zero}\nCapAmb:\t{zero}\nNoNewPrivs:\t1\nSeccomp:\t2\n"
                )
            );
        }
    }
}

#[tokio::test]
async fn a_program_has_a_private_directory_for_its_files_of_limited_size() {
    for tier in tiers() {
        let mut lab = Lab::new(tier);
        lab.limits.temporary_bytes = 1024 * 1024;
        let outcome = lab.run("echo x > $TMPDIR/a && cat $TMPDIR/a && cd && pwd >/dev/null && echo ok").await;
        assert_eq!(outcome.text, "x\nok\n", "{tier}: {outcome:?}");
        let outcome = lab.run("test -e $TMPDIR/a || echo gone").await;
        assert_eq!(outcome.text, "gone\n", "{tier}: what another run left must be gone");
        if tier == Tier::Namespaces {
            let outcome = lab.run("head -c 2000000 /dev/zero > /tmp/a").await;
            assert_ne!(outcome.report.exit, ProgramExit::Code(0), "{outcome:?}");
            let outcome = lab.run("echo x > /dev/shm/a && echo y > /var/tmp/b && cat /tmp/a /tmp/b").await;
            assert_eq!(outcome.text, "x\ny\n");
        }
    }
}

fn masked(path: &str, masked: Masked) -> MaskedPath {
    MaskedPath { path: PathBuf::from(path), masked }
}

#[tokio::test]
async fn masked_places_cannot_be_read_changed_or_replaced() {
    if !kernel_allows(Tier::Namespaces) {
        return;
    }
    let mut lab = Lab::new(Tier::Namespaces);
    lab.put(".git/hooks/pre-commit", "old\n");
    lab.put(".git/config", "old\n");
    lab.put("app/.env", "secret\n");
    lab.put("keys/id", "secret\n");
    lab.masked = vec![
        masked(".git/hooks", Masked::ReadOnly),
        masked(".git/config", Masked::ReadOnly),
        masked("app/.env", Masked::Hidden),
        masked("keys", Masked::Hidden),
    ];
    for command in [
        "echo new > .git/config",
        "rm -f .git/config",
        "mv x .git/config",
        "rm -rf .git",
        "mv .git .git2",
        "mv .git/hooks .git/hooks2",
        "echo new > .git/hooks/pre-commit",
        "echo new > .git/hooks/post-commit",
        "ln .git/config c && echo new > c",
        "chmod 777 .git/config",
        "cat app/.env | grep .",
        "chmod 777 app/.env && cat app/.env",
        "mv app app2 && cat app2/.env",
        "rm -rf app",
        "ls keys | grep .",
        "cat keys/id",
        "chmod 777 keys && ls keys",
        "rmdir keys",
        "umount keys",
        "mv keys k2",
    ] {
        lab.put("x", "x\n");
        let outcome = lab.run(&format!("{{ {command}; }} 2>/dev/null")).await;
        assert_ne!(outcome.report.exit, ProgramExit::Code(0), "{command}: {outcome:?}");
    }
    let read = |name: &str| std::fs::read_to_string(lab.file(name)).unwrap();
    assert_eq!((read(".git/config"), read(".git/hooks/pre-commit")), ("old\n".to_owned(), "old\n".to_owned()));
    assert!(!lab.file(".git/hooks/post-commit").exists());
    let outcome =
        lab.run("cat .git/config && echo x > .git/other && rm .git/other && echo y > app/new && echo ok").await;
    assert_eq!(outcome.text, "old\nok\n", "{outcome:?}");
}

/// A repository may have such names, from an archive or from another system.
#[tokio::test]
async fn a_masked_place_may_have_a_path_that_is_not_utf_8() {
    if !kernel_allows(Tier::Namespaces) {
        return;
    }
    let mut lab = Lab::new(Tier::Namespaces);
    let directory = OsStr::from_bytes(b"d\xff");
    std::fs::create_dir(lab.workspace.path().join(directory)).unwrap();
    for (name, content) in [(&b"a\xff"[..], "secret\n"), (b"b", "old\n")] {
        std::fs::write(lab.workspace.path().join(directory).join(OsStr::from_bytes(name)), content).unwrap();
    }
    let place = |name: &[u8], masked| MaskedPath { path: Path::new(directory).join(OsStr::from_bytes(name)), masked };
    lab.masked = vec![place(b"a\xff", Masked::Hidden), place(b"b", Masked::ReadOnly)];
    let outcome =
        lab.run("cd d*; cat a* 2>/dev/null; echo new 2>/dev/null > b; mv ../d* ../e 2>/dev/null; cat b").await;
    assert_eq!(outcome.text, "old\n", "{outcome:?}");
}

#[tokio::test]
async fn a_mask_over_a_link_refuses_the_start() {
    if !kernel_allows(Tier::Namespaces) {
        return;
    }
    let mut lab = Lab::new(Tier::Namespaces);
    symlink("elsewhere", lab.file(".env")).unwrap();
    lab.masked = vec![masked(".env", Masked::Hidden)];
    let refused = lab.start("true").await.unwrap_err();
    assert!(matches!(&refused, ConfineError::Refused(why) if why.contains("symbolic link")), "{refused}");
}

#[tokio::test]
async fn a_mask_below_a_link_refuses_the_start() {
    if !kernel_allows(Tier::Namespaces) {
        return;
    }
    let mut lab = Lab::new(Tier::Namespaces);
    lab.access = ViewAccess::ReadOnly;
    lab.put("elsewhere/.env", "secret\n");
    symlink("elsewhere", lab.file("app")).unwrap();
    lab.masked = vec![masked("app/.env", Masked::Hidden)];
    let refused = lab.start("true").await.unwrap_err();
    assert!(matches!(&refused, ConfineError::Refused(why) if why.contains("symbolic link")), "{refused}");
    lab.masked = vec![masked("../outside", Masked::Hidden)];
    let refused = lab.start("true").await.unwrap_err();
    assert!(matches!(&refused, ConfineError::Refused(why) if why.contains("cross-device")), "{refused}");
}

#[tokio::test]
async fn without_namespaces_a_mask_refuses_the_start() {
    if !kernel_allows(Tier::Landlock) {
        return;
    }
    let mut lab = Lab::new(Tier::Landlock);
    lab.put(".env", "secret\n");
    lab.masked = vec![masked(".env", Masked::Hidden)];
    let refused = lab.start("true").await.unwrap_err();
    assert!(matches!(&refused, ConfineError::Refused(why) if why.contains("namespaces")), "{refused}");
}

/// The directory that was granted is moved away, and something else takes its path.
#[tokio::test]
async fn a_start_with_a_replaced_directory_is_refused() {
    for tier in tiers() {
        let mut lab = Lab::new(tier);
        lab.put("mine", "mine\n");
        let granted = std::fs::File::open(lab.workspace.path()).unwrap();
        let path = path_of(&granted).unwrap();
        let away = path.with_extension("away");
        lab.granted_path = Some(path.clone());
        std::fs::rename(&path, &away).unwrap();
        // Another directory. Without namespaces, only the one that was granted can be read, wherever it is.
        lab.put("mine", "not mine\n");
        match lab.start_in(&granted, "cat mine").await {
            Ok(running) => {
                let outcome = crate::lab::outcome(running).await;
                assert!(tier == Tier::Landlock && outcome.text.contains("Permission denied"), "{tier}: {outcome:?}");
            }
            Err(refused) => assert!(refused.to_string().contains("replaced"), "{tier}: {refused}"),
        }
        // A link, also to the directory that was granted.
        std::fs::remove_dir_all(&path).unwrap();
        symlink(&away, &path).unwrap();
        if tier == Tier::Namespaces {
            let refused = lab.start_in(&granted, "cat mine").await.unwrap_err();
            assert!(refused.to_string().contains("symbolic links"), "{refused}");
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&away, &path).unwrap();
    }
}

/// The directory that was granted is moved away, and another one takes its path, also while programs start.
#[test]
fn a_directory_that_took_the_path_of_the_granted_one_is_never_seen() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        lab.put("mine", "mine\n");
        let (path, away) = (lab.workspace.path().to_owned(), lab.workspace.path().with_extension("away"));
        let other = path.with_extension("other");
        std::fs::create_dir_all(&other).unwrap();
        std::fs::write(other.join("mine"), "not mine\n").unwrap();
        let swapping = std::sync::atomic::AtomicBool::new(true);
        let granted = std::fs::File::open(&path).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while swapping.load(std::sync::atomic::Ordering::Relaxed) {
                    std::fs::rename(&path, &away).unwrap();
                    std::fs::rename(&other, &path).unwrap();
                    std::fs::rename(&path, &other).unwrap();
                    std::fs::rename(&away, &path).unwrap();
                }
            });
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let starting = std::panic::AssertUnwindSafe(|| {
                runtime.block_on(async {
                    for _ in 0..30 {
                        match lab.start_in(&granted, "cat mine").await {
                            Ok(running) => {
                                let outcome = crate::lab::outcome(running).await;
                                assert!(!outcome.text.contains("not mine"), "{tier}: {outcome:?}");
                            }
                            Err(ConfineError::Refused(_)) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                })
            });
            let done = std::panic::catch_unwind(starting);
            swapping.store(false, std::sync::atomic::Ordering::Relaxed);
            done.unwrap();
        });
        std::fs::remove_dir_all(other).unwrap();
    }
}

/// The attributes of a file are changed without opening it, so a rule about opening does not cover them.
#[tokio::test]
async fn attributes_outside_the_view_cannot_be_changed() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        let outside = lab.workspace.path().with_extension("attributes");
        std::fs::write(&outside, "x").unwrap();
        let before = std::fs::metadata(&outside).unwrap();
        let place = outside.display();
        for command in [
            format!("chmod 777 {place}"),
            format!("chown 1:1 {place}"),
            format!("python3 -c 'import os; os.utime(\"{place}\", (1, 1))'"),
            format!("python3 -c 'import os; os.setxattr(\"{place}\", \"user.x\", b\"x\")'"),
            format!("python3 -c 'import os; os.removexattr(\"{place}\", \"user.x\")'"),
            "chmod 777 /usr/bin/env".to_owned(),
            "python3 -c 'import os; os.fchmod(os.open(\"/usr/bin/env\", os.O_RDONLY), 0o777)'".to_owned(),
            "python3 -c 'import os; os.utime(os.open(\"/usr/bin/env\", os.O_RDONLY), (1, 1))'".to_owned(),
        ] {
            let outcome = lab.run(&format!("{{ {command}; }} 2>/dev/null")).await;
            assert_ne!(outcome.report.exit, ProgramExit::Code(0), "{tier}: {command}: {outcome:?}");
        }
        let after = std::fs::metadata(&outside).unwrap();
        let facts = |found: &std::fs::Metadata| (found.mode(), found.uid(), found.mtime(), found.ctime_nsec());
        assert_eq!(facts(&before), facts(&after), "{tier}");
        std::fs::remove_file(outside).unwrap();
    }
}

/// Certificates can be read, and the private keys beside them cannot, although root owns them.
#[tokio::test]
async fn the_settings_of_the_view_hold_no_private_key() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        if std::path::Path::new("/etc/ssl/certs").exists() {
            let outcome = lab.run("cat /etc/ssl/certs/* 2>/dev/null | grep -m 1 -c BEGIN").await;
            assert_eq!(outcome.text, "1\n", "{tier}");
        }
        for place in ["/etc/ssl/private", "/etc/pki/tls/private", "/etc/pki/entitlement", "/etc/letsencrypt"] {
            let outcome = lab.run(&format!("ls {place}; cat {place}/*")).await;
            assert!(outcome.text.lines().all(|line| line.contains(": ")), "{tier}: {outcome:?}");
        }
        if tier == Tier::Namespaces {
            // Nor any other file that its owner keeps to themselves.
            assert_eq!(lab.run("find /etc ! -type l ! -perm -o=r").await.text, "", "{tier}");
        }
    }
}

/// Python that opens a file for reading, and asks the file system to exclude it from backups.
const SET_FLAGS: &str = r#"
import fcntl, os, sys
READ, WRITE, NO_DUMP = 0x80086601, 0x40086602, 0x40
file = os.open(sys.argv[1], os.O_RDONLY)
if sys.argv[2] == "blind":
    fcntl.ioctl(file, WRITE, NO_DUMP.to_bytes(8, sys.byteorder))
flags = int.from_bytes(fcntl.ioctl(file, READ, bytes(8)), sys.byteorder)
if sys.argv[2] == "read":
    print(bool(flags & NO_DUMP))
else:
    # The other flags stay, because a file system may not be able to change them.
    fcntl.ioctl(file, WRITE, (flags | NO_DUMP).to_bytes(8, sys.byteorder))
"#;

/// File systems change the flags of a file that is open for reading.
#[tokio::test]
async fn flags_of_read_only_files_cannot_be_changed() {
    for tier in tiers() {
        let mut lab = Lab::new(tier);
        lab.access = ViewAccess::ReadOnly;
        lab.put("a.txt", "hello\n");
        lab.put("flags.py", SET_FLAGS);
        let unconfined = |action: &str| {
            let mut python = std::process::Command::new("/usr/bin/python3");
            let output = python.args(["flags.py", "a.txt", action]).current_dir(lab.workspace.path()).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        // The confinement may also refuse to read the flags.
        for action in ["write", "blind"] {
            let outcome = lab.run(&format!("python3 flags.py a.txt {action}")).await;
            assert_ne!(outcome.report.exit, ProgramExit::Code(0), "{tier}: {outcome:?}");
        }
        assert_eq!(unconfined("read"), "False\n", "{tier}");
        unconfined("write");
        assert_eq!(unconfined("read"), "True\n", "{tier}");
    }
}
