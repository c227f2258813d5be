//! The line of keys below a request, and what a remembered approval would cover.

use super::sheet::WIDTH_MIN;
use crate::style::{Style, TextStyle};
use portcullis::text::OneLine;
use portcullis::{Covers, Question};

/// Maximum length of what `always` covers, in characters. A longer offer is named by its number.
const LABEL_CHARACTERS_MAX: usize = 40;

/// The mark of an offer that a plugin or a hook proposes.
const PROPOSED: &str = " (proposed by ";

/// What the keys for a remembered approval cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RememberedCovers {
    pub(crate) session: Covers,
    pub(crate) always: Covers,
}

impl RememberedCovers {
    /// Returns the default: a session covers exactly this call. An always covers the narrowest offer of the host that
    /// is wider than one path.
    pub(crate) fn of(question: &Question) -> Self {
        let is_own = |offer: &&String| !offer.contains(PROPOSED);
        let is_wider = |offer: &String| offer.ends_with("/**\"") || offer.contains(" = every path of ");
        let offers = question.offers.iter();
        // The host's own offers come first. What a plugin proposes is never the default.
        let wider = offers.take_while(is_own).position(is_wider);
        Self { session: Covers::Exact, always: wider.map_or(Covers::Exact, Covers::Offer) }
    }

    /// Returns the choice of one offer for both keys.
    pub(crate) fn chosen(covers: Covers) -> Self {
        Self { session: covers, always: covers }
    }
}

/// Returns the keys, wrapped between two of them. The last row has no line break.
pub(crate) fn keys(question: &Question, covers: RememberedCovers, style: Style, width: Option<usize>) -> String {
    let width = width.unwrap_or(usize::MAX).max(WIDTH_MIN);
    let session = match covers.session {
        Covers::Exact => "this session".to_owned(),
        Covers::Offer(_) => format!("this session for {}", label(question, covers.session)),
    };
    let remembered = [("s", session), ("a", format!("always for {}", label(question, covers.always)))];
    let remembered = remembered.into_iter().filter(|_| !question.is_once());
    let part = question.selectable_calls().map(|_| ("p", "some of them".to_owned()));
    let yes = if part.is_some() { "all, once" } else { "once" };
    let after = [("n", "deny, and say why".to_owned()), ("?", "details".to_owned())];
    let items: Vec<_> = [("y", yes.to_owned())].into_iter().chain(part).chain(remembered).chain(after).collect();
    key_lines(&items, style, width)
}

/// Returns keys and what each does, wrapped between two of them. The last row has no line break.
pub(crate) fn key_lines(items: &[(&str, String)], style: Style, width: usize) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for (key, what) in items {
        let length = key.len() + 3 + what.chars().count();
        if column > 0 && column + 2 + length > width {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push_str("  ");
            column += 2;
        }
        text.push_str(&format!("{} {what}", style.paint(TextStyle::Strong, format_args!("[{key}]"))));
        column += length;
    }
    text
}

/// Returns a short name of what an approval covers, encoded.
pub(crate) fn label(question: &Question, covers: Covers) -> String {
    let offer = match covers {
        Covers::Exact => return "exactly this".to_owned(),
        Covers::Offer(place) => question.offers.get(place).map(String::as_str).unwrap_or_default(),
    };
    let number = match covers {
        Covers::Exact => 1,
        Covers::Offer(place) => place + 2,
    };
    let own = offer.rfind(PROPOSED).map_or(offer, |at| &offer[..at]);
    let quoted = own.rsplit_once(" = \"").and_then(|(_, text)| text.strip_suffix('"'));
    let origin = own.rsplit_once(" = every path of ").map(|(_, origin)| format!("{origin}/**"));
    let short = quoted.map(str::to_owned).or(origin).unwrap_or_else(|| own.to_owned());
    let short = OneLine(&short).to_string();
    if short.is_empty() || short.chars().count() > LABEL_CHARACTERS_MAX { format!("offer {number}") } else { short }
}
