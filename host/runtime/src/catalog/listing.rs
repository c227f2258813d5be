//! Lists the plugin files of the plugin directories, each with its description files.

use super::beside::{self, Beside};
use super::file::{self, EXTENSION, FileError};
use crate::places::{OwnPlace, PlaceError};
use cap_std::fs::Dir;
use portcullis_policy::{LocalName, PluginName};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

/// A file of a plugin directory.
pub(crate) struct ListedFile {
    /// The file name, by which the host knows the file. It begins with the path of the directory if an earlier
    /// directory has a file of this name. Untrusted text.
    pub(crate) file: String,
    /// The directory that the file is in.
    pub(crate) directory: Arc<Dir>,
    /// Its description files, or why the file belongs to no plugin.
    pub(crate) beside: Result<Beside, FileError>,
}

/// Returns whether a file is a plugin or a description file by its name. Other files are ignored.
pub(crate) fn is_ours(name: &str) -> bool {
    is_plugin(name) || beside::names(name).is_some()
}

fn is_plugin(name: &str) -> bool {
    // `A.WASM` is listed too, so that it is refused with a reason instead of ignored.
    name.to_ascii_lowercase().ends_with(EXTENSION)
}

/// Lists the files of all directories, sorted. A directory that was removed has none. If two directories have a file of
/// the same name, the one in the earlier directory is used, even if it is refused. So nothing in a project can take the
/// place of a plugin that the user has installed.
pub(crate) fn list_all(places: &[OwnPlace]) -> Result<Vec<ListedFile>, PlaceError> {
    let mut listed: Vec<ListedFile> = Vec::new();
    // For each file, the directory that has it first.
    let mut first: BTreeMap<String, &OwnPlace> = BTreeMap::new();
    for place in places {
        let Some(directory) = &place.directory else { continue };
        let files = match list(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            files => files.map_err(|source| place.failed(source))?,
        };
        for mut listed_file in files {
            match first.get(&listed_file.file) {
                Some(earlier) => {
                    let directory = earlier.written.display().to_string();
                    listed_file.file = place.written.join(&listed_file.file).display().to_string();
                    listed_file.beside = Err(FileError::Shadowed { directory });
                }
                None => drop(first.insert(listed_file.file.clone(), place)),
            }
            listed.push(listed_file);
        }
    }
    listed.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(listed)
}

/// Lists the plugin files of a directory and the description files that belong to no plugin.
fn list(directory: &Arc<Dir>) -> io::Result<Vec<ListedFile>> {
    let (plugins, others): (BTreeSet<String>, BTreeSet<String>) =
        file::list(directory, is_ours)?.into_iter().partition(|name| is_plugin(name));
    let mut tools: BTreeMap<PluginName, Vec<LocalName>> = BTreeMap::new();
    let mut listed = Vec::with_capacity(plugins.len());
    for file in others {
        let Some((plugin, tool)) = beside::names(&file) else { continue };
        if plugins.contains(&format!("{plugin}{EXTENSION}")) {
            tools.entry(plugin).or_default().push(tool);
        } else {
            let alone = |_| FileError::NoPlugin { plugin: plugin.to_string() };
            // The error for a missing plugin asks to add it, which does not help if its name is reserved.
            let beside = Err(file::checked_name(plugin.as_str()).map_or_else(|error| error, alone));
            listed.push(ListedFile { file, directory: Arc::clone(directory), beside });
        }
    }
    for file in plugins {
        let described = file::plugin_name(&file).ok().and_then(|plugin| tools.remove_entry(&plugin));
        let beside = described.map(|(plugin, tools)| Beside::read(directory, &plugin, &tools)).unwrap_or_default();
        listed.push(ListedFile { file, directory: Arc::clone(directory), beside: Ok(beside) });
    }
    Ok(listed)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the directories")]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_of_a_later_directory_never_takes_the_place_of_an_earlier_one() {
        let root = std::env::temp_dir().join(format!("portcullis-listing-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for (file, text) in
            [("user/a.wasm", "1"), ("project/a.wasm", "2"), ("project/a.t.md", ""), ("project/b.wasm", "")]
        {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), text).unwrap();
        }
        let open = |name: &str| OwnPlace::if_exists("the plugin directory", &root.join(name)).unwrap();
        let (user, project) = (open("user"), open("project"));
        let of = |listed: &[ListedFile], file: &str| listed.iter().position(|listed| listed.file == file).unwrap();
        let listed = list_all(&[user.clone(), project.clone()]).unwrap();
        let (first, later) = (of(&listed, "a.wasm"), of(&listed, &root.join("project/a.wasm").display().to_string()));
        assert!(Arc::ptr_eq(&listed[first].directory, user.directory.as_ref().unwrap()));
        // The description file is next to another plugin, and describes nothing of the user's.
        assert!(listed[first].beside.as_ref().is_ok_and(Beside::is_none));
        assert!(matches!(&listed[later].beside, Err(FileError::Shadowed { .. })));
        assert!(listed[of(&listed, "b.wasm")].beside.is_ok());
        assert_eq!(listed.len(), 3);
        let listed = list_all(&[project, user, open("missing")]).unwrap();
        assert!(listed[of(&listed, "a.wasm")].beside.as_ref().is_ok_and(|beside| !beside.is_none()));
        fs::remove_dir_all(&root).unwrap();
    }
}
