//! Reads the policy from its layers, and checks whether the user trusts the project's layer.

use crate::approvals::Approvals;
use crate::grants::Bases;
use crate::places::{OwnPlace, PolicyFile, resolve};
use crate::policy_text::{self, PolicyReadError};
use crate::project_policy::ProjectPolicy;
use crate::secret_file::SecretFile;
use crate::standard;
use crate::text::sha256;
use portcullis_policy::{Layer, Layers, Policy, Trust, below_home};
use portcullis_sandbox::PathBase;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The path that errors give for a policy that the embedder passed as text.
const TEXT_PATH: &str = "policy";

/// The sources of the policy's layers.
#[derive(Default)]
pub(crate) struct PolicySources {
    pub(crate) user: Option<UserPolicy>,
    pub(crate) project: Option<PathBuf>,
    /// What `~` and `$HOME` stand for in the paths of every layer.
    pub(crate) home: Option<PathBuf>,
    /// Directories where the user's policies are kept, present or not.
    pub(crate) directories: Vec<PathBuf>,
}

/// The user's own policy.
pub(crate) enum UserPolicy {
    File { path: PathBuf, required: bool },
    Text { text: String, base: PathBuf },
}

/// A policy that was read from all layers.
pub(crate) struct Read {
    pub(crate) policy: Policy,
    /// The SHA-256 of the text, or of all texts if there are several.
    pub(crate) sha256: String,
    pub(crate) bases: Bases,
    /// The files it was read from.
    pub(crate) files: Vec<PolicyFile>,
    /// The directories where the user's policies are kept.
    pub(crate) policy_directories: Vec<OwnPlace>,
    /// The project's policy, if there is one that the user does not trust.
    pub(crate) untrusted: Option<PathBuf>,
    /// The files of its secrets.
    pub(crate) secrets: Vec<SecretFile>,
    /// Where it was read from ([`PolicySources::identity`]).
    pub(crate) source: String,
}

/// The text of one layer, and its source.
struct LayerText {
    text: String,
    path: PathBuf,
    base: PathBuf,
}

impl PolicySources {
    /// Returns the files that the policy is read from, present or not.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let user = match &self.user {
            Some(UserPolicy::File { path, .. }) => Some(path),
            Some(UserPolicy::Text { .. }) | None => None,
        };
        user.into_iter().chain(&self.project).map(PathBuf::as_path)
    }

    /// Returns a hash of where the policy is read from: the paths of its files, and the texts that the embedder passed.
    /// It does not change when a file is edited.
    fn identity(&self) -> String {
        let user = match &self.user {
            Some(UserPolicy::File { path, .. }) => place_identity(path),
            Some(UserPolicy::Text { text, .. }) => sha256(text),
            None => String::new(),
        };
        let project = self.project.as_deref().map(place_identity).unwrap_or_default();
        // The empty place was that of a policy of the embedder's own. The ledger has identities that were made with it.
        sha256([String::new(), user, project].join("\n"))
    }

    /// Checks the text that the embedder passed, without reading a file.
    pub(crate) fn check_text(&self) -> Result<(), PolicyReadError> {
        if let Some(UserPolicy::Text { text, .. }) = &self.user {
            policy_text::parse(text, Path::new(TEXT_PATH))?;
        }
        Ok(())
    }

    /// Refuses a policy that binds a path in the home directory, if that is not known.
    fn check_home(&self, policy: &Policy, path_of: impl Fn(Layer) -> PathBuf) -> Result<(), PolicyReadError> {
        if self.home.is_some() {
            return Ok(());
        }
        for plugin in policy.plugins() {
            for (key, binding) in policy.bindings(plugin) {
                if let Some((_, written)) = binding.places().iter().find(|(_, place)| below_home(place).is_some()) {
                    let path = path_of(policy.binding_layer(plugin, key).unwrap_or(Layer::User));
                    return Err(PolicyReadError::NoHome { path, written: (*written).to_owned() });
                }
            }
        }
        Ok(())
    }

    /// Reads every layer.
    pub(crate) fn read(&self, approvals: &Approvals) -> Result<Read, PolicyReadError> {
        let mut files = Vec::new();
        let user = match &self.user {
            Some(UserPolicy::Text { text, base }) => {
                Some(LayerText { text: text.clone(), path: PathBuf::from(TEXT_PATH), base: base.clone() })
            }
            Some(UserPolicy::File { path, required }) => match file(path, &mut files)? {
                Some(text) => Some(text),
                None if *required => return Err(PolicyReadError::NoPolicy(path.clone())),
                None => None,
            },
            None => None,
        };
        let project = match &self.project {
            Some(path) => ProjectPolicy::blocking_read(path, self.home.as_deref())?,
            None => None,
        };
        let trust = match &project {
            Some(project) if approvals.trusts(project)? => Trust::Trusted,
            Some(_) | None => Trust::Untrusted,
        };
        let (project_base, project_grants) = match &project {
            Some(project) => (project.base()?.with_home(self.home.as_deref()), project.grants().to_vec()),
            None => (PathBuf::from(".").into(), Vec::new()),
        };
        let project = project.map(|project| of_file(project.file, &project.path, &mut files));
        let texts = [user.as_ref().map(|user| &*user.text), project.as_ref().map(|project| &*project.text)];
        let [of_user, of_project] = texts;
        let layers =
            Layers { built_in: Some(standard::POLICY), user: of_user, project: of_project.map(|text| (text, trust)) };
        let path_of = |layer| match layer {
            Layer::BuiltIn => PathBuf::from("the built-in policy"),
            Layer::User => user.as_ref().map(|user| user.path.clone()).unwrap_or_default(),
            Layer::Project => project.as_ref().map(|project| project.path.clone()).unwrap_or_default(),
        };
        let policy = Policy::layered(&layers).map_err(|refused| PolicyReadError::Policy {
            path: path_of(refused.layer),
            error: Box::new(refused.error),
        })?;
        let user_base = user.as_ref().map_or_else(|| PathBuf::from("."), |user| user.base.clone());
        let bases = Bases {
            user: PathBase::from(user_base).with_home(self.home.as_deref()),
            user_file: path_of(Layer::User),
            project: project_base,
            project_grants,
            project_file: path_of(Layer::Project),
        };
        // Otherwise the path of a program, for example, would lead to a directory named `~` next to the policy.
        self.check_home(&policy, path_of)?;
        let open = |path: &PathBuf| OwnPlace::if_exists("the directory of your policies", path);
        let policy_directories = self.directories.iter().map(open).collect::<Result<_, _>>()?;
        let secrets = SecretFile::of(&policy, &bases);
        Ok(Read {
            policy,
            sha256: digest(&texts),
            bases,
            secrets,
            source: self.identity(),
            untrusted: project.filter(|_| trust == Trust::Untrusted).map(|project| project.path),
            files,
            policy_directories,
        })
    }
}

/// Returns a hash of the path of a file. The file need not exist.
fn place_identity(path: &Path) -> String {
    let directory = path.parent().unwrap_or(Path::new(""));
    // No policy is read from a directory that cannot be resolved.
    let directory = resolve(directory).unwrap_or_else(|_| directory.to_owned());
    sha256(directory.join(path.file_name().unwrap_or_default()).as_os_str().as_bytes())
}

fn file(path: &Path, files: &mut Vec<PolicyFile>) -> Result<Option<LayerText>, PolicyReadError> {
    Ok(PolicyFile::read(path)?.map(|file| of_file(file, path, files)))
}

fn of_file(file: PolicyFile, path: &Path, files: &mut Vec<PolicyFile>) -> LayerText {
    let text = LayerText { text: file.text.clone(), path: path.to_owned(), base: file.directory.clone() };
    files.push(file);
    text
}

fn digest([user, project]: &[Option<&str>; 2]) -> String {
    match (user, project) {
        (Some(only), None) => sha256(only),
        (None, None) => sha256(""),
        (user, Some(project)) => {
            // The empty place was that of a policy of the embedder's own. It stays, so that the digests stay.
            sha256([String::new(), user.map(sha256).unwrap_or_default(), sha256(project)].join("\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembered trust and the audit log name policies by these.
    #[test]
    fn digests_and_identities_are_those_of_earlier_versions() {
        assert_eq!(digest(&[None, None]), sha256(""));
        assert_eq!(digest(&[Some("user"), None]), sha256("user"));
        let both = format!("\n{}\n{}", sha256("user"), sha256("project"));
        assert_eq!(digest(&[Some("user"), Some("project")]), sha256(both));
        assert_eq!(digest(&[None, Some("project")]), sha256(format!("\n\n{}", sha256("project"))));
        let user = UserPolicy::Text { text: "user".to_owned(), base: PathBuf::from(".") };
        let sources = PolicySources { user: Some(user), ..PolicySources::default() };
        assert_eq!(sources.identity(), sha256(format!("\n{}\n", sha256("user"))));
    }
}
