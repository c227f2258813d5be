//! The places of a project that is set up.

use crate::clients::{AgentClient, ClientPlaces, ConfigScope, ServerCommand};
use crate::context::Context;
use crate::environment::{PluginPlaces, PolicyPlaces};
use crate::{project, user_files};
use anyhow::{Context as _, bail, ensure};
use std::path::{Path, PathBuf};

/// Where the parts of a set-up project are.
pub(in crate::commands) struct InitPlaces {
    /// The resolved directory of the project.
    pub(in crate::commands) project: PathBuf,
    /// The program's configuration directory.
    pub(in crate::commands) config: PathBuf,
    /// The policy of the project.
    pub(in crate::commands) policy: PathBuf,
    /// The user's plugin directory. `None` if the user named another directory, where nothing is installed.
    pub(in crate::commands) plugins: Option<PathBuf>,
    /// The program itself.
    pub(in crate::commands) program: PathBuf,
    home: Option<PathBuf>,
    config_home: Option<PathBuf>,
    /// The options that name places other than the defaults.
    options: Vec<String>,
}

impl InitPlaces {
    /// Finds the places of a project.
    ///
    /// # Errors
    /// The directory cannot be a project, or the user has no home directory.
    pub(in crate::commands) fn of(directory: Option<&Path>, context: &Context) -> anyhow::Result<Self> {
        let environment = &context.environment;
        let user = &environment.user;
        let no_home = "there is no HOME, so there is no place for your policies: set HOME, or write a policy yourself \
                       and name it with --policy";
        let config = user.config.clone().context(no_home)?;
        // `Named` can also stand for a directory that cannot be resolved, which the user did not choose.
        if let PolicyPlaces::Named(path) = &environment.policy
            && environment.policy_named
        {
            bail!(
                "the policy {} is named by --policy or PORTCULLIS_POLICY, so a policy of the project would have no \
                 effect: omit the option, or unset the variable",
                path.display()
            );
        }
        let directory = directory.unwrap_or(&environment.project);
        let project = project::resolved(directory).with_context(|| directory.display().to_string())?;
        ensure!(project.is_dir(), "{} is not a directory", directory.display());
        let state = environment.state()?;
        // A tool that can write there could change its own policy, or the ledger.
        for (what, own) in [("your policies are", config.as_path()), ("the host keeps its state", state)] {
            let own = user_files::resolve(own).with_context(|| own.display().to_string())?;
            ensure!(
                !own.starts_with(&project) && !project.starts_with(&own),
                "{} cannot be a project: {what} in {}, where no plugin may write. Run `portcullis init` in the \
                 directory of one project",
                project.display(),
                own.display()
            );
        }
        ensure!(project.to_str().is_some(), "{} is not UTF-8, so no policy can name it", project.display());
        let plugins = match &environment.plugins {
            PluginPlaces::Usual { user, .. } => user.clone(),
            PluginPlaces::Named(_) => None,
        };
        let program = std::env::current_exe().context("the system does not tell where this program is")?;
        let options = environment
            .named_places
            .iter()
            .flat_map(|(option, path)| [(*option).to_owned(), path.to_string_lossy().into_owned()]);
        Ok(Self {
            policy: project::policy_file(&config, &project),
            options: options.collect(),
            home: user.home.clone(),
            config_home: user.config_home.clone(),
            project,
            config,
            plugins,
            program,
        })
    }

    /// Returns where agents are looked for.
    pub(in crate::commands) fn clients(&self) -> ClientPlaces<'_> {
        ClientPlaces { project: &self.project, home: self.home.as_deref(), config: self.config_home.as_deref() }
    }

    /// Returns the command line with which an agent starts the server. A configuration of the project names the
    /// project.
    pub(in crate::commands) fn command(&self, client: AgentClient) -> ServerCommand {
        let mut arguments = vec!["serve".to_owned(), "--stdio".to_owned()];
        if client.scope() == ConfigScope::Project {
            arguments.extend(["--project".to_owned(), self.project.to_string_lossy().into_owned()]);
        }
        arguments.extend(self.options.iter().cloned());
        ServerCommand { program: self.program.clone(), arguments }
    }

    /// Returns a path for people, with `~` for the home directory.
    pub(in crate::commands) fn shown(&self, path: &Path) -> String {
        if let Ok(inside) = path.strip_prefix(&self.project)
            && inside != Path::new("")
        {
            return inside.display().to_string();
        }
        match self.home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }
}
