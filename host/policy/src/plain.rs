//! The plain form of a text: one spelling for all texts that a person reads, or a file system opens, as the same name.
//!
//! A file system may fold case, compose accents and ignore zero-width characters. A narrowing rule and a mask compare
//! plain forms, so that no such spelling bypasses them. Code that widens rights must not use this file.

use std::borrow::Cow;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::{CodePointSetData, props::DefaultIgnorableCodePoint};

/// Returns the text without invisible characters, with its case folded, and with its accents composed. An ASCII text is
/// returned unchanged, because its callers fold the case of ASCII.
pub(crate) fn plain_form(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let unseen = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    // The order of canonical caseless matching in the Unicode standard (D145): decompose, fold, normalize again.
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(text);
    let folded: String = decomposed.chars().filter(|character| !unseen.contains(*character)).flat_map(fold).collect();
    match ComposingNormalizerBorrowed::new_nfc().normalize(&folded) {
        // `folded` is in the composed form already.
        Cow::Borrowed(_) => Cow::Owned(folded),
        Cow::Owned(composed) => Cow::Owned(composed),
    }
}

/// Folds the case of one character, which can give several: `ß` becomes `ss`. It goes through the upper case, because
/// only there `ſ` and `s` are the same.
fn fold(character: char) -> impl Iterator<Item = char> {
    character.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_have_one_plain_form() {
        for (one, other) in [
            ("caf\u{e9}", "cafe\u{301}"),
            ("CAF\u{c9}", "cafe\u{301}"),
            ("se\u{200b}crets", "secrets"),
            ("\u{feff}secrets\u{2060}", "secrets"),
            ("s\u{ad}ecrets\u{fe0f}", "secrets"),
            ("stra\u{df}e", "stra\u{1e9e}e"),
            ("\u{212a}ey", "key"),
            ("\u{17f}ecret", "secret"),
            ("\u{ac00}", "\u{1100}\u{1161}"),
        ] {
            assert_eq!(plain_form(one), plain_form(other), "{one:?} {other:?}");
        }
        assert_eq!(plain_form("Secrets"), "Secrets");
        assert_ne!(plain_form("cafe\u{301}"), plain_form("cafe"));
    }
}
