//! How a program ends, and that nothing of it is left.

use crate::lab::Lab;
use portcullis_confine::{ProgramExit, Tier};

#[tokio::test]
async fn a_program_ends_with_its_code_or_its_signal() {
    for tier in [Tier::Namespaces, Tier::Landlock] {
        let lab = Lab::new(tier);
        assert_eq!(lab.run("exit 7").await.report.exit, ProgramExit::Code(7));
        assert_eq!(lab.run("kill -9 $$").await.report.exit, ProgramExit::Signal(9));
    }
}
