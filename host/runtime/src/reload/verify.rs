//! Reads the files of a running host once in the background, and compares them with what the host took them for when it
//! opened. The host opens without the bytes of files that are unchanged by their identity. So a file whose bytes were
//! changed past the file system, such as on the raw disk, is found here. It is refused until someone touches it.

use super::error::ReloadError;
use super::look::ReloadLook;
use crate::call::redecide_left;
use crate::catalog::file::{self, Sighting};
use crate::catalog::listing::{self, ListedFile};
use crate::catalog::{Catalog, PluginOutline, ReadFile};
use crate::inner::HostState;
use cap_std::fs::Dir;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// How long a host runs before it verifies its files. A command has ended by then, and a server has answered its first
/// requests.
const VERIFY_AFTER: Duration = Duration::from_secs(2);

/// How long to wait for plugins that load in the background. The slowest ones take minutes to compile.
const LOADS_WAIT_MAX: Duration = Duration::from_secs(10 * 60);

/// A directory with what was found in it.
struct VerifiedDirectory {
    directory: Arc<Dir>,
    read: Vec<ReadFile>,
    altered: Vec<String>,
}

/// Verifies the files of a host once, unless the host is dropped meanwhile.
pub(crate) async fn verify(host: Weak<HostState>) {
    sleep(VERIFY_AFTER).await;
    let background = host.upgrade().and_then(|host| host.background().cloned());
    if let Some(background) = background {
        background.settled(LOADS_WAIT_MAX).await;
    }
    let Some(listed) = list(&host).await else { return };
    let mut directories: Vec<VerifiedDirectory> = Vec::new();
    for listed in listed {
        let Some(host) = host.upgrade() else { return };
        let at = directories.iter().position(|verified| Arc::ptr_eq(&verified.directory, &listed.directory));
        let at = at.unwrap_or_else(|| {
            let directory = Arc::clone(&listed.directory);
            directories.push(VerifiedDirectory { directory, read: Vec::new(), altered: Vec::new() });
            directories.len() - 1
        });
        match verify_file(&host, listed).await {
            Verified::As(read) => directories[at].read.extend(read),
            Verified::Altered(file) => directories[at].altered.push(file),
        }
    }
    let Some(host) = host.upgrade() else { return };
    let keep = move || {
        for VerifiedDirectory { directory, read, altered } in directories {
            host.loader.keep_index(&directory, read, &altered);
        }
        host.loader.store.make_room();
    };
    // If this fails, the next host reads the files.
    let _ = spawn_blocking(keep).await;
}

/// The result of verifying a file.
enum Verified {
    /// It is as the host knows it, or it was changed as files are changed, which a reload finds. In the first case the
    /// index can have it.
    As(Option<ReadFile>),
    /// Its bytes are others.
    Altered(String),
}

/// Returns the plugin files of a host. `None` if it is a host for one call, which does not load all of them.
async fn list(host: &Weak<HostState>) -> Option<Vec<ListedFile>> {
    let host = host.upgrade().filter(|host| host.catalog().left_out.is_empty())?;
    let held = host.loader.plugins.held();
    // The listing must not keep the host open.
    drop(host);
    let listed = spawn_blocking(move || listing::list_all(&held)).await.ok()?.ok()?;
    Some(listed.into_iter().filter(|listed| listed.beside.is_ok()).collect())
}

async fn verify_file(host: &Arc<HostState>, listed: ListedFile) -> Verified {
    let (file, directory) = (listed.file, listed.directory);
    let known = host.seen.lock().await.get(&file).copied();
    let Some(known) = known else { return Verified::As(None) };
    let name = file.clone();
    let read = spawn_blocking(move || file::hashed(&directory, &name)).await;
    // A file that cannot be read now is for the next reload.
    let Ok(Ok(Some(found))) = read else { return Verified::As(None) };
    if !known.has_identity_of(&found) {
        return Verified::As(None);
    }
    if known.sha256 == found.sha256 {
        return Verified::As(outlined(&host.catalog(), file, found));
    }
    // Without a settled identity, this can be an ordinary write, and the next reload reads the file.
    if !known.settled {
        return Verified::As(None);
    }
    // If the audit log cannot be written, the plugin stays, and its code is still the one of its hash.
    let _ = quarantine(host, &file, known, found).await;
    Verified::Altered(file)
}

/// Returns what the index can have of a file that was read.
fn outlined(catalog: &Catalog, file: String, sighting: Sighting) -> Option<ReadFile> {
    let plugin = catalog.plugins().find(|plugin| plugin.file == file && plugin.sha256 == sighting.sha256)?;
    let outline = Some(PluginOutline::of(plugin)?);
    Some(ReadFile { file, sighting, outline })
}

/// Refuses a file whose bytes are not those that the host took it for, unless a reload has seen it meanwhile.
async fn quarantine(host: &Arc<HostState>, file: &str, known: Sighting, found: Sighting) -> Result<(), ReloadError> {
    let mut seen = host.seen.lock().await;
    if !seen.get(file).is_some_and(|last| last.is_as(&known)) {
        return Ok(());
    }
    let mut look = ReloadLook::new(host, host.loader.plugins.held(), &seen, None);
    look.quarantine(file, known, found.sha256);
    let (_, now) = look.take_effect().await?;
    *seen = now;
    drop(seen);
    // As after every reload.
    let _ = redecide_left(host).await;
    Ok(())
}
