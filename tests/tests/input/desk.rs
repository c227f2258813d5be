//! A host that explains calls with given arguments, and the folders of the suites.

use portcullis::{Code, Host, Request};
use portcullis_tests::{Site, allow_all};
use std::env;
use std::path::PathBuf;
use std::sync::LazyLock;
use tokio::runtime::Runtime;

/// A host with the good plugin, whose only tool accepts any object.
pub(crate) struct Desk {
    pub(crate) host: Host,
    _site: Site,
}

/// The runtime for explanations, so that a property test needs no future.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap());

impl Desk {
    pub(crate) async fn new() -> Self {
        let site = Site::new();
        Self { host: site.open(&allow_all("")).await, _site: site }
    }

    /// Returns the arguments as the tool would receive them, or the error.
    pub(crate) fn arguments(&self, bytes: impl AsRef<[u8]>) -> Result<String, (Code, String)> {
        let request = Request::new("good.run", bytes.as_ref());
        let explain = || RUNTIME.block_on(self.host.explain(request));
        // Use another thread, because the test's own runtime must not be blocked.
        let explained = std::thread::scope(|scope| scope.spawn(explain).join().unwrap());
        match explained {
            Ok(explained) => Ok(explained.arguments),
            Err(reply) => Err((reply.code, reply.message)),
        }
    }

    /// Asserts that the arguments are not valid JSON. Returns the error.
    pub(crate) fn refused(&self, bytes: impl AsRef<[u8]>) -> String {
        let shown = String::from_utf8_lossy(bytes.as_ref()).chars().take(80).collect::<String>();
        match self.arguments(bytes) {
            Err((Code::MalformedArguments, message)) => message,
            other => panic!("{shown}: {other:?}"),
        }
    }
}

/// Returns the folder of a suite.
pub(crate) fn suite(variable: &str) -> PathBuf {
    env::var_os(variable).map_or_else(|| panic!("{variable} is not set: run `cargo xtask test`"), PathBuf::from)
}
