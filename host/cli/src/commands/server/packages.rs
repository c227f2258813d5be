//! The installed packages of the state directory: finds, installs and removes them.

use crate::context::Context;
use crate::failure::{FailureCode, WithCode};
use crate::user_files;
use anyhow::Context as _;
use portcullis::plugins::packages_of;
use portcullis::policy::{Binding, DependencyKey, PluginName, Policy, ProcessBinding, ServerAddress, ServerPolicy};
use portcullis::text::OneLine;
use portcullis_packages::{InstallOptions, InstalledPackage, PackageKind, PackageSpec, PackageStore, Runtime};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// The packages of a state directory.
#[derive(Clone)]
pub(in crate::commands) struct Packages(Arc<PackageStore>);

/// A package that can be used on this machine.
pub(in crate::commands) struct UsablePackage {
    pub(in crate::commands) installed: InstalledPackage,
    /// Whether this command has installed it.
    pub(in crate::commands) is_new: bool,
}

impl Packages {
    /// Opens the folder of packages, and removes what killed installations have left there.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub(in crate::commands) fn open(context: &Context) -> anyhow::Result<Self> {
        let folder = packages_of(context.environment.state()?);
        let store = PackageStore::open(&folder).code(FailureCode::StateUnavailable)?;
        store.remove_unfinished().code(FailureCode::StateUnavailable)?;
        Ok(Self(Arc::new(store)))
    }

    /// Lists the packages of a state directory. There are none if the folder does not exist.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(in crate::commands) fn list(context: &Context) -> anyhow::Result<Vec<InstalledPackage>> {
        let folder = packages_of(context.environment.state()?);
        let store = PackageStore::open_existing(&folder).code(FailureCode::StateUnavailable)?;
        let listed = store.map(|store| store.list()).transpose().code(FailureCode::StateUnavailable)?;
        Ok(listed.unwrap_or_default())
    }

    /// Asks the registry for the newest version of a package.
    ///
    /// # Errors
    /// npm or pip is missing or fails, or there is no such package.
    pub(in crate::commands) async fn newest(
        kind: PackageKind,
        name: String,
        range: Option<String>,
        context: &Context,
    ) -> anyhow::Result<PackageSpec> {
        context.terminal.note(format_args!("asking for the newest version of {}", OneLine(&name)));
        let store = Self::open(context)?.0;
        let newest = move || store.newest(kind, &name, range.as_deref(), &InstallOptions::default());
        spawn_blocking(newest).await?.code(FailureCode::PackageUnavailable)
    }

    /// Returns the package as it is installed, if it is.
    pub(in crate::commands) fn find(&self, spec: &PackageSpec) -> anyhow::Result<Option<InstalledPackage>> {
        Ok(self.0.installations(spec)?.into_iter().next())
    }

    /// Returns the package, and installs it if it is missing, damaged, or for another platform. Reports on stderr.
    ///
    /// # Errors
    /// npm, pip, Node.js or Python is missing or fails, or the package breaks a rule of pinned packages.
    pub(in crate::commands) async fn ensure(
        &self,
        spec: &PackageSpec,
        program: Option<&str>,
        context: &Context,
    ) -> anyhow::Result<UsablePackage> {
        let mut known = self.0.installations(spec)?.into_iter();
        let options = InstallOptions::default();
        let runtime = Runtime::find(spec.kind(), &options.environment).code(FailureCode::PackageUnavailable)?;
        // Of several installations of one version, none is known to be the right one.
        if let (Some(installed), None) = (known.next(), known.next()) {
            // This hashes every file of the package.
            let (installed, is_whole) = spawn_blocking(move || {
                let whole = installed.verify().is_ok();
                (installed, whole)
            })
            .await?;
            if is_whole && installed.command(&runtime, program, None).is_ok() {
                return Ok(UsablePackage { installed, is_new: false });
            }
        }
        context.terminal.note(format_args!("installing {spec}; no code of it is run"));
        let (store, wanted) = (Arc::clone(&self.0), spec.clone());
        let installed = spawn_blocking(move || store.install(&wanted, &options)).await?;
        let installed = installed.code(FailureCode::PackageUnavailable)?;
        // Before the others are removed, because the new one may lack the program.
        installed.command(&runtime, program, None).code(FailureCode::PackageUnavailable)?;
        self.remove_others(&installed)?;
        note_installed(&installed, context);
        Ok(UsablePackage { installed, is_new: true })
    }

    /// Removes earlier installations of the same version. A server needs exactly one.
    fn remove_others(&self, kept: &InstalledPackage) -> anyhow::Result<()> {
        let installations = self.0.installations(kept.spec())?;
        let mut others = installations.iter().filter(|other| other.tree_hash() != kept.tree_hash());
        others.try_for_each(|other| Ok(self.0.remove(other)?))
    }

    /// Removes a package, unless a policy of the user names it. Returns whether it was there and is gone.
    ///
    /// # Errors
    /// A policy cannot be read, or the package cannot be removed.
    pub(in crate::commands) fn remove_unused(&self, spec: &PackageSpec, context: &Context) -> anyhow::Result<bool> {
        if is_named(spec, context)? {
            return Ok(false);
        }
        let mut removed = false;
        for installed in &self.0.installations(spec)? {
            self.0.remove(installed)?;
            removed = true;
        }
        Ok(removed)
    }
}

fn note_installed(installed: &InstalledPackage, context: &Context) {
    let count = installed.dependencies().len();
    let packages = if count == 1 { "1 package".to_owned() } else { format!("{count} packages") };
    context.terminal.note(format_args!(
        "installed {}: {packages}, {} files, sha256 {}",
        installed.spec(),
        installed.files().len(),
        installed.tree_hash()
    ));
    let skipped = installed.dependencies().iter().filter(|dependency| dependency.skipped_script);
    let skipped: Vec<&str> = skipped.map(|dependency| dependency.name.as_str()).collect();
    if !skipped.is_empty() {
        context.terminal.note(format_args!(
            "note: these packages have an installation script, which was not run: {}",
            OneLine(&skipped.join(", "))
        ));
    }
}

/// Returns whether a policy of the user names a package. A policy that cannot be understood may name it.
fn is_named(spec: &PackageSpec, context: &Context) -> anyhow::Result<bool> {
    let own = &context.environment.policy;
    let mut files: Vec<PathBuf> = own.files();
    // All projects share the installed packages, so all policies of the user count.
    if let Some(config) = &context.environment.user.config {
        files.push(config.join("policy.toml"));
        let projects = config.join("projects");
        let names = user_files::list(&projects).with_context(|| projects.display().to_string())?;
        files.extend(names.iter().filter(|name| name.ends_with(".toml")).map(|name| projects.join(name)));
    }
    for file in files {
        if file_names(&file, spec)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn file_names(file: &Path, spec: &PackageSpec) -> anyhow::Result<bool> {
    let Some(bytes) = user_files::read(file).with_context(|| file.display().to_string())? else { return Ok(false) };
    let Ok(text) = String::from_utf8(bytes) else { return Ok(true) };
    let Ok(policy) = Policy::parse(&text) else { return Ok(text.contains(spec.name())) };
    let named = |name: &PluginName| package_of(&policy, name).as_ref() == Some(spec);
    Ok(policy.servers().any(named))
}

/// Returns the program of a server.
pub(in crate::commands) fn program_of<'p>(policy: &'p Policy, server: &PluginName) -> Option<&'p ProcessBinding> {
    let key = DependencyKey::new(ServerPolicy::BINDING).ok()?;
    match policy.bindings(server).get(&key)? {
        Binding::Process(process) => Some(process),
        Binding::Directory(_) | Binding::Http(_) | Binding::Store(_) | Binding::Service(_) | Binding::Tools(_) => None,
    }
}

/// Returns the address of a server, if it is reached over HTTP.
pub(in crate::commands) fn address_of<'p>(policy: &'p Policy, server: &PluginName) -> Option<&'p ServerAddress> {
    let key = DependencyKey::new(ServerPolicy::BINDING).ok()?;
    match policy.bindings(server).get(&key)? {
        Binding::Http(client) => client.server.as_deref(),
        Binding::Process(_) | Binding::Directory(_) | Binding::Store(_) | Binding::Service(_) | Binding::Tools(_) => {
            None
        }
    }
}

/// Returns the package of a server, if it is started from one.
pub(in crate::commands) fn package_of(policy: &Policy, server: &PluginName) -> Option<PackageSpec> {
    program_of(policy, server)?.server_package()?.spec.parse().ok()
}
