//! `wasi:config/store` and `wasi:logging/logging`: plain settings in, lines for the record out.

use crate::state::State;
use crate::wasi::config::store as config;
use crate::wasi::logging::logging;

impl config::Host for State {
    fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<String>, config::Error>> {
        Ok(Ok(self.handles.surroundings.config.get(&key).cloned()))
    }

    fn get_all(&mut self) -> wasmtime::Result<Result<Vec<(String, String)>, config::Error>> {
        let pairs = self.handles.surroundings.config.iter().map(|(key, value)| (key.clone(), value.clone()));
        Ok(Ok(pairs.collect()))
    }
}

impl logging::Host for State {
    fn log(&mut self, level: logging::Level, context: String, message: String) -> wasmtime::Result<()> {
        let level = match level {
            logging::Level::Trace => "trace",
            logging::Level::Debug => "debug",
            logging::Level::Info => "info",
            logging::Level::Warn => "warn",
            logging::Level::Error => "error",
            logging::Level::Critical => "critical",
        };
        self.sink.append(format!("[{level}] {context}: {message}\n").as_bytes());
        Ok(())
    }
}
