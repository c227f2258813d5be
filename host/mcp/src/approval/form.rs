//! The form that shows an approval request to a client's user. Every text is encoded and limited in length, and the
//! form says what it leaves out.

use portcullis::approvals::Subject;
use portcullis::text::{OneLine, count_blanks};
use portcullis::{Covers, Host, Question};
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitationSchema, ElicitationSchemaBuilder, EnumSchema, InputRequest,
    PrimitiveSchemaDefinition, StringSchema,
};

/// Maximum length of the text to approve, in bytes as shown: about a screen. The form does not show a longer request,
/// because an approval of unseen text does not count.
const SUBJECT_BYTES_MAX: usize = 4096;

/// Maximum length of every other text, in bytes as shown.
const BESIDE_BYTES_MAX: usize = 512;

/// Maximum handles that a form lists.
const HANDLES_MAX: usize = 8;

/// Maximum lines of a difference that a form shows.
const DIFFERENCE_LINES_MAX: usize = 40;

/// Maximum length of a person's note, in characters. The host truncates it to 1024 bytes.
pub(super) const NOTE_CHARACTERS_MAX: usize = 1024;

/// The field that says how long to remember an approval, and its values.
pub(super) const REMEMBER: &str = "remember";
pub(super) const ONCE: &str = "once";
pub(super) const SESSION: &str = "session";
pub(super) const ALWAYS: &str = "always";

/// The field that says what a remembered approval covers: one of the texts of [`coverages`].
pub(super) const COVERS: &str = "covers";

/// The default coverage of a remembered approval.
const EXACTLY: &str = "exactly these arguments";

/// The field that selects some of several calls.
pub(super) const CALLS: &str = "calls";

/// Maximum length of a selection, in characters: more than the numbers of all calls of a request take.
pub(super) const CALLS_CHARACTERS_MAX: usize = 1024;

/// The field for a note to the model.
pub(super) const NOTE: &str = "note";

/// Returns whether the form can show all of the request. A form cannot show the rest of a cut text.
pub(super) fn fits(question: &Question) -> bool {
    // The sheet does not truncate these texts, so only this sum keeps them to about a screen.
    let mut bytes = OneLine(&question.arguments).to_string().len();
    if let Subject::Calls(calls) = &question.subject {
        bytes += calls.iter().map(|call| OneLine(&call.name()).to_string().len()).sum::<usize>();
    }
    if let Subject::Resource { resource, reason, .. } = &question.subject {
        bytes += OneLine(resource).to_string().len() + OneLine(reason).to_string().len();
    }
    bytes <= SUBJECT_BYTES_MAX && sheet(question).whole
}

/// Returns the message to a client about an approval request that other channels answer.
pub(crate) fn waits_elsewhere(host: &Host, question: &Question) -> String {
    format!("needs approval; to approve it, run `{}`", host.approval_command(&question.id))
}

/// Returns the elicitation that shows an approval request to the client's user.
pub(crate) fn form(question: &Question) -> InputRequest {
    InputRequest::Elicitation(ElicitRequest::new(params(question)))
}

/// Returns the parameters of the elicitation.
pub(super) fn params(question: &Question) -> ElicitRequestParams {
    let note = StringSchema::new()
        .title("Note")
        .description("A note to the model, if you decline")
        .max_length(u32::try_from(NOTE_CHARACTERS_MAX).unwrap_or(u32::MAX));
    let fields = ElicitationSchema::builder();
    let fields = match question.selectable_calls() {
        Some(count) => fields.property(CALLS, PrimitiveSchemaDefinition::String(selection(count))),
        None => fields,
    };
    let fields = if question.is_once() { fields } else { remembering(fields, question) };
    let requested_schema = fields.property(NOTE, PrimitiveSchemaDefinition::String(note)).build_unchecked();
    ElicitRequestParams::FormElicitationParams { meta: None, message: sheet(question).text, requested_schema }
}

/// Returns the schema of the `calls` field.
fn selection(count: usize) -> StringSchema {
    StringSchema::new()
        .title("Only these calls")
        .description(format!("Numbers such as 1-3, 7; empty for all {count}. The others are denied"))
        .max_length(u32::try_from(CALLS_CHARACTERS_MAX).unwrap_or(u32::MAX))
}

/// Adds the fields about a remembered approval.
fn remembering(fields: ElicitationSchemaBuilder, question: &Question) -> ElicitationSchemaBuilder {
    let words = [ONCE, SESSION, ALWAYS].map(str::to_owned).to_vec();
    let remember = EnumSchema::builder(words)
        .untitled()
        .title("Remember the approval")
        .description("once: only this call; session: later calls of this session too; always: every session")
        .build();
    let fields = fields.property(REMEMBER, PrimitiveSchemaDefinition::Enum(remember));
    match coverages(question).as_slice() {
        [_] => fields,
        several => fields.property(COVERS, PrimitiveSchemaDefinition::Enum(covers(several))),
    }
}

/// Returns the schema of the `covers` field. Its values are the texts themselves, so that users pick what they read.
fn covers(several: &[(String, Covers)]) -> EnumSchema {
    EnumSchema::builder(several.iter().map(|(text, _)| text.clone()).collect())
        .untitled()
        .title("What a remembered approval covers")
        .description("Applies to `session` and `always`. Default: exactly these arguments")
        .build()
}

/// Returns the text of an approval request.
fn sheet(question: &Question) -> FormText {
    let mut sheet = FormText { text: String::new(), whole: true };
    match &question.subject {
        Subject::Call => sheet.line(&format!("Allow {} to run?", question.tool)),
        Subject::Repeat => sheet.line(&format!("{} repeats the same call. Allow it once more?", question.tool)),
        Subject::Resource { permission, resource, reason, by_host } => {
            sheet.line(&format!("{} is running and asks for another permission. Allow it?", question.tool));
            sheet.whole("Requested", &format!("{permission}: {resource}"));
            sheet.whole(if *by_host { "Why" } else { "The tool says" }, reason);
        }
        Subject::Calls(calls) => {
            let planned = question.planned_calls().unwrap_or_default();
            sheet.line(&format!("{} is running and wants to {planned}. Allow it?", question.tool));
            for (index, call) in calls.iter().enumerate() {
                sheet.whole(&(index + 1).to_string(), &call.name());
            }
        }
    }
    match &question.subject {
        Subject::Calls(_) => sheet.whole("Calls with their arguments", &question.arguments),
        Subject::Call | Subject::Repeat | Subject::Resource { .. } => sheet.whole("Arguments", &question.arguments),
    }
    sheet.beside("Why approval is needed", &question.reason);
    sheet.beside("On behalf of", &format!("{} ({})", question.principal, question.origin));
    if !question.called_by.is_empty() {
        sheet.beside("Called by", &question.called_by.join(", which calls "));
    }
    sheet.handles(&question.handles);
    if let Some(changed) = &question.changed {
        sheet.beside("Changed since the last approval", changed);
    }
    if let Some(difference) = &question.difference {
        sheet.difference(difference);
    }
    let coverages = coverages(question);
    match coverages.as_slice() {
        _ if question.is_once() => sheet.line("An approval counts once."),
        [_] => sheet.line(&format!("A remembered approval covers {EXACTLY}.")),
        several => {
            sheet.line(&format!("A remembered approval covers what you choose in `{COVERS}` (default: the first):"));
            several.iter().for_each(|(text, _)| sheet.line(&format!("    {text}")));
        }
    }
    sheet
}

/// Returns what a remembered approval can cover: each text as the form shows it, and its meaning. A text that is too
/// long to show whole is left out, because an approver cannot approve truncated text.
pub(super) fn coverages(question: &Question) -> Vec<(String, Covers)> {
    let mut coverages = vec![(EXACTLY.to_owned(), Covers::Exact)];
    for (place, offer) in question.offers.iter().enumerate() {
        let text = OneLine(&count_blanks(offer)).to_string();
        // With two equal texts, the choice would be ambiguous.
        if text.len() <= BESIDE_BYTES_MAX && coverages.iter().all(|(known, _)| *known != text) {
            coverages.push((text, Covers::Offer(place)));
        }
    }
    coverages
}

/// The text of a form, built line by line.
struct FormText {
    text: String,
    /// Whether nothing was truncated.
    whole: bool,
}

impl FormText {
    /// Adds a line of the host's own text.
    fn line(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    /// Adds a text without truncating it. [`fits`] checks its length.
    fn whole(&mut self, label: &str, text: &str) {
        self.line(&format!("{label}: {}", OneLine(&count_blanks(text))));
    }

    /// Adds a text, truncated if it is too long.
    fn beside(&mut self, label: &str, text: &str) {
        let text = self.cut(text);
        self.line(&format!("{label}: {text}"));
    }

    fn handles(&mut self, handles: &[String]) {
        if handles.is_empty() {
            return self.line("Access: nothing but its arguments");
        }
        for handle in handles.iter().take(HANDLES_MAX) {
            self.beside("Access", handle);
        }
        if handles.len() > HANDLES_MAX {
            self.whole = false;
            self.line(&format!("Access: {} more handles, not shown", handles.len() - HANDLES_MAX));
        }
    }

    fn difference(&mut self, difference: &str) {
        self.line("What the call would change, as the plugin claims (the call runs with the arguments above):");
        for line in difference.split_terminator('\n').take(DIFFERENCE_LINES_MAX) {
            let line = self.cut(line);
            self.line(&format!("    {line}"));
        }
        let left = difference.split_terminator('\n').count().saturating_sub(DIFFERENCE_LINES_MAX);
        if left > 0 {
            self.whole = false;
            self.line(&format!("    ({left} more lines, not shown)"));
        }
    }

    /// Encodes a text and truncates it to [`BESIDE_BYTES_MAX`].
    fn cut(&mut self, text: &str) -> String {
        let shown = OneLine(&count_blanks(text)).to_string();
        if shown.len() <= BESIDE_BYTES_MAX {
            return shown;
        }
        self.whole = false;
        let kept = shown.floor_char_boundary(BESIDE_BYTES_MAX);
        format!("{} ({} more bytes, not shown)", &shown[..kept], shown.len() - kept)
    }
}
