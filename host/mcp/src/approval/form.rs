//! The form in which a client shows a question to its user. Every text goes through the encoder, nothing is longer than
//! it may be, and what is left out is said to be.

use portcullis::approvals::Subject;
use portcullis::text::{OneLine, count_blanks};
use portcullis::{Covers, Host, Question};
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitationSchema, EnumSchema, InputRequest, PrimitiveSchemaDefinition,
    StringSchema,
};

/// The longest text that a person says yes to and a form can show, in bytes as it is shown: about a screen. What is
/// longer is not asked for by a form, because a yes to what was not seen is none.
const SUBJECT_BYTES_MAX: usize = 4096;

/// The longest text beside that, in bytes as it is shown.
const BESIDE_BYTES_MAX: usize = 512;

/// The most handles that a form lists.
const HANDLES_MAX: usize = 8;

/// The most lines of a difference that a form shows.
const DIFFERENCE_LINES_MAX: usize = 40;

/// The longest note of a person, in characters: that of the host, which cuts it at 1024 bytes.
pub(super) const NOTE_CHARACTERS_MAX: usize = 1024;

/// The field that says for how long a yes holds, and its words.
pub(super) const REMEMBER: &str = "remember";
pub(super) const ONCE: &str = "once";
pub(super) const SESSION: &str = "session";
pub(super) const ALWAYS: &str = "always";

/// The field that says what a yes for longer covers: one of the texts of [`coverages`].
pub(super) const COVERS: &str = "covers";

/// What a yes for longer covers unless the user chooses something else.
const EXACTLY: &str = "exactly these arguments";

/// The field for what the model should know.
pub(super) const NOTE: &str = "note";

/// Returns whether the form can show all of the request. A form cannot show the rest of a cut text.
pub(super) fn fits(question: &Question) -> bool {
    let mut bytes = OneLine(&question.arguments).to_string().len();
    if let Subject::Resource { resource, reason, .. } = &question.subject {
        bytes += OneLine(resource).to_string().len() + OneLine(reason).to_string().len();
    }
    bytes <= SUBJECT_BYTES_MAX && sheet(question).whole
}

/// What a client is told of a question that others answer.
pub(crate) fn waits_elsewhere(host: &Host, question: &Question) -> String {
    format!("waits for a person: `{}` lets it go on", host.approval_command(&question.id))
}

/// The request to show the question to the client's user.
pub(crate) fn form(question: &Question) -> InputRequest {
    InputRequest::Elicitation(ElicitRequest::new(params(question)))
}

/// What is asked of the client.
pub(super) fn params(question: &Question) -> ElicitRequestParams {
    let words = [ONCE, SESSION, ALWAYS].map(str::to_owned).to_vec();
    let remember = EnumSchema::builder(words)
        .untitled()
        .title("How long a yes holds")
        .description("once: this call; session: the same again in this session; always: the same again in every one")
        .build();
    let note = StringSchema::new()
        .title("Note")
        .description("What the model should know, if you decline")
        .max_length(u32::try_from(NOTE_CHARACTERS_MAX).unwrap_or(u32::MAX));
    let fields = ElicitationSchema::builder().property(REMEMBER, PrimitiveSchemaDefinition::Enum(remember));
    let fields = match coverages(question).as_slice() {
        [_] => fields,
        several => fields.property(COVERS, PrimitiveSchemaDefinition::Enum(covers(several))),
    };
    let requested_schema = fields.property(NOTE, PrimitiveSchemaDefinition::String(note)).build_unchecked();
    ElicitRequestParams::FormElicitationParams { meta: None, message: sheet(question).text, requested_schema }
}

/// The choice of what a yes for longer covers. The values are the texts, so that what a user picks is what they read.
fn covers(several: &[(String, Covers)]) -> EnumSchema {
    EnumSchema::builder(several.iter().map(|(text, _)| text.clone()).collect())
        .untitled()
        .title("What a yes for longer covers")
        .description("for the session or always: exactly these arguments, unless you choose another")
        .build()
}

/// The question in words.
fn sheet(question: &Question) -> Sheet {
    let mut sheet = Sheet { text: String::new(), whole: true };
    match &question.subject {
        Subject::Call => sheet.line(&format!("May {} run?", question.tool)),
        Subject::Repeat => sheet.line(&format!("{} has run again and again. May it run once more?", question.tool)),
        Subject::Resource { permission, resource, reason } => {
            sheet.line(&format!("{} is running and asks for one more thing. May it?", question.tool));
            sheet.whole("It asks for", &format!("{permission}: {resource}"));
            sheet.whole("The tool says", reason);
        }
    }
    sheet.whole("Arguments", &question.arguments);
    sheet.beside("Why you are asked", &question.reason);
    sheet.beside("On behalf of", &format!("{} ({})", question.principal, question.origin));
    sheet.handles(&question.handles);
    if let Some(changed) = &question.changed {
        sheet.beside("Changed since the last yes", changed);
    }
    if let Some(difference) = &question.difference {
        sheet.difference(difference);
    }
    let coverages = coverages(question);
    match coverages.as_slice() {
        [_] => sheet.line(&format!("A yes for longer covers {EXACTLY}.")),
        several => {
            sheet.line(&format!("A yes for longer covers one of these, the first unless `{COVERS}` says another:"));
            several.iter().for_each(|(text, _)| sheet.line(&format!("    {text}")));
        }
    }
    sheet
}

/// What a yes for longer can cover, as the form shows it, and what each text stands for. A text too long to be shown
/// whole is left out, because nobody can approve what was cut.
pub(super) fn coverages(question: &Question) -> Vec<(String, Covers)> {
    let mut coverages = vec![(EXACTLY.to_owned(), Covers::Exact)];
    for (place, offer) in question.offers.iter().enumerate() {
        let text = OneLine(&count_blanks(offer)).to_string();
        // Two texts that look alike would leave open which one was chosen.
        if text.len() <= BESIDE_BYTES_MAX && coverages.iter().all(|(known, _)| *known != text) {
            coverages.push((text, Covers::Offer(place)));
        }
    }
    coverages
}

/// Lines of text.
struct Sheet {
    text: String,
    /// Whether nothing was cut.
    whole: bool,
}

impl Sheet {
    /// A line of the host's own.
    fn line(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    /// A text that is shown whole: [`fits`] has seen to its length.
    fn whole(&mut self, label: &str, text: &str) {
        self.line(&format!("{label}: {}", OneLine(&count_blanks(text))));
    }

    /// A text that is cut.
    fn beside(&mut self, label: &str, text: &str) {
        let text = self.cut(text);
        self.line(&format!("{label}: {text}"));
    }

    fn handles(&mut self, handles: &[String]) {
        if handles.is_empty() {
            return self.line("It gets: nothing but its arguments");
        }
        for handle in handles.iter().take(HANDLES_MAX) {
            self.beside("It gets", handle);
        }
        if handles.len() > HANDLES_MAX {
            self.whole = false;
            self.line(&format!("It gets: {} more that are not shown", handles.len() - HANDLES_MAX));
        }
    }

    fn difference(&mut self, difference: &str) {
        self.line("What would change, by the plugin's own claim (the arguments are what runs):");
        for line in difference.split_terminator('\n').take(DIFFERENCE_LINES_MAX) {
            let line = self.cut(line);
            self.line(&format!("    {line}"));
        }
        let left = difference.split_terminator('\n').count().saturating_sub(DIFFERENCE_LINES_MAX);
        if left > 0 {
            self.whole = false;
            self.line(&format!("    ({left} more lines are not shown)"));
        }
    }

    /// Encodes and cuts a text other than the subject.
    fn cut(&mut self, text: &str) -> String {
        let shown = OneLine(&count_blanks(text)).to_string();
        if shown.len() <= BESIDE_BYTES_MAX {
            return shown;
        }
        self.whole = false;
        let kept = shown.floor_char_boundary(BESIDE_BYTES_MAX);
        format!("{} ({} bytes are not shown)", &shown[..kept], shown.len() - kept)
    }
}
