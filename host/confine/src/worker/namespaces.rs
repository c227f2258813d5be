//! Tier "namespaces": a program has its own users, files, processes, network and shared memory.

use super::kill_scope::KillScope;
use super::privileges;
use super::processes::numbers_in;
use super::system::{self, outer_user};
use super::system_calls;
use super::tier_cell::{ProgramDescriptors, TierCell, set_default};
use super::view;
use crate::confinement::{PROXY_PORT, ProgramNetwork};
use crate::message::{StartDescriptors, StartRequest};
use crate::tier::Tier;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with};
use rustix::process::{DumpableBehavior, Pid, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use seccompiler::BpfProgram;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4};

/// The namespaces of a cell.
const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Maximum connections to the proxy that wait to be accepted.
const WAITING_CONNECTIONS_MAX: i32 = 128;

/// Forks a process into new namespaces. Returns none in the child.
pub(super) fn fork() -> Result<Option<Pid>, Errno> {
    system::fork_with(NAMESPACES)
}

pub(super) struct NamespaceCell {
    scope: KillScope,
    /// The listener of the proxy, once the confinement is known.
    listener: Option<OwnedFd>,
}

impl TierCell for NamespaceCell {
    fn prepare() -> io::Result<Self> {
        let scope = KillScope::of_namespace()?;
        map_user()?;
        // A program could otherwise read this process through `/proc`. After the maps, because the files of
        // `/proc/self` belong to root from then on, proc(5).
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        view::prepare()?;
        system::raise_loopback()?;
        Ok(Self { scope, listener: None })
    }

    fn kill_scope(&self) -> &KillScope {
        &self.scope
    }

    fn filters() -> io::Result<[BpfProgram; 2]> {
        system_calls::filters(Tier::Namespaces)
    }

    fn furnish(&mut self, request: &mut StartRequest, descriptors: &StartDescriptors<OwnedFd>) -> io::Result<()> {
        for name in ["HOME", "TMPDIR"] {
            set_default(request, name, "/tmp");
        }
        if request.confinement.network == ProgramNetwork::Proxy {
            self.listener = Some(listen()?);
        }
        view::furnish(request, descriptors.program.as_fd(), &descriptors.directories)
    }

    fn take_listener(&mut self) -> Option<OwnedFd> {
        self.listener.take()
    }

    fn enter(&self, request: &StartRequest, _granted: &ProgramDescriptors) -> io::Result<()> {
        // The kernel counts the processes of a user in each user namespace by itself. It exempts user 0 of the machine.
        let most = Some(u64::from(request.confinement.limits.processes));
        setrlimit(Resource::Nproc, Rlimit { current: most, maximum: most })?;
        privileges::drop_capabilities()
    }

    fn processes(&self, proc: &OwnedFd) -> io::Result<Vec<u32>> {
        // Number 1 is this process.
        Ok(numbers_in(proc)?.into_iter().filter(|number| *number != 1).collect())
    }
}

/// Opens the listener of the proxy in the network namespace of this process. A socket stays in the namespace in which
/// it was made, so another process can accept its connections.
fn listen() -> io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT))?;
    rustix::net::listen(&socket, WAITING_CONNECTIONS_MAX)?;
    Ok(socket)
}

/// Maps the user and the group of the host to themselves. All others belong to the user that is mapped nowhere.
fn map_user() -> io::Result<()> {
    // These numbers were read in the parent's namespace: a process without a map has the number of no user.
    let (user, group) = outer_user();
    let put = |file: &str, text: String| -> io::Result<()> {
        #[expect(clippy::disallowed_methods, reason = "the kernel takes the map in this file of the process itself")]
        let opened = OpenOptions::new().write(true).open(format!("/proc/self/{file}"));
        opened?.write_all(text.as_bytes())
    };
    let needed = |error: io::Error| io::Error::new(error.kind(), format!("the user cannot be mapped: {error}"));
    // A process without privileges may write `gid_map` only after this, user_namespaces(7).
    put("setgroups", "deny".to_owned()).map_err(needed)?;
    put("uid_map", format!("{user} {user} 1\n")).map_err(needed)?;
    put("gid_map", format!("{group} {group} 1\n")).map_err(needed)
}
