//! Which components to measure, and where the test cases of each are.

use super::super::conduct::Interrupts;
use super::super::making;
use crate::arguments::BenchArguments;
use crate::context::Context;
use crate::failure::{CommandError, FailureCode};
use crate::user_files;
use anyhow::{Context as _, ensure};
use portcullis_build::PROJECT_FILE;
use std::path::{Path, PathBuf};

/// The folder of cases.
const CASES: &str = "tests";

/// The extension of a component.
const EXTENSION: &str = ".wasm";

/// A component to measure.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BenchTarget {
    /// The component.
    pub(super) file: PathBuf,
    /// The folder whose files the cases may use.
    pub(super) folder: PathBuf,
    /// A folder of cases or a file of them. `None` if there is none.
    pub(super) cases: Option<PathBuf>,
}

/// Finds the components that the command line names. Builds a project.
///
/// # Errors
/// The project cannot be built, or a directory contains neither a project nor a component.
pub(super) async fn find(
    arguments: &BenchArguments,
    interrupts: &mut Interrupts,
    context: &Context,
) -> anyhow::Result<Vec<BenchTarget>> {
    let path = &arguments.plugin;
    if path.join(PROJECT_FILE).exists() {
        let (_, file) = making::component(path, "interrupted: nothing was measured", interrupts, context).await?;
        let cases = arguments.cases.clone().or_else(|| first_that_exists([path.join(CASES)]));
        return Ok(vec![BenchTarget { file, folder: path.clone(), cases }]);
    }
    if !path.is_dir() {
        let folder = folder_of(path);
        let cases = arguments.cases.clone().or_else(|| cases_of_file(path, &folder));
        return Ok(vec![BenchTarget { file: path.clone(), folder, cases }]);
    }
    let names = user_files::list(path).with_context(|| path.display().to_string())?;
    let files: Vec<PathBuf> =
        names.iter().filter(|name| name.ends_with(EXTENSION)).map(|name| path.join(name)).collect();
    let none = || format!("{} contains no {PROJECT_FILE} and no component", path.display());
    ensure!(!files.is_empty(), CommandError::new(FailureCode::ProjectInvalid, none()));
    let of_one = "--cases belongs to one plugin: name its file instead of a directory";
    ensure!(arguments.cases.is_none(), CommandError::new(FailureCode::Usage, of_one));
    let target = |file: PathBuf| BenchTarget { cases: cases_by_name(&file, path), folder: path.clone(), file };
    Ok(files.into_iter().map(target).collect())
}

/// Returns the cases of a component: those of its name, else those next to it, else those of the project that it was
/// built in.
fn cases_of_file(file: &Path, folder: &Path) -> Option<PathBuf> {
    // `portcullis build` writes the component into the folder `plugins` of the project.
    let project = folder.join("..");
    let of_project = project.join(PROJECT_FILE).exists().then(|| project.join(CASES));
    let beside = || first_that_exists([Some(folder.join(CASES)), of_project].into_iter().flatten());
    cases_by_name(file, folder).or_else(beside)
}

/// Returns the cases of a component in a directory of several: `tests/NAME` or `tests/NAME.json`.
fn cases_by_name(file: &Path, folder: &Path) -> Option<PathBuf> {
    let (cases, name) = (folder.join(CASES), Path::new(file.file_stem()?));
    first_that_exists([cases.join(name), cases.join(name.with_extension("json"))])
}

fn first_that_exists(paths: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    paths.into_iter().find(|path| path.exists())
}

fn folder_of(file: &Path) -> PathBuf {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}
