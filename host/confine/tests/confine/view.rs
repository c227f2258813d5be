//! What a program sees and what it can change.

use crate::lab::Lab;
use portcullis_confine::{ProgramExit, Tier};

#[tokio::test]
async fn a_program_reads_and_writes_its_directory() {
    for tier in [Tier::Namespaces, Tier::Landlock] {
        let lab = Lab::new(tier);
        lab.put("a.txt", "hello\n");
        let outcome = lab.run("cat a.txt; echo more > b.txt; pwd; echo done").await;
        assert_eq!(outcome.report.exit, ProgramExit::Code(0), "{outcome:?}");
        assert_eq!(outcome.text, format!("hello\n{}\ndone\n", lab.workspace.path().display()));
        assert_eq!(std::fs::read_to_string(lab.file("b.txt")).unwrap(), "more\n");
    }
}
