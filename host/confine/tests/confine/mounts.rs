//! The namespaces and the mounts of a program.

use crate::lab::{Lab, kernel_allows, report, user};
use portcullis_confine::{ConfineError, Tier};
use std::path::Path;

#[tokio::test]
async fn each_namespace_is_the_programs_own() {
    if !kernel_allows(Tier::Namespaces) {
        return;
    }
    let lab = Lab::new(Tier::Namespaces);
    for name in ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"] {
        let own = lab.run(&format!("readlink /proc/self/ns/{name}")).await.text;
        let of_host = std::fs::read_link(format!("/proc/self/ns/{name}")).unwrap();
        assert!(own.starts_with(&format!("{name}:[")), "{own}");
        assert_ne!(own.trim_end(), of_host.to_str().unwrap(), "{name}");
    }
    assert_eq!(lab.run("cat /proc/self/setgroups").await.text, "deny\n");
}

/// One line of `mountinfo`, proc_pid_mountinfo(5).
struct Mount<'a> {
    place: &'a str,
    options: Vec<&'a str>,
    propagation: Vec<&'a str>,
}

fn mounts(text: &str) -> Vec<Mount<'_>> {
    let mount = |line| {
        let fields: Vec<&str> = str::split_whitespace(line).collect();
        let propagation = fields[6..].iter().take_while(|field| **field != "-").copied().collect();
        Mount { place: fields[4], options: fields[5].split(',').collect(), propagation }
    };
    text.lines().map(mount).collect()
}

#[tokio::test]
async fn every_mount_is_as_weak_as_it_can_be() {
    if !kernel_allows(Tier::Namespaces) {
        return;
    }
    // The machine shares its mounts, as most do: a new mount of the machine would appear in the view.
    let shared = ["--user", "--map-root-user", "--mount", "--propagation", "shared"];
    let lab = Lab::started_by(Tier::Namespaces, Path::new("/usr/bin/unshare"), &shared);
    let text = lab.run("cat /proc/self/mountinfo").await.text;
    let (mounts, workspace) = (mounts(&text), lab.workspace.path().to_str().unwrap());
    for needed in ["/", "/usr", "/proc", "/tmp", "/dev/null", workspace] {
        assert!(mounts.iter().any(|mount| mount.place == needed), "{needed}: {text}");
    }
    for Mount { place, options, propagation } in &mounts {
        let is_device = place.starts_with("/dev/");
        assert!(propagation.is_empty(), "{place}: {propagation:?}");
        assert!(is_device || options.contains(&"nosuid"), "{place}: {options:?}");
        // The files of `/proc` are hidden by a device.
        assert!(is_device || place.starts_with("/proc/") || options.contains(&"nodev"), "{place}: {options:?}");
        let writable = is_device || [workspace, "/tmp"].contains(place);
        assert_eq!(options.contains(&"rw"), writable, "{place}: {options:?}");
        assert!(*place != "/proc" || options.contains(&"noexec"), "{options:?}");
    }
}

#[tokio::test]
async fn the_view_has_only_these_devices_users_and_files_of_the_machine() {
    if !kernel_allows(Tier::Namespaces) {
        return;
    }
    let lab = Lab::new(Tier::Namespaces);
    let devices = lab.run("ls /dev").await.text;
    assert_eq!(devices, "fd\nfull\nnull\nrandom\nshm\nstderr\nstdin\nstdout\nurandom\nzero\n");
    let users = lab.run("cut -d: -f1 /etc/passwd").await.text;
    assert!(["root\nunmapped\n", "user\nunmapped\n"].contains(&users.as_str()), "{users}");
    assert_eq!(lab.run("ls /proc/1/cwd/ /proc/1/root/ 2>/dev/null").await.text, "");
}

/// The null device hides what the kernel reports about the machine, or takes from root.
#[tokio::test]
async fn each_hidden_file_of_proc_is_the_null_device() {
    if !kernel_allows(Tier::Namespaces) {
        return;
    }
    let lab = Lab::new(Tier::Namespaces);
    let mut shown = Vec::new();
    for name in ["kcore", "keys", "key-users", "timer_list", "kallsyms", "sysrq-trigger", "kmsg"] {
        if !Path::new("/proc").join(name).exists() {
            report(&format!("SKIPPED: the hidden file /proc/{name}: this kernel has none\n"));
            continue;
        }
        let device = lab.run(&format!("stat -c %t:%T /proc/{name}")).await.text;
        if device != "1:3\n" {
            shown.push(name);
        }
    }
    assert!(shown.is_empty(), "these files of /proc are not hidden: {shown:?}");
}

/// A process that is not dumpable belongs to root, so no program may look into it. For root, this shows nothing.
#[tokio::test]
async fn the_supervisor_is_not_the_users() {
    if !kernel_allows(Tier::Namespaces) {
        return;
    }
    let unmapped = if user() == 0 { "0\n" } else { "65534\n" };
    assert_eq!(Lab::new(Tier::Namespaces).run("stat -c %u /proc/1/environ").await.text, unmapped);
}

#[tokio::test]
async fn a_directory_that_the_view_has_itself_is_refused() {
    if !kernel_allows(Tier::Namespaces) {
        return;
    }
    let lab = Lab::new(Tier::Namespaces);
    for name in ["/", "/proc", "/proc/self/task", "/dev", "/dev/shm", "/sys"] {
        let refused = lab.start_in(&std::fs::File::open(name).unwrap(), "true").await.unwrap_err();
        assert!(matches!(&refused, ConfineError::Refused(why) if why.contains("its own")), "{name}: {refused}");
    }
}
