//! Parses a typed line or key as an answer. This module reads nothing and shows nothing.

use crate::question::{RememberedCovers, Unseen};
use portcullis::approvals::CallSelection;
use portcullis::{Answer, Covers, Question};

/// What to do with a typed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It is an answer.
    Answer(Answer),
    /// Show all of the request.
    More,
    /// Let a remembered approval cover this.
    Choose(Covers),
    /// Let the person select some of several calls.
    Select,
    /// It is not an answer. The text is the reply to the user.
    Again(&'static str),
}

/// The reply to an approval of a request that was cut.
pub(crate) const CUT: &str = "Part of the request is not shown. Type ? to see all of it, then answer.";

/// The prompt for the numbers of calls.
pub(crate) const WHICH_CALLS: &str = "Which calls? Type their numbers, such as 1-3, 7: ";

/// The reply to numbers that select no calls.
pub(crate) const NO_SUCH_CALLS: &str = "Type y and the numbers of calls, such as y 1-3, 7.";

/// The reply to something that is no answer.
const UNCLEAR: &str = "Type y, s, a, n or ?.";

/// What a request offers to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offered {
    /// The number of patterns for a remembered approval.
    patterns: usize,
    /// The number of calls, if the request is about several.
    calls: Option<usize>,
}

impl Offered {
    pub(crate) fn of(question: &Question) -> Self {
        Self { patterns: question.offers.len(), calls: question.selectable_calls() }
    }
}

/// Parses the answer to a request with these offers. The end of input denies the call.
pub(crate) fn ruling(line: Option<&str>, offered: Offered, unseen: Unseen, remembered: RememberedCovers) -> Ruling {
    let Some(line) = line else { return no("no answer: the input of the terminal ended") };
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    // ASCII only: no other letter that looks like `y` is a yes.
    match (word.to_ascii_lowercase().as_str(), rest.trim()) {
        ("n" | "no", note) => no(note),
        ("?" | "more", "") => Ruling::More,
        ("y" | "yes", "") => seen(Answer::Yes, unseen),
        ("s", "") => seen(Answer::Session(remembered.session), unseen),
        ("a", "") => seen(Answer::Always(remembered.always), unseen),
        ("y" | "yes", numbers) => match offered.calls.map(|count| CallSelection::parse(numbers, count)) {
            Some(Ok(calls)) => seen(Answer::Part { calls, note: None }, unseen),
            Some(Err(_)) => Ruling::Again(NO_SUCH_CALLS),
            None => unclear(),
        },
        ("p", "") if offered.calls.is_some() => Ruling::Select,
        (word, "") => for_longer(word, offered.patterns, unseen),
        // A yes with more words may be meant as a condition, so it approves nothing.
        (_, _) => unclear(),
    }
}

fn for_longer(word: &str, offers: usize, unseen: Unseen) -> Ruling {
    let numbered = word.strip_prefix('s').map(|number| (Answer::Session as fn(Covers) -> Answer, number));
    let numbered = numbered.or_else(|| word.strip_prefix('a').map(|number| (Answer::Always as _, number)));
    let Some((answer, number)) = numbered else {
        return covers(word, offers).map_or_else(unclear, Ruling::Choose);
    };
    match covers(number, offers) {
        None => unclear(),
        Some(covers) => seen(answer(covers), unseen),
    }
}

/// Accepts an approval only if all of the request was shown.
fn seen(yes: Answer, unseen: Unseen) -> Ruling {
    match unseen {
        Unseen::Nothing => Ruling::Answer(yes),
        Unseen::Some => Ruling::Again(CUT),
    }
}

/// Returns what a number selects: 1 is exactly this call, and the offers follow.
pub(crate) fn covers(number: &str, offers: usize) -> Option<Covers> {
    // `parse` also accepts a plus sign.
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match number.parse::<usize>().ok()? {
        1 => Some(Covers::Exact),
        number => number.checked_sub(2).filter(|offer| *offer < offers).map(Covers::Offer),
    }
}

fn no(note: &str) -> Ruling {
    let note = if note.is_empty() { "the person said no" } else { note };
    Ruling::Answer(Answer::No { note: Some(note.to_owned()) })
}

fn unclear() -> Ruling {
    Ruling::Again(UNCLEAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REMEMBERED: RememberedCovers = RememberedCovers { session: Covers::Exact, always: Covers::Offer(1) };

    const TWO: Offered = Offered { patterns: 2, calls: None };

    fn of(line: &str) -> Ruling {
        ruling(Some(line), TWO, Unseen::Nothing, REMEMBERED)
    }

    #[test]
    fn numbers_select_calls_where_there_are_several() {
        let several = Offered { patterns: 0, calls: Some(40) };
        let of_several = |line: &str, unseen| ruling(Some(line), several, unseen, REMEMBERED);
        let calls = CallSelection::parse("1-3, 7", 40).unwrap();
        let part = Ruling::Answer(Answer::Part { calls, note: None });
        assert_eq!(of_several("y 1-3, 7\n", Unseen::Nothing), part);
        assert_eq!(of_several("y 1-3, 7\n", Unseen::Some), Ruling::Again(CUT));
        assert_eq!(of_several("p", Unseen::Nothing), Ruling::Select);
        for line in ["y 41", "y 0", "y 3-1", "y all"] {
            assert_eq!(of_several(line, Unseen::Nothing), Ruling::Again(NO_SUCH_CALLS), "{line}");
        }
        assert_eq!((of("y 1"), of("p")), (unclear(), unclear()));
    }

    #[test]
    fn only_a_plain_yes_approves() {
        for line in ["y\n", "Y\n", "yes\n", " YES \n"] {
            assert_eq!(of(line), Ruling::Answer(Answer::Yes), "{line:?}");
        }
        for line in ["", "\n", "yy\n", "y n\n", "yes!\n", "ｙ\n", "s0\n", "s4\n", "s 2\n", "s-1\n", "s+1\n", "a1x\n"] {
            assert_eq!(of(line), unclear(), "{line:?}");
        }
        assert_eq!(of("s99999999999999999999999\n"), unclear());
        assert_eq!((of("More\n"), of("?")), (Ruling::More, Ruling::More));
    }

    #[test]
    fn a_denial_can_carry_a_note() {
        for (line, note) in
            [("n\n", "the person said no"), ("no not there\n", "not there"), ("N  use src/ \n", "use src/")]
        {
            assert_eq!(of(line), no(note), "{line:?}");
        }
    }

    #[test]
    fn the_end_of_input_denies_without_a_person() {
        assert_eq!(ruling(None, TWO, Unseen::Nothing, REMEMBERED), no("no answer: the input of the terminal ended"));
    }

    #[test]
    fn a_number_selects_what_a_remembered_approval_covers() {
        let rows = [
            ("s\n", Answer::Session(Covers::Exact)),
            ("S1\n", Answer::Session(Covers::Exact)),
            ("s2\n", Answer::Session(Covers::Offer(0))),
            ("a\n", Answer::Always(Covers::Offer(1))),
            ("a1\n", Answer::Always(Covers::Exact)),
            ("a3\n", Answer::Always(Covers::Offer(1))),
        ];
        for (line, answer) in rows {
            assert_eq!(of(line), Ruling::Answer(answer), "{line:?}");
        }
        assert_eq!((of("1"), of("3")), (Ruling::Choose(Covers::Exact), Ruling::Choose(Covers::Offer(1))));
        assert_eq!((of("0"), of("4")), (unclear(), unclear()));
    }

    #[test]
    fn approval_needs_the_whole_request_on_the_screen() {
        for line in ["y", "YES", "s", "s2", "a", "a2"] {
            assert_eq!(ruling(Some(line), TWO, Unseen::Some, REMEMBERED), Ruling::Again(CUT), "{line}");
            assert!(matches!(of(line), Ruling::Answer(_)), "{line}");
        }
        assert_eq!(ruling(Some("n"), TWO, Unseen::Some, REMEMBERED), no(""));
    }
}
