//! `glob`: finds the files whose paths match a pattern.

use globset::{GlobBuilder, GlobMatcher};
use portcullis_sdk::prelude::*;

use crate::coverage::Coverage;
use crate::list::workspace_itself;
use crate::place::Place;
use crate::text;
use crate::walk::{self, Next};
use crate::workspace::Workspace;

/// Default number of paths to show.
const PATHS_DEFAULT: usize = 500;

#[arguments]
pub(crate) struct Glob {
    /// For example `src/**/*.rs`, `*.{json,toml}`. `*` stays within a segment, `**` does not. A pattern without `/`
    /// matches names at any depth.
    pattern: String,
    /// The directory to look in, relative to the workspace. The pattern is relative to it.
    #[serde(default = "workspace_itself")]
    path: String,
    /// How many paths to show.
    #[serde(default = "paths_default")]
    #[schemars(range(min = 1))]
    limit: usize,
}

fn paths_default() -> usize {
    PATHS_DEFAULT
}

/// Finds files by a pattern over their paths. Leaves out `.git`, what `.gitignore` names, and symbolic links. To search
/// an ignored directory, name it in `path`.
#[tool(read_only, idempotent, requires(read), title = "Find files")]
pub(crate) fn glob(arguments: Glob, context: &Context) -> Result<Success<String>, Failure> {
    let workspace = Workspace::of(context)?;
    let start = workspace.locate(&arguments.path)?;
    if !workspace.is_directory(&start)? {
        return Err(Failure::failed(format!("`{}` is a file; name a directory", start.shown())));
    }
    let pattern = Pattern::new(&arguments.pattern)?;
    let limit = arguments.limit.max(1);
    let (mut paths, mut found) = (Vec::new(), 0_usize);
    let coverage = walk::files(&workspace, &start, context, |place| {
        if pattern.matches(&start, place) {
            found += 1;
            if paths.len() < limit {
                paths.push(place.shown().to_owned());
            }
        }
        Ok(Next::GoOn)
    })?;
    Ok(answer(&arguments, paths, found, &coverage))
}

fn answer(arguments: &Glob, paths: Vec<String>, found: usize, coverage: &Coverage) -> Success<String> {
    let left_out = found - paths.len();
    let metadata = json!({
        "pattern": arguments.pattern,
        "files": found,
        "left_out": left_out,
        "whole": coverage.is_whole(),
        "not_searched": coverage.metadata(),
    });
    let mut lines = paths;
    if found == 0 {
        lines.push(format!("(no file matches `{}`)", arguments.pattern));
    }
    if left_out > 0 {
        lines.push(format!("({} left out; raise limit, or narrow the pattern)", text::count(left_out, "path")));
    }
    lines.extend(coverage.notes());
    Success::new(lines.join("\n") + "\n").title(format!("Found {}", text::count(found, "file"))).metadata(metadata)
}

/// A pattern over paths that are relative to a directory.
pub(crate) struct Pattern {
    matcher: GlobMatcher,
    names_only: bool,
}

impl Pattern {
    pub(crate) fn new(pattern: &str) -> Result<Self, Failure> {
        // The paths that are matched are relative and begin with neither.
        let relative = pattern.trim_start_matches("./").trim_start_matches('/');
        // With a literal separator, `*` stays within a segment.
        let glob = GlobBuilder::new(relative).literal_separator(true).build();
        let glob = glob.map_err(|error| Failure::invalid(format!("the pattern is not valid: {error}")))?;
        Ok(Self { matcher: glob.compile_matcher(), names_only: !relative.contains('/') })
    }

    pub(crate) fn matches(&self, start: &Place, place: &Place) -> bool {
        if self.names_only {
            return self.matcher.is_match(place.name());
        }
        let relative = place.path().strip_prefix(start.path()).unwrap_or(place.path());
        self.matcher.is_match(relative.trim_start_matches('/'))
    }
}
