//! The interface `programs`, which only this version has.

use super::generated::portcullis::tool::{dependencies, programs};
use crate::program::{Launch, Program, Running};
use crate::state::StoreState;
use portcullis_confine::{ProgramExit, ProgramReport};
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
        let programs::Launch { arguments, environment, directory, merge } = launch;
        match program.start(Launch { arguments, environment, directory, merge }, &self.clock).await {
            Ok(running) => {
                let running = self.table.push(running)?;
                // If there is no room for it, the guest ends, and the program with it.
                self.weigh(&running)?;
                Ok(Ok(running))
            }
            Err(why) => Ok(Err(why)),
        }
    }

    fn drop(&mut self, program: Resource<Program>) -> wasmtime::Result<()> {
        self.table.delete(program)?;
        Ok(())
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

impl From<ProgramReport> for programs::ExitReport {
    fn from(report: ProgramReport) -> Self {
        let exit = match report.exit {
            ProgramExit::Code(code) => programs::Exit::Code(code),
            ProgramExit::Signal(signal) => programs::Exit::Signal(signal),
            ProgramExit::Stopped(why) => programs::Exit::Stopped(why),
        };
        let milliseconds = u64::try_from(report.wall.as_millis()).unwrap_or(u64::MAX);
        // The kernel does not say what it refused a program.
        Self { exit, milliseconds, left_processes: report.left_processes, refused: Vec::new() }
    }
}
