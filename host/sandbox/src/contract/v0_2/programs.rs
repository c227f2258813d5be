//! The interface `programs`, which only this version has.

use super::generated::portcullis::tool::{dependencies, programs};
use crate::program::{Launch, Missing, Program, ProgramNetworkCall, Running};
use crate::state::StoreState;
use portcullis_confine::{ProgramExit, ProgramReport};
use portcullis_policy::Access;
use wasmtime::component::{HasSelf, Linker, Resource};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, subscribe};

/// Adds the interface to a linker.
pub(in super::super) fn add_programs_to_linker(linker: &mut Linker<StoreState>) -> wasmtime::Result<()> {
    programs::add_to_linker::<StoreState, HasSelf<StoreState>>(linker, |state| state)
}

impl programs::Host for StoreState {
    fn open_program(&mut self, key: String) -> wasmtime::Result<Result<Resource<Program>, dependencies::Unavailable>> {
        match self.handles.program(&key) {
            Ok(program) => Ok(Ok(self.table.push(program.clone())?)),
            Err(unavailable) => Ok(Err(unavailable.into())),
        }
    }
}

impl programs::HostProgram for StoreState {
    async fn start(
        &mut self,
        program: Resource<Program>,
        launch: programs::Launch,
    ) -> wasmtime::Result<Result<Resource<Running>, String>> {
        let program = self.table.get(&program)?.clone();
        self.start_program(&program, launch.into()).await
    }

    async fn start_with(
        &mut self,
        program: Resource<Program>,
        launch: programs::Launch,
        missing: programs::Missing,
    ) -> wasmtime::Result<Result<Resource<Running>, String>> {
        let program = self.table.get(&program)?.clone();
        let launch = Launch::from(launch);
        let escalation = match program.escalation(&launch, missing.into()) {
            Ok(escalation) => escalation,
            Err(why) => return Ok(Err(why)),
        };
        // The run's own time does not count while a person thinks.
        let pause = self.clock.pause(self.call.approval_time);
        let extra = self.call.host.escalate(escalation).await;
        drop(pause);
        match extra {
            Ok(extra) => self.start_program(&program.with(extra), launch).await,
            Err(why) => Ok(Err(why)),
        }
    }

    fn drop(&mut self, program: Resource<Program>) -> wasmtime::Result<()> {
        self.table.delete(program)?;
        Ok(())
    }
}

impl StoreState {
    async fn start_program(
        &mut self,
        program: &Program,
        launch: Launch,
    ) -> wasmtime::Result<Result<Resource<Running>, String>> {
        let network = ProgramNetworkCall { call: self.http.call(), memory: self.http.memory() };
        match program.start(launch, &self.clock, network).await {
            Ok(running) => {
                let running = self.table.push(running)?;
                // If there is no room for it, the guest ends, and the program with it.
                self.weigh(&running)?;
                Ok(Ok(running))
            }
            Err(why) => Ok(Err(why)),
        }
    }
}

impl From<programs::Launch> for Launch {
    fn from(launch: programs::Launch) -> Self {
        let programs::Launch { arguments, environment, directory, merge } = launch;
        Self { arguments, environment, directory, merge }
    }
}

impl From<programs::Missing> for Missing {
    fn from(missing: programs::Missing) -> Self {
        match missing {
            programs::Missing::Destination(destination) => Self::Destination(destination),
            programs::Missing::ReadableDirectory(path) => Self::Directory { path, access: Access::ReadOnly },
            programs::Missing::WritableDirectory(path) => Self::Directory { path, access: Access::ReadWrite },
        }
    }
}

impl programs::HostRunning for StoreState {
    fn stdin(&mut self, running: Resource<Running>) -> wasmtime::Result<Option<Resource<DynOutputStream>>> {
        let stream = self.table.get_mut(&running)?.take_stdin();
        Ok(stream.map(|stream| self.table.push(stream)).transpose()?)
    }

    fn stdout(&mut self, running: Resource<Running>) -> wasmtime::Result<Option<Resource<DynInputStream>>> {
        let stream = self.table.get_mut(&running)?.take_stdout();
        Ok(stream.map(|stream| self.table.push(stream)).transpose()?)
    }

    fn stderr(&mut self, running: Resource<Running>) -> wasmtime::Result<Option<Resource<DynInputStream>>> {
        let stream = self.table.get_mut(&running)?.take_stderr();
        Ok(stream.map(|stream| self.table.push(stream)).transpose()?)
    }

    fn subscribe(&mut self, running: Resource<Running>) -> wasmtime::Result<Resource<DynPollable>> {
        subscribe(&mut self.table, running)
    }

    fn exit(&mut self, running: Resource<Running>) -> wasmtime::Result<Option<programs::ExitReport>> {
        Ok(self.table.get(&running)?.exit().map(Into::into))
    }

    fn kill(&mut self, running: Resource<Running>) -> wasmtime::Result<()> {
        self.table.get(&running)?.kill();
        Ok(())
    }

    fn drop(&mut self, running: Resource<Running>) -> wasmtime::Result<()> {
        self.weights.remove(running.rep());
        self.table.delete(running)?;
        Ok(())
    }
}

impl From<(ProgramReport, Vec<String>)> for programs::ExitReport {
    fn from((report, refused): (ProgramReport, Vec<String>)) -> Self {
        let exit = match report.exit {
            ProgramExit::Code(code) => programs::Exit::Code(code),
            ProgramExit::Signal(signal) => programs::Exit::Signal(signal),
            ProgramExit::Stopped(why) => programs::Exit::Stopped(why),
        };
        let milliseconds = u64::try_from(report.wall.as_millis()).unwrap_or(u64::MAX);
        // The kernel does not say what it refused a program, so these are the refusals of the proxy.
        Self { exit, milliseconds, left_processes: report.left_processes, refused }
    }
}
