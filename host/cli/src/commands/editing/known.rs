//! What an edit is checked against: the other layers of the policy, the installed tools and the remembered approvals.

use crate::context::Context;
use crate::environment::{PolicyPlaces, UserPolicyFile};
use crate::failure::OpenFault;
use crate::opening;
use crate::policy_file::EditedPolicyFile;
use crate::style::TextStyle;
use portcullis::Host;
use portcullis::plugins::{Catalog, known_tool};
use portcullis::policy::{KnownTool, Layers, Trust};
use portcullis::policy_files::{BUILT_IN_POLICY, ProjectPolicy};
use portcullis::text::{OneLine, WithCauses};
use std::path::PathBuf;
use std::sync::Arc;

/// The user's policy file, and everything else that decides what an edit of it changes.
pub(crate) struct KnownPolicy {
    pub(crate) file: EditedPolicyFile,
    project: Option<(String, Trust)>,
    /// The host under the policy as it is, or none if it cannot open for another reason than the policy.
    host: Option<Host>,
    catalog: Option<Arc<Catalog>>,
}

impl KnownPolicy {
    /// Reads the policy and opens the host.
    ///
    /// # Errors
    /// The policy cannot be read, or has an error.
    pub(crate) async fn read(context: &Context) -> anyhow::Result<Self> {
        let file = EditedPolicyFile::read(&context.environment.policy)?;
        let host = match open(context, &file).await {
            Ok(host) => Some(host),
            // An edit needs a valid policy to start from. Other faults of the host do not concern it.
            Err(error) if error.downcast_ref().is_some_and(|error| OpenFault::of(error).is_of_policy()) => {
                return Err(error);
            }
            Err(error) => {
                let why = WithCauses(&*error).to_string();
                let note = format!(
                    "the installed tools are not known, so the edit is not checked against them: {}",
                    OneLine(&why)
                );
                context.terminal.note(context.terminal.note_style().paint(TextStyle::Doubtful, note));
                None
            }
        };
        let project = project(context, host.as_ref()).await?;
        let catalog = host.as_ref().map(Host::catalog);
        Ok(Self { file, project, host, catalog })
    }

    /// Reads the policy without the installed tools, and starts no server.
    ///
    /// # Errors
    /// The policy cannot be read, or has an error.
    pub(crate) async fn read_alone(context: &Context) -> anyhow::Result<Self> {
        let file = EditedPolicyFile::read(&context.environment.policy)?;
        let places = &context.environment.policy;
        let host = match file.exists() {
            true => opening::open_policy(context).await?,
            false => opening::open_policy_under(context, &without_user(places)).await?,
        };
        let project = project(context, Some(&host)).await?;
        Ok(Self { file, project, host: Some(host), catalog: None })
    }

    /// Returns the layers with a text of the user's policy.
    pub(crate) fn layers<'t>(&'t self, user: &'t str) -> Layers<'t> {
        let project = self.project.as_ref().map(|(text, trust)| (text.as_str(), *trust));
        Layers { built_in: Some(BUILT_IN_POLICY), user: Some(user), project }
    }

    /// Returns the installed tools, as rules see them.
    pub(crate) fn tools(&self) -> Vec<KnownTool<'_>> {
        self.catalog.iter().flat_map(|catalog| catalog.tools()).map(|(_, tool)| known_tool(tool)).collect()
    }

    pub(crate) fn host(&self) -> Option<&Host> {
        self.host.as_ref()
    }

    pub(crate) fn catalog(&self) -> Option<&Catalog> {
        self.catalog.as_deref()
    }
}

async fn open(context: &Context, file: &EditedPolicyFile) -> anyhow::Result<Host> {
    if file.exists() {
        return opening::open(context).await;
    }
    // A policy that was named and does not exist is made by the edit.
    opening::open_under(context, &without_user(&context.environment.policy)).await
}

/// Returns where policies are looked for if the user has none.
fn without_user(places: &PolicyPlaces) -> PolicyPlaces {
    match places {
        // The named file does not exist, so it has no layer.
        PolicyPlaces::Named(path) => PolicyPlaces::Usual { user: None, project: path.clone() },
        PolicyPlaces::Usual { user: _, project } => PolicyPlaces::Usual { user: None, project: project.clone() },
    }
}

/// Reads the project's policy and whether it is trusted.
async fn project(context: &Context, host: Option<&Host>) -> anyhow::Result<Option<(String, Trust)>> {
    let PolicyPlaces::Usual { user: _, project } = &context.environment.policy else { return Ok(None) };
    let Some(policy) = ProjectPolicy::read_with_home(project, context.environment.home()).await? else {
        return Ok(None);
    };
    // Without a host this is not known, so the policy of the project counts as untrusted.
    let trusted = host.is_some_and(|host| host.untrusted_policy().is_none());
    Ok(Some((policy.text().to_owned(), if trusted { Trust::Trusted } else { Trust::Untrusted })))
}

/// Returns where policies are looked for with another file as the user's.
pub(crate) fn with_user(places: &PolicyPlaces, user: PathBuf) -> PolicyPlaces {
    match places {
        PolicyPlaces::Named(_) => PolicyPlaces::Named(user),
        PolicyPlaces::Usual { user: known, project } => {
            let of_project = known.as_ref().and_then(|known| known.project.clone());
            let user = UserPolicyFile { path: user, project: of_project };
            PolicyPlaces::Usual { user: Some(user), project: project.clone() }
        }
    }
}
