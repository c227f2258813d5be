//! Scripts that tamper with their realm. They reach nothing else, and no call differs from what was passed.

use crate::{attempt, called, echoes, fails, made, run};

/// Runs some tampering before a call, and returns the calls and the answer.
fn after(tampering: &str) -> (Vec<(String, String)>, String) {
    let context = echoes();
    let code = format!("{tampering}\nawait tools.files.write({{ path: 'a', list: [1, {{ b: 2 }}] }})");
    let answer = match attempt(&code, &context) {
        Ok(success) => success.text(),
        Err(failure) => failure.text().to_owned(),
    };
    (called(&context), answer)
}

const PASSED: &str = r#"{"path":"a","list":[1,{"b":2}]}"#;

#[test]
fn prototypes_do_not_change_a_call() {
    for tampering in [
        "Array.prototype.push = () => { throw 1 };",
        "Array.prototype.toJSON = () => 'x'; Object.prototype.toJSON = () => ({ path: 'b' });",
        "String.prototype.toJSON = () => 'x'; Number.prototype.toString = () => '9';",
        "JSON.stringify = () => '{\"path\":\"b\"}'; JSON.parse = () => ({});",
        "JSON = null; Object = null; Array = null; Error = null; Proxy = null;",
        "Object.keys = () => ['evil']; Reflect.ownKeys = () => ['evil'];",
        "Object.getOwnPropertyDescriptor = () => ({ value: 'evil', enumerable: true });",
        "Object.prototype.path = 'evil'; Object.prototype.extra = 'evil';",
        "Object.defineProperty(Object.prototype, 'path', { get() { return 'evil' }, set() {} });",
        "Object.defineProperty(Array.prototype, 0, { get() { return 'evil' }, set() {} });",
        "Array.prototype[Symbol.iterator] = function* () { yield 'evil' };",
        "Object.setPrototypeOf(Array.prototype, new Proxy({}, { get() { throw 1 } }));",
        "Function.prototype.call = Function.prototype.apply = () => { throw 1 };",
        "Error.prototype.name = 'x'; Object.defineProperty(Error.prototype, 'stack', { get() { throw 1 } });",
        "Error.prepareStackTrace = () => { throw 1 }; Error.captureStackTrace = () => { throw 1 };",
        "Map.prototype.set = Map.prototype.get = () => { throw 1 };",
    ] {
        let (calls, answer) = after(tampering);
        assert_eq!(calls, [made("files.write", PASSED)], "{tampering}");
        assert_eq!(answer, format!("{PASSED}\n"), "{tampering}");
    }
}

#[test]
fn promises_can_be_broken_only_for_the_script() {
    for tampering in [
        "Promise.prototype.then = () => { throw 1 };",
        "Promise.prototype.then = function () { return this };",
        "Promise = class { then() { throw 1 } };",
        "Object.defineProperty(Promise.prototype, 'constructor', { get() { throw 1 } });",
        "Object.prototype.then = function (resolve) { resolve('evil') };",
        "Object.defineProperty(Object.prototype, 'then', { get() { throw new Error('across') } });",
        "String.prototype.then = (resolve) => resolve('evil');",
        "Promise.resolve = Promise.reject = Promise.all = () => { throw 1 };",
        "Promise[Symbol.species] = null;",
    ] {
        let (calls, _) = after(tampering);
        assert!(calls.iter().all(|call| *call == made("files.write", PASSED)) && calls.len() <= 1, "{tampering}");
    }
}

#[test]
fn the_tools_cannot_be_replaced() {
    let context = echoes();
    for tampering in [
        "tools = { files: { write: () => 'evil' } };",
        "tools.files = { write: () => 'evil' };",
        "tools.files.write = () => 'evil';",
        "globalThis.tools = null;",
        "delete globalThis.tools; delete tools.files; delete tools.files.write;",
        "try { Object.defineProperty(tools, 'files', { value: {} }) } catch {}",
        "try { Object.setPrototypeOf(tools.files, { write: () => 'evil' }) } catch {}",
        "Object.prototype.get = Object.prototype.has = Object.prototype.apply = () => 'evil';",
    ] {
        let (calls, _) = after(tampering);
        assert_eq!(calls, [made("files.write", PASSED)], "{tampering}");
    }
    let strict = fails("'use strict'; tools.files.write = 1", &context);
    assert!(strict.starts_with("TypeError"), "{strict}");
}

#[test]
fn a_function_of_a_tool_calls_that_tool_however_it_is_called() {
    let context = echoes();
    let code = "const { write } = tools.files;
        await write.call({ tool: 'web.fetch' }, { n: 1 });
        await Reflect.apply(write, tools.web, [{ n: 2 }]);
        await write.bind(tools.web.fetch)({ n: 3 });
        await [{ n: 4 }].map(tools.files.write.bind(null, { n: 5 }).bind(null))[0]?.catch(e => e.name);
        try { new write({ n: 6 }) } catch (e) { e.name }";
    assert_eq!(
        run(code, &context),
        "(The script has no value and no output. End it with an expression or `return`.)\n"
    );
    let tools: Vec<String> = called(&context).into_iter().map(|(tool, arguments)| tool + &arguments).collect();
    assert_eq!(tools, [r#"files.write{"n":1}"#, r#"files.write{"n":2}"#, r#"files.write{"n":3}"#]);
}

#[test]
fn a_proxy_is_never_entered() {
    let context = echoes();
    let code = "const seen = [];
        const spy = new Proxy({ path: 'a' }, { get(t, k) { seen.push(k); throw 1 },
            ownKeys() { seen.push('keys'); throw 1 },
            getPrototypeOf() { seen.push('proto'); throw 1 } });
        for (const argument of [spy, { inner: spy }, { list: [spy] }, Object.create(spy)])
            await tools.files.write(argument).catch(e => console.log(e.message));
        console.log(spy, { spy }); seen.length";
    let answer = run(code, &context);
    assert!(answer.ends_with("[value]\n0\n"), "{answer}");
    // An object whose prototype is a proxy has no own property.
    assert_eq!(called(&context), [made("files.write", "{}")]);
}

#[test]
fn errors_thrown_across_the_bridge_stay_in_the_script() {
    let context = echoes();
    for code in [
        "await tools.files.read({ get a() { throw new Error('across') } }).catch(e => e.name)",
        "await tools.files.read({ toString() { throw 1 }, valueOf() { throw 1 } }).catch(e => e.name)",
        "await tools.files.read(new Proxy({}, { ownKeys() { throw 1 } })).catch(e => e.name)",
    ] {
        assert_eq!(run(code, &context), "InvalidArguments\n", "{code}");
    }
    let key = fails("tools[{ toString() { throw new RangeError('key') } }]", &context);
    assert!(key.starts_with("RangeError: key"), "{key}");
}

#[test]
fn a_thrown_value_is_reported_whatever_it_is() {
    let context = echoes();
    for (code, expected) in [
        ("throw 'text'", "the script threw text"),
        ("throw { a: 1 }", r#"the script threw {"a":1}"#),
        ("throw undefined", "the script threw undefined"),
        ("throw new Proxy({}, { get() { throw 1 } })", r#"the script threw "[Proxy]""#),
        ("const e = new Error('m'); Object.defineProperty(e, 'message', { get() { throw 1 } }); throw e", "Error\n"),
        ("const e = new Error('m'); Object.setPrototypeOf(e, null); throw e", "Object: m\n"),
        ("const e = new Error('m'); e.name = { toString() { throw 1 } }; throw e", "Error: m\n"),
        ("throw tools", r#"the script threw "[Proxy]""#),
    ] {
        let report = fails(code, &context);
        assert!(report.starts_with(expected), "{code}: {report}");
    }
}

#[test]
fn text_cannot_become_code() {
    let context = echoes();
    for code in [
        "eval('1')",
        "(0, eval)('1')",
        "new Function('return 1')()",
        "(() => {}).constructor('return 1')()",
        "(async () => {}).constructor('return 1')()",
        "(function* () {}).constructor('yield 1')()",
    ] {
        let report = fails(code, &context);
        assert!(report.contains("`eval` and `new Function` are not available"), "{code}: {report}");
    }
    assert_eq!(called(&context), []);
}

#[test]
fn there_is_no_way_out_besides_the_tools() {
    let context = echoes();
    let names = "Object.getOwnPropertyNames(globalThis).filter(name => !/^[A-Z]/.test(name)).sort()";
    let answer = run(names, &context);
    let expected = "[\"console\",\"decodeURI\",\"decodeURIComponent\",\"encodeURI\",\"encodeURIComponent\",\
                    \"eval\",\"fetch\",\"globalThis\",\"importScripts\",\"isFinite\",\"isNaN\",\"parseFloat\",\
                    \"parseInt\",\"require\",\"setImmediate\",\"setInterval\",\"setTimeout\",\"tools\"\
,\"undefined\"]\n";
    assert_eq!(answer, expected);
    for (code, expected) in [
        ("fetch('https://a.example')", "`fetch` is not available. Call a tool that fetches"),
        ("setTimeout(() => 1, 1)", "`setTimeout` is not available. A script has no timers."),
        ("require('fs')", "`require` is not available."),
        ("await import('fs')", "`import` is not available."),
        (
            "[typeof process, typeof Deno, typeof Atomics, typeof SharedArrayBuffer, typeof WebAssembly].join() === 'x' || process",
            "process is not defined",
        ),
    ] {
        let report = fails(code, &context);
        assert!(report.contains(expected), "{code}: {report}");
    }
}
