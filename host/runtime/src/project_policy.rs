//! The policy that a project brings: its text, its path, and the places that its grants lead to. The user trusts all
//! three together, so trust does not extend to a copy of the text elsewhere or to a link that is added later.

mod grant_place;

pub use grant_place::{GrantPlace, GrantPlaceFault};

use crate::ledger::blocking;
use crate::places::{PlaceError, PolicyFile, resolve};
use crate::policy_text::{self, PolicyReadError};
use crate::text::sha256;
use grant_place::grant_places;
use portcullis_policy::{DependencyKey, PluginName};
use portcullis_sandbox::PathBase;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Prefix of every hashed identity, so that it never equals the plain hash of a text, which earlier versions trusted.
const IDENTITY_DOMAIN: &[u8] = b"portcullis project policy, version 2";

/// A policy file of a project, read once.
pub struct ProjectPolicy {
    pub(crate) file: PolicyFile,
    /// The path as it was named.
    pub(crate) path: PathBuf,
    place: PathBuf,
    grants: Vec<GrantPlace>,
}

/// Why a grant of a project's policy is not opened, or its policy not trusted.
#[derive(Debug, thiserror::Error)]
pub enum ProjectGrantError {
    /// It leads to another place than when the user trusted it.
    #[error(
        "the grant {plugin}.{key} ({path}) now leads to {}, which is not the place that was trusted: check it, then \
         run `portcullis trust` for the policy again", now.display()
    )]
    Moved {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The path in the policy.
        path: String,
        /// Where it leads now.
        now: PathBuf,
    },
    /// A policy with it cannot be trusted.
    #[error("the policy {} cannot be trusted: the grant {plugin}.{key} ({path}): {fault}", policy.display())]
    Untrustworthy {
        /// The policy.
        policy: PathBuf,
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
        /// The path in the policy.
        path: String,
        /// Why.
        fault: GrantPlaceFault,
    },
}

impl ProjectPolicy {
    /// Reads a project's policy and resolves the places of its grants. Returns `None` if there is no file. A grant of a
    /// path that begins with `~` or `$HOME` is at fault, because no home directory is known.
    ///
    /// # Errors
    /// The file cannot be read or is not a policy.
    pub async fn read(path: &Path) -> Result<Option<Self>, PolicyReadError> {
        Self::read_with_home(path, None).await
    }

    /// Reads a project's policy like [`ProjectPolicy::read`]. `home` is what `~` and `$HOME` stand for in its paths,
    /// and must be the same as for the host ([`crate::HostBuilder::home`]).
    ///
    /// # Errors
    /// The file cannot be read or is not a policy.
    pub async fn read_with_home(path: &Path, home: Option<&Path>) -> Result<Option<Self>, PolicyReadError> {
        let (path, home) = (path.to_owned(), home.map(Path::to_owned));
        blocking(move || Self::blocking_read(&path, home.as_deref())).await
    }

    /// Reads a project's policy on a thread that may block.
    pub(crate) fn blocking_read(path: &Path, home: Option<&Path>) -> Result<Option<Self>, PolicyReadError> {
        let Some(file) = PolicyFile::read(path)? else { return Ok(None) };
        let policy = policy_text::parse(&file.text, path)?;
        let failed = |source| PlaceError::Io { what: "the policy", path: path.to_owned(), source };
        let root = resolve(&file.directory).map_err(failed)?;
        // The place of the file itself, even if it is a link, because its grants start from its directory.
        let place = root.join(path.file_name().unwrap_or_default());
        let grants = grant_places(&policy, &root, home);
        Ok(Some(Self { file, path: path.to_owned(), place, grants }))
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.file.text
    }

    /// Returns the SHA-256 of the text.
    pub fn sha256(&self) -> String {
        sha256(&self.file.text)
    }

    /// Returns the path of the file, with all directories resolved.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Returns the places that its grants lead to.
    pub fn grants(&self) -> &[GrantPlace] {
        &self.grants
    }

    /// Returns the base of its relative paths, which they must not leave.
    pub(crate) fn base(&self) -> Result<PathBase, PlaceError> {
        let failed = |source| PlaceError::Io { what: "the policy", path: self.path.clone(), source };
        let handle = self.file.handle.try_clone().map_err(failed)?;
        Ok(PathBase::confined(self.file.directory.clone(), handle.into_std_file().into()))
    }

    /// Returns the first grant that keeps the policy from being trusted.
    pub fn fault(&self) -> Option<(&GrantPlace, &GrantPlaceFault)> {
        self.grants.iter().find_map(|grant| Some((grant, grant.fault.as_ref()?)))
    }

    /// Returns the identity that the user trusts: a hash over the place, the text and the places of the grants.
    pub fn identity(&self) -> String {
        let mut bytes = Vec::new();
        let mut field = |field: &[u8]| {
            // Prefix each field with its length, so that two different lists never have the same bytes.
            bytes.extend_from_slice(&(field.len() as u64).to_le_bytes());
            bytes.extend_from_slice(field);
        };
        field(IDENTITY_DOMAIN);
        field(self.place.as_os_str().as_bytes());
        field(self.file.text.as_bytes());
        for grant in &self.grants {
            field(grant.plugin.as_str().as_bytes());
            field(grant.key.as_str().as_bytes());
            field(grant.kind.as_str().as_bytes());
            field(grant.resolved.as_os_str().as_bytes());
        }
        sha256(bytes)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the project and changes it")]
mod tests {
    use super::*;
    use crate::approvals::TrustError;
    use crate::{Compiler, Host, open_approvals};
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A project with these directories, next to a directory `out`.
    struct ProjectFixture(PathBuf);

    impl ProjectFixture {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("portcullis-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&root);
            for folder in ["plugins", "project/sub", "project/other", "copy/sub", "out/sub"] {
                fs::create_dir_all(root.join(folder)).unwrap();
            }
            Self(root.canonicalize().unwrap())
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.join(path)
        }

        fn write(&self, project: &str, grant: &str) {
            let text = format!(
                "[plugin.files]\ndirectory.workspace = {{ path = \"{grant}\", access = \"read-only\" }}\n\
                 [[rule]]\ntool = \"files.*\"\ndecision = \"allow\"\n"
            );
            fs::write(self.path(project).join("portcullis.toml"), text).unwrap();
        }

        async fn read(&self, project: &str) -> ProjectPolicy {
            ProjectPolicy::read(&self.path(project).join("portcullis.toml")).await.unwrap().unwrap()
        }

        async fn trust(&self, project: &str) -> Result<String, TrustError> {
            open_approvals(&self.path("state")).await.unwrap().trust_policy(&self.read(project).await).await
        }

        /// Returns whether a host that opens in the project trusts its policy.
        async fn trusts(&self, project: &str) -> bool {
            let builder =
                Host::builder(self.path("plugins"), self.path("state")).compiler(Compiler::InProcess).calls(1);
            let host = builder.project_policy(self.path(project).join("portcullis.toml")).open().await.unwrap();
            host.untrusted_policy().is_none()
        }

        /// Replaces `sub` with a link.
        fn link(&self, to: &Path) {
            let sub = self.path("project/sub");
            if fs::symlink_metadata(&sub).unwrap().is_dir() {
                fs::remove_dir(&sub).unwrap();
            } else {
                fs::remove_file(&sub).unwrap();
            }
            symlink(to, sub).unwrap();
        }
    }

    impl Drop for ProjectFixture {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[tokio::test]
    async fn trust_is_bound_to_the_place_the_text_and_the_places_of_grants() {
        let desk = ProjectFixture::new("trust-bound");
        desk.write("project", "sub");
        desk.write("copy", "sub");
        assert!(!desk.trusts("project").await);
        desk.trust("project").await.unwrap();
        assert!(desk.trusts("project").await);
        assert!(!desk.trusts("copy").await, "the same text elsewhere");
        desk.link(Path::new("other"));
        assert!(!desk.trusts("project").await, "another place inside of the project");
        desk.trust("project").await.unwrap();
        assert!(desk.trusts("project").await);
        let approvals = open_approvals(&desk.path("state")).await.unwrap();
        assert!(approvals.distrust_policy(&desk.path("project/portcullis.toml")).await.unwrap());
        assert!(!approvals.distrust_policy(&desk.path("project/portcullis.toml")).await.unwrap());
        // Earlier versions trusted the hash of the text.
        approvals.trust(&desk.read("project").await.sha256(), "portcullis.toml").await.unwrap();
        drop(approvals);
        assert!(!desk.trusts("project").await);
    }

    #[tokio::test]
    async fn a_policy_whose_relative_grant_leads_out_is_never_trusted() {
        let desk = ProjectFixture::new("trust-out");
        desk.write("project", "sub");
        desk.trust("project").await.unwrap();
        for target in [desk.path("out"), PathBuf::from("../out"), desk.path("out/nothing"), PathBuf::from("..")] {
            desk.link(&target);
            assert!(!desk.trusts("project").await, "{}", target.display());
            let refused = desk.trust("project").await.unwrap_err();
            assert!(matches!(refused, TrustError::Grant(ProjectGrantError::Untrustworthy { .. })), "{refused}");
        }
        desk.write("project", "../out");
        assert!(desk.trust("project").await.is_err());
        // With an absolute path, the place is the one that the user saw.
        desk.write("project", desk.path("out").to_str().unwrap());
        desk.trust("project").await.unwrap();
        assert!(desk.trusts("project").await);
        assert_eq!(desk.read("project").await.grants()[0].resolved, desk.path("out"));
    }

    #[tokio::test]
    async fn a_missing_place_may_be_made_as_a_directory_and_not_as_a_link() {
        let desk = ProjectFixture::new("trust-late");
        desk.write("project", "late/deep");
        desk.trust("project").await.unwrap();
        fs::create_dir_all(desk.path("project/late/deep")).unwrap();
        assert!(desk.trusts("project").await);
        fs::remove_dir_all(desk.path("project/late")).unwrap();
        symlink("other", desk.path("project/late")).unwrap();
        assert!(!desk.trusts("project").await);
    }
}
