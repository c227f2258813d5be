//! The compiled code of guests and plugins, which all tests share. Each test runs in its own process with its own
//! state, and would spend most of its time on compiling.

use crate::{BlockOn, Site};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use portcullis::Compiler;
use portcullis::plugins::check_component;
use portcullis::policy::Limits;
use portcullis_ledger::state_directory::HostDirectories;
use portcullis_sandbox::{Artefact, COMPONENT_BYTES_MAX, CodeStore, Engine, EngineConfig, Fetched};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// The key of the shared cache. It protects nothing, because every test may write there.
const SHARED_KEY: [u8; 32] = [7; 32];

impl Site {
    /// Puts the code of this site's plugins into the cache of its state directory, as an earlier host with this state
    /// would have left it. The first test that needs the code of a plugin compiles it. The host still asks the plugin
    /// for its description. Leaves out what cannot be compiled.
    pub fn compile(&self) {
        self.compile_for(&self.state());
    }

    /// Does the same for a state directory of another host with these plugins.
    pub fn compile_for(&self, state: &Path) {
        let Ok(entries) = fs::read_dir(self.plugins()) else { return };
        let is_plugin = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "wasm");
        let fits =
            |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= COMPONENT_BYTES_MAX);
        let files = entries.flatten().map(|entry| entry.path()).filter(|path| is_plugin(path) && fits(path));
        let plugins: Vec<Vec<u8>> = files.filter_map(|file| fs::read(file).ok()).collect();
        // A state directory that cannot be opened is what the test is about.
        let Ok(state) = HostDirectories::open(&state.into()) else { return };
        let own = CodeStore::new(state.cache, &state.key, Some(fingerprint()));
        let shared = CodeStore::new(shared(), &SHARED_KEY, Some(fingerprint()));
        for bytes in plugins.iter().filter(|bytes| check_component(bytes).is_ok()) {
            let sha256 = Sha256::digest(bytes).into();
            if !matches!(own.fetch_code(&sha256), Fetched::Miss) {
                continue;
            }
            let artefact = match shared.fetch_code(&sha256) {
                Fetched::Hit(artefact) => Some(artefact),
                Fetched::Miss | Fetched::Rejected(_) => compile_once(&shared, &sha256, bytes),
            };
            if let Some(artefact) = artefact {
                own.put_code(&sha256, &artefact).unwrap();
            }
        }
    }
}

/// Compiles a plugin for the shared cache, unless another test does so meanwhile. Tests of one plugin begin together.
/// Returns `None` if it cannot be compiled.
fn compile_once(shared: &CodeStore, sha256: &[u8; 32], bytes: &[u8]) -> Option<Artefact> {
    let _turn = loop {
        match shared.try_turn(sha256).unwrap() {
            Some(turn) => break turn,
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    if let Fetched::Hit(artefact) = shared.fetch_code(sha256) {
        return Some(artefact);
    }
    let artefact = Compiler::InProcess.compile(bytes).block_on().ok()?;
    let _ = shared.put_code(sha256, &artefact);
    // The code of older guests and engines goes.
    shared.make_room();
    Some(artefact)
}

/// Returns a user's cache that all tests of the program share, so that only the first one compiles a component.
pub fn user_cache() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/test-user-cache")).to_owned()
}

/// Opens the directory of the shared cache.
fn shared() -> Dir {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/test-code"));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).unwrap();
    Dir::open_ambient_dir(folder, ambient_authority()).unwrap()
}

/// Returns the fingerprint of the engine. It does not depend on the limits of a host.
fn fingerprint() -> [u8; 32] {
    static FINGERPRINT: OnceLock<[u8; 32]> = OnceLock::new();
    *FINGERPRINT.get_or_init(|| {
        let config = EngineConfig { calls: 1, largest: Limits::default(), store_value_bytes: 0 };
        Engine::new(&config).unwrap().fingerprint().unwrap()
    })
}
