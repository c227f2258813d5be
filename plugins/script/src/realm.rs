//! The realm of a script: the engine, its limits, and the global objects.

mod console;
pub(crate) mod strings;

use std::cell::RefCell;
use std::rc::Rc;

use boa_engine::builtins::promise::{OperationType, Promise};
use boa_engine::context::HostHooks;
use boa_engine::module::{Module, ModuleLoader, ModuleRequest, Referrer};
use boa_engine::object::JsObject;
use boa_engine::property::{Attribute, PropertyKey};
use boa_engine::realm::Realm;
use boa_engine::{Context, JsNativeError, JsResult, JsString, JsValue, js_string};

use crate::native::function;
use crate::session::Session;
use crate::toolbox;

/// Maximum depth of calls. With it, calls through the native functions with the largest frames, such as `replace` with
/// a function, fit into the stack that the host gives a guest.
pub(crate) const RECURSION_DEPTH_MAX: usize = 400;

/// Maximum iterations of one loop: a few seconds. The error names the line; the host's time limit could not.
pub(crate) const LOOP_ITERATIONS_MAX: u64 = 10_000_000;

/// Maximum bytes of one buffer. A buffer that cannot be allocated would end the plugin without an error.
const BUFFER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Global objects that a script without threads does not need. Waiting on shared memory would block the plugin, and a
/// cleanup after a collection would make a run depend on the collector.
const REMOVED: [&str; 3] = ["Atomics", "SharedArrayBuffer", "FinalizationRegistry"];

/// Functions that models expect, with what to do instead.
const ABSENT: [(&str, &str); 6] = [
    ("fetch", "Call a tool that fetches, such as `tools.web.fetch`, if there is one."),
    ("setTimeout", "A script has no timers."),
    ("setInterval", "A script has no timers."),
    ("setImmediate", "A script has no timers."),
    ("require", "A script has no modules. Everything that it can reach is in `tools`."),
    ("importScripts", "A script has no modules. Everything that it can reach is in `tools`."),
];

/// Builds a fresh realm with `console` and the tools of these names.
pub(crate) fn build(tools: &[String], session: &Rc<Session>) -> JsResult<Context> {
    let mut context =
        Context::builder().host_hooks(Rc::new(Hooks)).module_loader(Rc::new(NoModules)).can_block(false).build()?;
    let limits = context.runtime_limits_mut();
    limits.set_recursion_limit(RECURSION_DEPTH_MAX);
    limits.set_loop_iteration_limit(LOOP_ITERATIONS_MAX);
    context.insert_data(Rc::clone(session));
    keep_stack_getter(&context, session);
    for name in REMOVED {
        context.global_object().delete_property_or_throw(js_string!(name), &mut context)?;
    }
    for (name, instead) in ABSENT {
        let refuse = function(name, &context, refuse, format!("`{name}` is not available. {instead}"));
        context.register_global_property(js_string!(name), refuse, Attribute::all())?;
    }
    strings::define(&mut context)?;
    console::define(&mut context)?;
    toolbox::define(tools, &mut context)?;
    Ok(context)
}

#[expect(clippy::ptr_arg, reason = "the type of what the function captures")]
fn refuse(_: &JsValue, _: &[JsValue], message: &String, _: &mut Context) -> JsResult<JsValue> {
    Err(JsNativeError::typ().with_message(message.clone()).into())
}

fn keep_stack_getter(context: &Context, session: &Session) {
    let prototype = context.intrinsics().constructors().error().prototype();
    let descriptor = prototype.borrow().properties().get(&PropertyKey::from(js_string!("stack")));
    if let Some(getter) = descriptor.and_then(|descriptor| descriptor.get().and_then(JsValue::as_object)) {
        // A new session has none yet.
        let _ = session.stack_getter.set(getter);
    }
}

/// What the engine asks its host.
struct Hooks;

impl HostHooks for Hooks {
    fn promise_rejection_tracker(&self, promise: &JsObject<Promise>, operation: OperationType, context: &mut Context) {
        let Some(session) = Session::of(context) else { return };
        let promise = promise.clone().upcast();
        let mut unhandled = session.unhandled.borrow_mut();
        match operation {
            OperationType::Reject => unhandled.push(promise),
            OperationType::Handle => unhandled.retain(|other| !JsObject::equals(other, &promise)),
        }
    }

    /// Refuses `eval` and `new Function`: only the code of the call runs, which an approver could read.
    fn ensure_can_compile_strings(
        &self,
        _realm: Realm,
        _parameters: &[JsString],
        _body: &JsString,
        _direct: bool,
        _context: &mut Context,
    ) -> JsResult<()> {
        let message = "`eval` and `new Function` are not available. Write the code into the script.";
        Err(JsNativeError::eval().with_message(message).into())
    }

    fn local_timezone_offset_seconds(&self, _unix_time_seconds: i64) -> i32 {
        0
    }

    fn max_buffer_size(&self, _context: &mut Context) -> u64 {
        BUFFER_BYTES_MAX
    }
}

/// Refuses `import()`.
struct NoModules;

impl ModuleLoader for NoModules {
    fn load_imported_module(
        self: Rc<Self>,
        _referrer: Referrer,
        _request: ModuleRequest,
        _context: &RefCell<&mut Context>,
    ) -> impl Future<Output = JsResult<Module>> {
        let message = "`import` is not available. Everything that a script can reach is in `tools`.";
        std::future::ready(Err(JsNativeError::typ().with_message(message).into()))
    }
}
