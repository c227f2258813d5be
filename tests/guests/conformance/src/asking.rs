//! Tools that a person is asked about. What the suite would have a person type is a yes here: a tool learns whether
//! something may be done, and nothing else. Most are asked about before they run, which is the policy's doing.

use portcullis_sdk::NoArguments;
use portcullis_sdk::prelude::*;

use crate::running::LONG;

/// What is to be deleted.
#[arguments]
pub(crate) struct Delete {
    /// The name of a file.
    filename: String,
}

/// Looks for a while, and then asks whether it may delete a file. It deletes none.
#[tool(requires(execute))]
pub(crate) fn confirm_delete(arguments: Delete, context: &Context) -> Result<String, Failure> {
    std::thread::sleep(LONG);
    context.ask(Permission::Execute, &arguments.filename, "delete it")?;
    Ok(format!("Deleted {}.", arguments.filename))
}

/// Takes a while, once it is allowed.
#[tool(requires(execute))]
pub(crate) fn test_tool_with_task(_: NoArguments) -> &'static str {
    std::thread::sleep(LONG);
    "Hello!"
}

/// What to show.
#[arguments]
pub(crate) struct Message {
    /// The text to show.
    message: String,
}

/// Shows a person a text, for a yes.
#[tool(requires(execute))]
pub(crate) fn test_elicitation(arguments: Message) -> String {
    format!("User response to {:?}: accept", arguments.message)
}

/// Needs a yes, and asks for it on the stream of its answer.
#[tool(requires(execute))]
pub(crate) fn test_streaming_elicitation(_: NoArguments) -> &'static str {
    "Asked and answered."
}

/// Needs a yes.
#[tool(requires(execute))]
pub(crate) fn test_input_required_result_elicitation(_: NoArguments) -> &'static str {
    "Hello!"
}

/// Needs a yes, which the state of the request belongs to.
#[tool(requires(execute))]
pub(crate) fn test_input_required_result_request_state(_: NoArguments) -> &'static str {
    "state-ok"
}

/// Needs a yes before it runs, and another in its middle.
#[tool(requires(execute))]
pub(crate) fn test_input_required_result_multi_round(_: NoArguments, context: &Context) -> Result<String, Failure> {
    context.ask(Permission::Execute, "step2", "Step 2: What is your favorite color?")?;
    Ok("Both steps are done.".to_owned())
}

/// Needs a yes, whose state somebody will have changed.
#[tool(requires(execute))]
pub(crate) fn test_input_required_result_tampered_state(_: NoArguments) -> &'static str {
    "Confirmed."
}

/// Needs a yes of a client that cannot be asked.
#[tool(requires(execute))]
pub(crate) fn test_input_required_result_capabilities(_: NoArguments) -> &'static str {
    "Asked and answered."
}
