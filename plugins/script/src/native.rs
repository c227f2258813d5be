//! Native functions of a realm.

use boa_engine::gc::Trace;
use boa_engine::object::FunctionObjectBuilder;
use boa_engine::object::builtins::JsFunction;
use boa_engine::{Context, JsResult, JsString, JsValue, NativeFunction};

/// The code of a native function: `this`, the arguments, what the function captures, and the engine.
pub(crate) type Native<T> = fn(&JsValue, &[JsValue], &T, &mut Context) -> JsResult<JsValue>;

/// Creates a native function.
pub(crate) fn function<T: Trace + 'static>(
    name: &str,
    context: &Context,
    native: Native<T>,
    captures: T,
) -> JsFunction {
    let native = NativeFunction::from_copy_closure_with_captures(native, captures);
    FunctionObjectBuilder::new(context.realm(), native).name(JsString::from(name)).length(1).build()
}
