//! Several projects of one user: the build of one must not contain anything of another.

use crate::templates::shell;
use std::fs;
use std::path::Path;

/// Writes the crate `rules` of a project, which returns this text.
fn rules(project: &Path, who: &str) {
    let folder = project.join("rules");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), "[package]\nname = \"rules\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
        .unwrap();
    fs::write(folder.join("src/lib.rs"), format!("pub fn who() -> &'static str {{ \"{who}\" }}\n")).unwrap();
    let (manifest, source) = (project.join("Cargo.toml"), project.join("src/lib.rs"));
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("[dependencies]", "[dependencies]\nrules = { path = \"rules\" }")).unwrap();
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, text.replace("\"Hello, {}!\", arguments.name", "\"{}\", rules::who()")).unwrap();
}

/// All crates of a user are compiled in one folder. Cargo distinguishes two crates with one name by the times of their
/// files, which is not enough if one project's files are older.
#[test]
fn a_crate_of_another_project_with_the_same_name_is_not_used() {
    let place = tempfile::tempdir().unwrap();
    let state = place.path().join("state");
    let checkouts = ["mine", "theirs"].map(|who| place.path().join(who));
    for (checkout, who) in checkouts.iter().zip(["mine", "theirs"]) {
        fs::create_dir(checkout).unwrap();
        shell(checkout, &state, "portcullis new same --lang rust").ends(0);
        rules(&checkout.join("same"), who);
    }
    let [mine, theirs] = checkouts.map(|checkout| checkout.join("same"));
    shell(&theirs, &state, "portcullis build").ends(0);
    shell(&mine, &state, "portcullis build").ends(0);
    let call = "portcullis call same.greet '{\"name\":\"Ada\"}' --policy portcullis.toml";
    assert_eq!(shell(&mine, &state, call).ends(0).out.trim_end(), "mine");
    assert_eq!(shell(&theirs, &state, call).ends(0).out.trim_end(), "theirs");
}
