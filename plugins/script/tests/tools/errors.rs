//! Errors with the position in the code of the model.

use portcullis_sdk::prelude::*;

use crate::{attempt, echoes, fails};

#[test]
fn an_error_has_its_line_and_column_and_the_code() {
    let context = echoes();
    for (code, expected) in [
        ("const a = 1;\nconst b = undefined;\n  b.length", "at line 3, column "),
        ("throw new Error('first')", "Error: first\nat line 1, column "),
        ("function f() {\n  throw new TypeError('in f');\n}\nf()", "TypeError: in f\nat line 2, column "),
        ("await Promise.resolve();\n\nmissing()", "ReferenceError: missing is not defined\nat line 3, column "),
        ("const f = async () => {\n  await 1;\n  null.x\n};\nawait f()", "at line 3, column "),
        (
            "const f = () => {\n  return missing;\n};\nmissing2 = 1;\nf()",
            "missing is not defined\nat line 2, column 10: return missing;",
        ),
        ("[1].map(() => {\n  throw new RangeError('in map')\n})", "RangeError: in map\nat line 2, column "),
        ("tools.files.raed({})", "There is no tool `files.raed`. Tools of `files`: read, read-all, write."),
        ("tools.file.read({})", "There is no tool `tools.file`. There are: files, web."),
    ] {
        let report = fails(code, &context);
        assert!(report.contains(expected), "{code}: {report}");
        assert!(report.contains("\nat line "), "{code}: {report}");
    }
}

#[test]
fn an_error_without_a_recorded_position_is_found_in_the_code() {
    let context = echoes();
    let nothing = "TypeError: cannot convert 'null' or 'undefined' to object";
    for (code, expected) in [
        (
            "const a = 1;\n\nawait 1;\nmissing.b()",
            "missing is not defined\nat line 4, column 1: missing.b()".to_owned(),
        ),
        ("const a = {};\nawait 1;\n  a.b.c()", format!("{nothing}\nat line 3, column 3: a.b.c()")),
        (
            "const f = a => {\n  [].at();\n  a.b.c();\n};\n[].at();\nf({})",
            format!("{nothing}\nat one of the lines 2, 3"),
        ),
        ("let a;\n'x'.at(0);\nawait 1;\na.b()", format!("{nothing}\nat one of the lines 2, 4")),
        (
            "let t = tools;\nawait 1;\nt.files.raed({})",
            "read-all, write.\nat line 3, column 9: t.files.raed({})".to_owned(),
        ),
    ] {
        let report = fails(code, &context);
        assert!(report.ends_with(&expected), "{code}: {report}");
    }
}

#[test]
fn columns_count_from_the_code_of_the_model() {
    let context = echoes();
    let report = fails("  missing", &context);
    assert_eq!(report, "ReferenceError: missing is not defined\nat line 1, column 3: missing");
    let report = fails("let a = 1; a.b.c", &context);
    assert!(report.contains("at line 1, column 1") && report.ends_with(": let a = 1; a.b.c"), "{report}");
}

#[test]
fn a_syntax_error_is_about_the_arguments_and_nothing_runs() {
    let context = echoes();
    for (code, expected) in [
        ("const a = ;", "at line 1, column 11: const a = ;"),
        ("if (true) {", "SyntaxError"),
        ("})(); tools.files.write({}); (async () => {", "a bracket is closed that was not opened"),
        ("})(), tools.files.write({}), (async () => {", "a bracket is closed that was not opened"),
        ("}) || (async () => { tools.files.write({});", "a bracket is closed that was not opened"),
        ("import fs from 'fs'", "SyntaxError"),
        ("export default 1", "SyntaxError"),
        ("const a: string = 'typed'", "at line 1, column 8"),
        ("'not closed", "SyntaxError"),
        ("await tools.files.write({});\nbreak", "SyntaxError"),
    ] {
        let Err(Failure::InvalidArguments(report)) = attempt(code, &context) else { panic!("{code}") };
        assert!(report.contains(expected), "{code}: {report}");
    }
    assert_eq!(context.called(), []);
}

#[test]
fn the_console_before_an_error_is_in_the_report() {
    let report = fails("console.log('step 1');\nawait tools.files.read({});\nthrow new Error('late')", &echoes());
    let expected = "Error: late\nat line 3, column 7: throw new Error('late')\n\n\
                    Calls before the error, which keep their effects: files.read (1)\n\n[console]\nstep 1\n";
    assert_eq!(report, expected);
}

#[test]
fn an_error_of_a_call_has_the_position_of_the_call() {
    let context = crate::plays(|_| Err(Failure::unavailable("try later")));
    let report = fails("const a = 1;\nawait Promise.all([\n  tools.web.fetch({}),\n]);", &context);
    assert!(report.starts_with("Unavailable (web.fetch): try later\nat line 3, column "), "{report}");
}

#[test]
fn a_script_that_waits_without_end_is_an_error() {
    let report = fails("await new Promise(() => {})", &echoes());
    assert_eq!(report, "the script never ended: it awaits a promise that nothing resolves");
}
