//! Tests of grants whose links change while they are opened.

use super::*;
use crate::places::HostDirectories;
use crate::policy_in_force::PolicyInForce;
use portcullis_policy::{Escalation, GrantPlaceKind, ProcessLimits};
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

/// A project with a link `work`, next to the places of a host.
struct LinkFixture(PathBuf);

impl LinkFixture {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("portcullis-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for folder in ["project/one", "project/two", "copy/one", "plugins"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        symlink("one", root.join("project/work")).unwrap();
        symlink("one", root.join("copy/work")).unwrap();
        Self(root.canonicalize().unwrap())
    }
}

impl LinkFixture {
    /// Returns the grant as it was trusted: `work` in the project led to `one`.
    fn trusted(
        &self,
        (plugin, key): (&PluginName, &DependencyKey),
        kind: GrantPlaceKind,
        path: &str,
    ) -> [GrantPlace; 1] {
        let (plugin, key) = (plugin.clone(), key.clone());
        let written = self.0.join("project/work").join(path).to_string_lossy().into_owned();
        let resolved = self.0.join("project/one").join(path);
        [GrantPlace { plugin, key, kind, written, resolved, fault: None }]
    }

    /// Changes the link `work`.
    fn link(&self, target: &str) {
        fs::remove_file(self.0.join("project/work")).unwrap();
        symlink(target, self.0.join("project/work")).unwrap();
    }
}

impl Drop for LinkFixture {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_grant_that_leads_elsewhere_than_when_it_was_trusted_is_refused() {
    let fixture = LinkFixture::new("grant-moved");
    let (plugin, key) = ("files".parse::<PluginName>().unwrap(), DependencyKey::new("workspace").unwrap());
    let base = PathBase::from(fixture.0.join("project"));
    let trusted = fixture.trusted((&plugin, &key), GrantPlaceKind::Directory, "");
    let place = BindingPlace { plugin: &plugin, key: &key, base: &base, trusted: &trusted };
    place.check_trusted().unwrap();
    fixture.link("two");
    let refused = place.check_trusted().unwrap_err();
    assert!(refused.to_string().contains("project/two"), "{refused}");
}

/// The link changes after it was checked, and before what it leads to is opened.
#[test]
fn a_grant_is_refused_if_its_link_changes_before_it_is_opened() {
    let fixture = LinkFixture::new("grant-raced");
    for folder in ["one", "two"] {
        let tool = fixture.0.join("project").join(folder).join("tool");
        fs::write(&tool, folder).unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let state = HostDirectories::open(&fixture.0.join("state").into()).unwrap();
    let (policy, base) = (PolicyInForce::deny_all(), PathBase::from(fixture.0.join("project")));
    let opening = policy.opening(&state, &[]);
    let (plugin, key) = ("files".parse::<PluginName>().unwrap(), DependencyKey::new("workspace").unwrap());
    let is_moved = |refused: Option<GrantError>| {
        matches!(refused, Some(GrantError::ProjectGrant(ProjectGrantError::Moved { now, .. }))
            if now.starts_with(fixture.0.join("project/two")))
    };
    for (target, is_refused) in [("one", false), ("two", true)] {
        fixture.link(target);
        let trusted = fixture.trusted((&plugin, &key), GrantPlaceKind::Directory, "");
        let place = BindingPlace { plugin: &plugin, key: &key, base: &base, trusted: &trusted };
        let (path, hidden, read_only, writable) = (trusted[0].written.clone(), Vec::new(), Vec::new(), Vec::new());
        let binding = DirectoryBinding { path, access: Access::ReadOnly, narrow: None, hidden, read_only, writable };
        assert_eq!(is_moved(place.directory(&binding, &opening).err()), is_refused, "the directory in {target}");
        let trusted = fixture.trusted((&plugin, &key), GrantPlaceKind::ConfinedProgram, "tool");
        let place = BindingPlace { plugin: &plugin, key: &key, base: &base, trusted: &trusted };
        let binding = ProcessBinding {
            program: trusted[0].written.clone(),
            directories: Vec::new(),
            network: ProcessNetwork::None,
            environment: BTreeMap::new(),
            require: None,
            escalate: Escalation::Never,
            limits: ProcessLimits::default(),
            server: None,
        };
        let bound = place.program(&binding, &BTreeMap::new(), None, &opening);
        assert_eq!(is_moved(bound.err()), is_refused, "the program in {target}");
    }
}

/// The directory of the project was replaced after the host opened it.
#[test]
fn a_directory_that_is_not_at_its_resolved_path_is_refused() {
    let fixture = LinkFixture::new("grant-replaced");
    let state = HostDirectories::open(&fixture.0.join("state").into()).unwrap();
    let plugins = [OwnPlace::if_exists("the plugin directory", &fixture.0.join("plugins")).unwrap()];
    let policy = PolicyInForce::deny_all();
    let (plugin, key) = ("files".parse::<PluginName>().unwrap(), DependencyKey::new("workspace").unwrap());
    let (path, hidden, read_only, writable) = ("work".to_owned(), Vec::new(), Vec::new(), Vec::new());
    let binding = DirectoryBinding { path, access: Access::ReadOnly, narrow: None, hidden, read_only, writable };
    for (project, is_refused) in [("copy", false), ("project", true)] {
        let opened = openat(CWD, fixture.0.join("copy"), OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let base = PathBase::confined(fixture.0.join(project), opened);
        let place = BindingPlace { plugin: &plugin, key: &key, base: &base, trusted: &[] };
        let bound = place.directory(&binding, &policy.opening(&state, &plugins));
        assert_eq!(bound.is_err_and(|error| error.to_string().contains("project/one")), is_refused, "{project}");
    }
}
