//! Answers of tools as values of a script.

use portcullis_sdk::prelude::*;
use portcullis_sdk::{Output, Success};

use crate::{plays, run};

#[test]
fn json_is_a_value() {
    let context = plays(|_| Ok(Success::new(Output::Json(json!({ "rows": [{ "id": 1, "__proto__": 2 }], "n": 1.5 })))));
    let code =
        "const { rows, n } = await tools.files.read({}); [rows[0].id, Object.keys(rows[0]), n, Array.isArray(rows)]";
    assert_eq!(run(code, &context), "[1,[\"__proto__\",\"id\"],1.5,true]\n");
}

#[test]
fn text_is_a_string_even_if_it_looks_like_json() {
    let context = plays(|_| Ok(Success::new(Output::Text("{\"a\":1}".to_owned()))));
    assert_eq!(run("typeof await tools.files.read({})", &context), "string\n");
}

#[test]
fn parts_are_objects_with_data_in_base64() {
    let context = plays(|_| {
        Ok(Success::new(Output::Parts(vec![
            Part::Text("a chart".to_owned()),
            Part::Image(Blob::new("image/png", [1, 2, 255])),
            Part::File(Blob::new("text/csv", *b"a,b").named("r.csv")),
        ])))
    });
    let expected = concat!(
        r#"[{"text":"a chart","type":"text"},{"data":"AQL/","mediaType":"image/png","type":"image"},"#,
        r#"{"data":"YSxi","mediaType":"text/csv","name":"r.csv","type":"file"}]"#,
        "\n"
    );
    assert_eq!(run("await tools.files.read({})", &context), expected);
}

#[test]
fn a_result_that_looks_like_a_promise_is_not_called() {
    let context = plays(|_| Ok(Success::new(Output::Json(json!({ "then": "x" })))));
    assert_eq!(run("(await tools.files.read({})).then", &context), "x\n");
}
