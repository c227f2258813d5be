//! Functions of strings on large texts.

use crate::{echoes, plays, run, text};

#[test]
fn strings_are_split_and_searched_as_in_any_javascript() {
    for (code, expected) in [
        ("'a,b,,c'.split(',')", r#"["a","b","","c"]"#),
        ("',a,'.split(',')", r#"["","a",""]"#),
        ("''.split(',')", r#"[""]"#),
        ("'abc'.split('')", r#"["a","b","c"]"#),
        ("'abc'.split()", r#"["abc"]"#),
        ("'a,b,c'.split(',', 2)", r#"["a","b"]"#),
        ("'aaa'.split('aa')", r#"["","a"]"#),
        ("'é😀b😀'.split('😀')", r#"["é","b",""]"#),
        ("'a1b2c'.split(1)", r#"["a","b2c"]"#),
        (r"'a\r\nb\nc'.split(/\r?\n/)", r#"["a","b","c"]"#),
        ("'abc'.split(/(?:)/)", r#"["a","b","c"]"#),
        ("'A1B2'.split(/[a-z]/i)", r#"["","1","2"]"#),
        ("'a1b2c'.split(/(\\d)/)", r#"["a","1","b","2","c"]"#),
        ("'aXbXc'.split(/x/gi)", r#"["a","b","c"]"#),
        ("'abc'.split(/b*/)", r#"["a","c"]"#),
        ("'ab'.split(/(?=b)/)", r#"["a","b"]"#),
        ("'ab'.split(/$/)", r#"["ab"]"#),
        ("''.split(/x/)", r#"[""]"#),
        ("''.split(/(?:)/)", "[]"),
        ("'abc'.split(/b/, 1)", r#"["a"]"#),
        ("'A<B>bold</B>and'.split(/<(\\/)?([^<>]+)>/)", r#"["A",null,"B","bold","/","B","and"]"#),
        ("'abcabc'.indexOf('b', 2)", "4"),
        ("'abc'.indexOf('b', 2)", "-1"),
        ("'abc'.indexOf('', 9)", "3"),
        ("'abc'.indexOf('a', -5)", "0"),
        ("'undefined'.indexOf()", "0"),
        ("'a-b-c'.replaceAll('-', '+')", "a+b+c"),
        ("'-a'.replaceAll('-', '')", "a"),
        ("'a-b'.replaceAll('-', '$&$&')", "a--b"),
        ("'a-b'.replaceAll('-', m => m + m)", "a--b"),
        ("'ab'.replaceAll('', '.')", ".a.b."),
        ("'a-b'.replaceAll(/-/g, '+')", "a+b"),
        ("String.prototype.split.call(12321, 2)", r#"["1","3","1"]"#),
        ("[String.prototype.split.name, 'split' in Object.keys(String.prototype)]", r#"["split",false]"#),
    ] {
        assert_eq!(run(code, &echoes()).trim_end(), expected, "{code}");
    }
}

#[test]
fn a_large_text_is_read_in_time_in_proportion_to_it() {
    let large = "a line of text; with words\n".repeat(40_000);
    let context = plays(move |_| text(&large));
    // Each of these took minutes with the engine's own functions.
    for (code, expected) in [
        ("t.split('\\n').length", "40001"),
        ("t.split(/\\r?\\n/).length", "40001"),
        ("t.split(/,/).length", "1"),
        ("t.replaceAll('words', 'w').length", "920000"),
        ("t.replace(/words/g, 'w').length", "920000"),
        ("[...t.matchAll(/text; (\\w+)/g)].length", "40000"),
        ("let s = ''; for (let i = 0; i < 40_000; i++) s += 'a text '; s.replace(/text/g, 't').length", "160000"),
        ("let n = 0; for (let i = t.indexOf('text'); i >= 0; i = t.indexOf('text', i + 1)) n++; n", "40000"),
    ] {
        let code = format!("const t = await tools.files.read({{}}); {code}");
        assert_eq!(run(&code, &context).trim_end(), expected, "{code}");
    }
}

#[test]
fn a_text_of_a_tool_equals_a_text_of_the_script() {
    let context = plays(|_| text("b a b"));
    let code = "const t = await tools.files.read({});
        const counts = {}; for (const word of t.split(' ')) counts[word] = (counts[word] ?? 0) + 1;
        const map = new Map([['b', 1]]);
        [t === 'b a b', counts.b, map.get(t[0]), new Set([t[0], 'b']).size, { b: 2 }[t.split(' ')[0]], JSON.stringify(t)]";
    assert_eq!(run(code, &context), "[true,2,1,1,2,\"\\\"b a b\\\"\"]\n");
}
