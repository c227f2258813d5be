//! The system: the clock, and what the kernel offers.

use super::finding::DoctorFinding;
use portcullis::confinement::can_restrict_own_process;
use portcullis::programs::{Tier, TierReport, program_tier};
use portcullis::text::{OneLine, WithCauses};
use portcullis_build::project_file;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, inotify, openat2};
use rustix::io::Errno;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A time before which the clock is certainly wrong, in seconds since 1970: the beginning of 2025. Approvals and
/// certificates have times.
const EARLIEST_SECONDS: u64 = 1_735_689_600;

/// Maximum size of a file of the kernel that is read, in bytes.
const KERNEL_FILE_BYTES_MAX: u64 = 4096;

/// Checks the system.
pub(super) fn check() -> Vec<DoctorFinding> {
    let release = kernel_file("/proc/sys/kernel/osrelease").unwrap_or_default();
    vec![
        DoctorFinding::ok("kernel", release.trim()),
        clock(SystemTime::now()),
        beneath(),
        notifications(),
        DoctorFinding::ok("landlock", landlock(kernel_file("/sys/kernel/security/lsm").as_deref())),
        DoctorFinding::ok("namespaces", namespaces()),
        programs(),
        own_process(),
    ]
}

fn clock(now: SystemTime) -> DoctorFinding {
    // A clock before 1970 counts as one that shows 1970, which is an error too.
    let since_1970 = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    if since_1970 < Duration::from_secs(EARLIEST_SECONDS) {
        let remedy = "set the clock: approvals and certificates have times";
        return DoctorFinding::error("clock", "the clock shows a time before 2025", remedy);
    }
    DoctorFinding::ok("clock", "plausible")
}

/// A grant that is narrowed to a path, and a project's policy, need this system call.
fn beneath() -> DoctorFinding {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    beneath_finding(openat2(CWD, ".", flags, Mode::empty(), ResolveFlags::BENEATH).map(drop))
}

fn beneath_finding(tried: Result<(), Errno>) -> DoctorFinding {
    match tried {
        Ok(()) => DoctorFinding::ok("openat2", "available"),
        Err(Errno::NOSYS) => DoctorFinding::error(
            "openat2",
            "missing: grants with `narrow` and policies of projects do not work",
            "use Linux 5.6 or later",
        ),
        // A seccomp filter that does not know the call may answer it with EPERM.
        Err(error) => DoctorFinding::error(
            "openat2",
            format!("refused ({error}): grants with `narrow` and policies of projects do not work"),
            "permit this system call, for example in the seccomp profile of the container",
        ),
    }
}

/// A server follows its plugin directories by these.
fn notifications() -> DoctorFinding {
    match inotify::init(inotify::CreateFlags::CLOEXEC) {
        Ok(_) => DoctorFinding::ok("inotify", "available"),
        Err(error) => DoctorFinding::warning(
            "inotify",
            format!("no watch can be created: {error}. Servers notice a new plugin only after two seconds"),
            "raise fs.inotify.max_user_instances with sysctl",
        ),
    }
}

/// How this machine confines the programs that tools run.
fn programs() -> DoctorFinding {
    match program_tier() {
        Ok(TierReport { tier: Some(Tier::Namespaces), .. }) => DoctorFinding::ok("programs", "confined by namespaces"),
        Ok(report) if report.tier.is_some() => DoctorFinding::warning(
            "programs",
            format!("confined by Landlock alone, without the network and masks ({})", OneLine(&report.reason())),
            "allow user namespaces, to confine them better: see docs/execute.md",
        ),
        Ok(report) => DoctorFinding::warning(
            "programs",
            format!("tools cannot run any: {}", OneLine(&report.reason())),
            "allow user namespaces, or use Linux 6.12 or later with Landlock",
        ),
        Err(error) => DoctorFinding::warning(
            "programs",
            format!("tools cannot run any: {}", OneLine(&WithCauses(&error).to_string())),
            "correct this, and run `portcullis doctor` again",
        ),
    }
}

/// Whether `serve` and `call` can give up the rights that they do not need.
fn own_process() -> DoctorFinding {
    match can_restrict_own_process() {
        Ok(()) => DoctorFinding::ok("own process", "`serve` and `call` give up what the policy does not name"),
        Err(error) => DoctorFinding::warning(
            "own process",
            format!("`serve` and `call` keep all rights of their user: {}", OneLine(&error.to_string())),
            "use Linux 6.12 or later with Landlock, for a second wall behind the sandbox",
        ),
    }
}

fn landlock(modules: Option<&str>) -> &'static str {
    match modules {
        Some(modules) if modules.trim().split(',').any(|module| module == "landlock") => "enabled",
        Some(_) => "not enabled",
        None => "unknown: /sys/kernel/security/lsm cannot be read",
    }
}

fn namespaces() -> &'static str {
    let is_zero = |path| kernel_file(path).is_some_and(|text| text.trim() == "0");
    let is_one = |path| kernel_file(path).is_some_and(|text| text.trim() == "1");
    // `unprivileged_userns_clone` comes from a patch of Debian. Kernels without it lack the file.
    let is_off = is_zero("/proc/sys/user/max_user_namespaces") || is_zero("/proc/sys/kernel/unprivileged_userns_clone");
    match is_off {
        true => "user namespaces are not available",
        false if is_one("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") => {
            "user namespaces are restricted by AppArmor"
        }
        false => "user namespaces are available",
    }
}

fn kernel_file(path: &str) -> Option<String> {
    project_file::read_text(Path::new(path), KERNEL_FILE_BYTES_MAX).ok()
}

#[cfg(test)]
mod tests {
    use super::super::finding::FindingLevel;
    use super::*;

    #[test]
    fn a_clock_before_2025_is_an_error() {
        assert_eq!(clock(UNIX_EPOCH).level, FindingLevel::Error);
        assert_eq!(clock(UNIX_EPOCH + Duration::from_secs(EARLIEST_SECONDS)).level, FindingLevel::Ok);
    }

    #[test]
    fn openat2_that_a_filter_refuses_is_an_error() {
        assert_eq!(beneath_finding(Ok(())).level, FindingLevel::Ok);
        for error in [Errno::NOSYS, Errno::PERM] {
            assert_eq!(beneath_finding(Err(error)).level, FindingLevel::Error, "{error}");
        }
        assert!(beneath_finding(Err(Errno::PERM)).message.contains("refused"));
    }

    #[test]
    fn landlock_is_one_of_the_modules() {
        assert_eq!(landlock(Some("capability,landlock,bpf\n")), "enabled");
        assert_eq!(landlock(Some("capability,landlocked")), "not enabled");
        assert!(landlock(None).starts_with("unknown"));
    }
}
