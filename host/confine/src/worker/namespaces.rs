//! Tier "namespaces": a program has its own users, files, processes, network and shared memory.

use super::launch;
use super::processes::numbers_in;
use super::system_calls::{self, Sockets};
use super::tier_cell::{TierCell, set_default};
use super::view::View;
use crate::confinement::Confinement;
use crate::message::{StartDescriptors, StartRequest};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::net::{AddressFamily, Ipv4Addr, SocketAddrV4, SocketFlags, SocketType, bind, listen, socket_with};
use rustix::process::{DumpableBehavior, Pid, set_dumpable_behavior};
use seccompiler::BpfProgram;
use std::fs::OpenOptions;
use std::io::{self, Write};

/// The namespaces of a cell.
const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// The port of the proxy on the program's own loopback address. Nothing else listens there.
pub(super) const PROXY_PORT: u16 = 3128;

/// Connections that may wait for the proxy.
const PROXY_BACKLOG: i32 = 128;

/// Forks a process into new namespaces. Returns none in the child.
pub(super) fn fork() -> Result<Option<Pid>, Errno> {
    launch::fork_with(NAMESPACES)
}

pub(super) struct NamespaceCell {
    view: View,
    filters: [BpfProgram; 2],
}

impl TierCell for NamespaceCell {
    fn prepare() -> io::Result<Self> {
        map_user()?;
        // A program could otherwise read this process through `/proc`.
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
        let view = View::prepare()?;
        let filters = [system_calls::absent_calls_filter()?, system_calls::filter(Sockets::OwnNamespace)?];
        Ok(Self { view, filters })
    }

    fn furnish(
        &mut self,
        request: &mut StartRequest,
        descriptors: &StartDescriptors<OwnedFd>,
    ) -> io::Result<Option<OwnedFd>> {
        for name in ["HOME", "TMPDIR"] {
            set_default(request, name, "/tmp");
        }
        if request.confinement.proxied {
            let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
            for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"] {
                set_default(request, name, &proxy);
            }
        }
        self.view.furnish(request, descriptors.program.as_fd(), &descriptors.directories)?;
        request.confinement.proxied.then(proxy_listener).transpose()
    }

    fn enter(&self, confinement: &Confinement) -> io::Result<()> {
        launch::limit_processes(confinement)?;
        launch::drop_privileges(&self.filters)
    }

    fn program(&self, request: &StartRequest, program: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        let found = open(&request.path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())?;
        super::view::same_file(&found, program)?;
        Ok(found)
    }

    fn processes(&self) -> io::Result<Vec<u32>> {
        // Number 1 is this process.
        Ok(numbers_in(self.view.processes())?.into_iter().filter(|number| *number != 1).collect())
    }

    fn kill(&self) {
        // In a process namespace, everyone but its first process. The kernel does it in one step: a process that is
        // being forked gets the signal too.
        let _ = launch::kill_everyone();
    }
}

/// Maps the user and the group of the host to themselves. All others belong to the user that is mapped nowhere.
fn map_user() -> io::Result<()> {
    // These numbers were read in the parent's namespace: a process without a map has the number of no user.
    let (user, group) = launch::outer_user();
    let put = |file: &str, text: String| -> io::Result<()> {
        #[expect(clippy::disallowed_methods, reason = "the kernel takes the map in this file of the process itself")]
        let opened = OpenOptions::new().write(true).open(format!("/proc/self/{file}"));
        opened?.write_all(text.as_bytes())
    };
    let needed = |error: io::Error| io::Error::new(error.kind(), format!("the user cannot be mapped: {error}"));
    put("setgroups", "deny".to_owned()).map_err(needed)?;
    put("uid_map", format!("{user} {user} 1\n")).map_err(needed)?;
    put("gid_map", format!("{group} {group} 1\n")).map_err(needed)
}

/// Listens on the loopback address of this network namespace, which it starts.
fn proxy_listener() -> io::Result<OwnedFd> {
    launch::start_loopback()?;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT))?;
    listen(&socket, PROXY_BACKLOG)?;
    Ok(socket)
}
