//! What the writer of a policy probably meant: the known word that is nearest to the written one.
//!
//! This file must not know where a word is written.

use crate::caller::Origin;
use crate::decision::Decision;
use crate::error::PolicyFault;
use crate::hint::Hint;
use crate::nearest::nearest;
use crate::permission::Permission;

/// Returns the known word that is nearest to the written key or value. `written` may have the quotes of TOML.
pub(crate) fn suggestion(fault: &PolicyFault, written: &str) -> Option<String> {
    let known: Vec<&str> = match fault {
        PolicyFault::NotBound { nearest, .. } | PolicyFault::UnknownToolset { nearest } => return nearest.clone(),
        PolicyFault::UnknownKey { known } | PolicyFault::Word { known } => known.clone(),
        PolicyFault::Decision(_) => Decision::ALL.map(Decision::as_str).to_vec(),
        PolicyFault::Permission(_) => Permission::ALL.map(Permission::as_str).to_vec(),
        PolicyFault::Hint(_) => Hint::ALL.map(Hint::as_str).to_vec(),
        PolicyFault::Origin(_) => Origin::ALL.map(Origin::as_str).to_vec(),
        _other => return None,
    };
    let written = written.trim_matches(['"', '\'']);
    nearest(written, known.into_iter()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use crate::Policy;

    #[test]
    fn misspelt_keys_and_words_get_the_nearest_known_one() {
        let rows = [
            ("limit = 3\n", "limits"),
            ("[[rule]]\ntool = \"a.b\"\ndecison = \"allow\"\ndecision = \"allow\"\n", "decision"),
            ("[[rule]]\ntool = \"a.b\"\ndecision = \"alow\"\n", "allow"),
            ("[[rule]]\ntool = \"a.b\"\ndecision = \"allow\"\npermission = 'wirte'\n", "write"),
            ("[record]\npayloads = \"keeep\"\n", "keep"),
            ("[plugin.a]\ndirectry.w = { path = \"a\" }\n", "directory"),
        ];
        for (text, expected) in rows {
            let error = Policy::parse(text).unwrap_err();
            assert_eq!(error.suggestion(), Some(expected), "{text}{error}");
            assert!(error.to_string().contains(&format!(" (did you mean `{expected}`?); ")), "{error}");
        }
        assert_eq!(Policy::parse("elephants = 1\n").unwrap_err().suggestion(), None);
    }
}
