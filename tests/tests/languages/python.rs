//! The Python module of a project runs while it is built, and leaves nothing there for the builds after it.

use crate::row::repository;
use portcullis_tests::{Ran, program};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Writes wherever it can: into each folder that modules come from, and into a package that others have too.
const WRITES: &str = r#"
import idna
WROTE = []
for number in range(9):
    try:
        with open(f"/{number}/portcullis_stray.pth", "w") as file:
            file.write("")
        WROTE.append(number)
    except OSError:
        pass
assert WROTE == [0, 1, 2, 3, 4], WROTE
with open(idna.__file__, "a") as file:
    file.write("\nPOISONED = True\n")
"#;

/// Fails where the one above left something, or where it finds packages that it did not ask for.
const LOOKS: &str = r#"
import importlib.util
import os
import idna
assert not hasattr(idna, "POISONED")
assert importlib.util.find_spec("pip") is None
assert os.listdir("/4") == [], os.listdir("/4")
STRAYS = [number for number in range(5) if os.path.exists(f"/{number}/portcullis_stray.pth")]
assert STRAYS == [], STRAYS
"#;

#[test]
fn a_module_leaves_nothing_for_other_builds() {
    let place = tempfile::tempdir().unwrap();
    build(place.path(), "writes", WRITES).ends(0);
    build(place.path(), "looks", LOOKS).ends(0);
}

/// Builds a project of one tool and a package, with this code at the top of its module.
fn build(place: &Path, name: &str, code: &str) -> Ran {
    let (project, sdk) = (place.join(name), repository().join("sdk/python"));
    fs::create_dir(&project).unwrap();
    let about = format!("name = \"{name}\"\nlanguage = \"python\"\nsdk = \"{}\"\n", sdk.display());
    fs::write(project.join("plugin.toml"), about).unwrap();
    fs::write(project.join("requirements.txt"), "idna==3.10\n").unwrap();
    let plugin =
        format!("from portcullis import Plugin\nplugin = Plugin({name:?}, version='1.0.0', description='Tests.')");
    let tool = "@plugin.tool()\ndef nothing() -> None:\n    '''Does nothing.'''\n";
    fs::write(project.join("app.py"), format!("{code}\n{plugin}\n{tool}")).unwrap();
    Command::new(program()).arg("build").arg(&project).output().unwrap().into()
}
