//! The console.

use crate::{echoes, run};

#[test]
fn messages_come_before_the_value_in_their_order() {
    let code = "console.log('a', 1, { b: [2] }, undefined, null); console.warn('w'); console.error(new Error('e')); 7";
    assert_eq!(run(code, &echoes()), "a 1 {\"b\":[2]} undefined null\nw\n\"Error: e\"\n[value]\n7\n");
    assert_eq!(run("console.info('only')", &echoes()), "only\n");
}

#[test]
fn the_console_is_bounded() {
    let many = run("for (let i = 0; i < 1500; i++) console.log(i)", &echoes());
    assert!(many.ends_with("999\n[500 more messages were dropped: the console is full]\n"), "{many}");
    let long = run("console.log('x'.repeat(10_000))", &echoes());
    assert!(long.ends_with("… [6000 more characters]\n"), "{}", long.len());
    let much = run("for (let i = 0; i < 100; i++) console.log('y'.repeat(4000))", &echoes());
    assert!(much.len() < 31_000, "{}", much.len());
}
