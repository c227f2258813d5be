//! The tools that the MCP conformance suite asks a server for, by the names it knows them by.
//!
//! Each does in the sandbox what the suite says such a tool does; what becomes of it on the wire is the host's doing.

mod asking;
mod content;
mod running;
mod schemas;

use portcullis_sdk::prelude::*;

plugin! {
    name: "conformance",
    description: "The tools that the MCP conformance suite asks a server for.",
    tools: [
        content::test_simple_text,
        content::test_image_content,
        content::test_audio_content,
        content::test_embedded_resource,
        content::test_multiple_content_types,
        content::test_error_handling,
        schemas::json_schema_2020_12_tool,
        schemas::test_x_mcp_header,
        running::test_tool_with_progress,
        running::test_reconnection,
        running::test_logging_tool,
        running::test_trigger_tool_change,
        running::greet,
        running::slow_compute,
        running::failing_job,
        running::protocol_error_job,
        asking::confirm_delete,
        asking::test_tool_with_task,
        asking::test_elicitation,
        asking::test_streaming_elicitation,
        asking::test_input_required_result_elicitation,
        asking::test_input_required_result_request_state,
        asking::test_input_required_result_multi_round,
        asking::test_input_required_result_tampered_state,
        asking::test_input_required_result_capabilities,
    ],
    dependencies: [optional directory "switch": "tells the operator that the list of tools is to change"],
}
