//! Paths that begin with the home directory: `~` and `$HOME`. This file only takes a path apart. The host knows where
//! the home directory is.

/// Returns the rest of a path that begins with the home directory: the text after `~/` or `$HOME/`, which is empty for
/// the home directory itself. Returns `None` for every other path, such as `~ann`, `a/~`, `./~` and `${HOME}`.
pub fn below_home(path: &str) -> Option<&str> {
    let rest = path.strip_prefix('~').or_else(|| path.strip_prefix("$HOME"))?;
    let is_whole_name = rest.is_empty() || rest.starts_with('/');
    // Without the slashes, so that joining the rest to a directory never makes it an absolute path.
    is_whole_name.then(|| rest.trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_home_directory_at_the_beginning_of_a_path_is_found() {
        for (path, rest) in [
            ("~", ""),
            ("~/", ""),
            ("~/a/b", "a/b"),
            ("~//etc", "etc"),
            ("$HOME", ""),
            ("$HOME/.config", ".config"),
            ("~/../ann", "../ann"),
        ] {
            assert_eq!(below_home(path), Some(rest), "{path}");
        }
        for path in ["", ".", "a/~", "./~", "~ann", "~ann/x", "$HOMER/x", "${HOME}/x", "$USER", "/~", " ~", "\\~"] {
            assert_eq!(below_home(path), None, "{path}");
        }
    }
}
