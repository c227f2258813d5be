//! What the native functions of one realm share. A script cannot reach it.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use boa_engine::Context;
use boa_engine::object::JsObject;

use crate::console::Console;
use crate::queue::QueuedCall;

/// The state of a pass. A borrow of a part must not be held while a script's code could run.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) queue: RefCell<Vec<QueuedCall>>,
    pub(crate) console: RefCell<Console>,
    /// The promises that were rejected and have no handler.
    pub(crate) unhandled: RefCell<Vec<JsObject>>,
    /// The engine's getter of `Error.prototype.stack`, taken before the script can replace it.
    pub(crate) stack_getter: OnceCell<JsObject>,
}

impl Session {
    /// Returns the session of a realm. It is there once [`crate::realm::build`] has returned.
    pub(crate) fn of(context: &Context) -> Option<Rc<Self>> {
        context.get_data::<Rc<Self>>().cloned()
    }
}
