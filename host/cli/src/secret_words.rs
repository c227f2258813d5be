//! Recognizes values that are probably secrets, so that no policy and no output gets one. It guesses: it rather takes a
//! harmless value for a secret than a secret for a harmless value.

/// Words in the name of a variable or an option whose value is a secret.
const SECRET_WORDS: [&str; 9] =
    ["TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTHORIZATION", "COOKIE"];

/// How the secrets of well-known services begin.
const SECRET_BEGINNINGS: [&str; 12] =
    ["ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-", "sk_", "xoxb-", "xoxp-", "AKIA", "AIza", "eyJ"];

/// Maximum digits of a number that is a setting, such as a number of tokens.
const SETTING_DIGITS_MAX: usize = 8;

/// Returns whether the value of a variable is probably a secret.
pub(crate) fn is_secret(name: &str, value: &str) -> bool {
    let is_setting = value.is_empty()
        || value.len() <= SETTING_DIGITS_MAX && value.bytes().all(|byte| byte.is_ascii_digit())
        || ["true", "false"].contains(&value);
    (names_secret(name) && !is_setting) || looks_secret(value)
}

/// Returns whether the value of a variable names the source of a secret, and is none itself.
pub(crate) fn names_source(value: &str) -> bool {
    value.starts_with("env:") || value.starts_with("file:")
}

/// Returns the position of the first word of a command line that probably holds a secret, counted from 0.
pub(crate) fn secret_word(words: &[String]) -> Option<usize> {
    words.iter().enumerate().position(|(at, word)| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let is_value =
            before.is_some_and(|before| before.starts_with('-') && !before.contains('=') && is_secret(before, word));
        let assigned =
            word.split_once(['=', ':']).is_some_and(|(name, value)| is_name(name) && is_secret(name, value.trim()));
        // A word that begins with `-` is the next option, and not a value.
        is_value && !word.starts_with('-') || assigned || looks_secret(word)
    })
}

/// Returns whether a URL probably holds a secret: a password, or a parameter.
pub(crate) fn url_has_secret(url: &str) -> bool {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let mut pairs = query.split(['&', ';', '#']).filter_map(|pair| pair.split_once('='));
    looks_secret(url) || pairs.any(|(name, value)| is_secret(name, value))
}

fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase().replace('-', "_");
    SECRET_WORDS.iter().any(|word| name.contains(word))
        // Whole words only, because `PATH` and `AUTHOR` contain two of them.
        || name.split('_').any(|word| ["PAT", "PASS", "AUTH", "PWD"].contains(&word))
}

/// Returns whether a text is the name of a variable, an option or a header.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Returns whether a value is probably a secret, whatever its name: it begins like one, or is an address with a
/// password.
fn looks_secret(value: &str) -> bool {
    let has_password = value.split_once("://").is_some_and(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
    });
    let bearer = value.to_ascii_lowercase().contains("bearer ");
    has_password
        || bearer
        // Shorter values that begin so, such as `sk-learn`, are names.
        || SECRET_BEGINNINGS.iter().any(|begin| value.len() >= begin.len() + 12 && value.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_secret_by_its_name_or_its_look() {
        for (name, value) in [
            ("GITHUB_TOKEN", "abc"),
            ("api-key", "abc"),
            ("DB_PASSWORD", "p"),
            ("GITLAB_PAT", "abc"),
            ("DATABASE_URL", "postgres://u:p@localhost/db"),
            ("X", "ghp_0123456789abcdef"),
            ("HEADER", "Authorization: Bearer abc"),
        ] {
            assert!(is_secret(name, value), "{name}");
        }
        for (name, value) in [
            ("LANG", "C.UTF-8"),
            ("MAX_TOKENS", "4096"),
            ("USE_KEYRING", "true"),
            ("TOKEN", ""),
            ("PATH", "/usr/bin"),
            ("URL", "https://example.com/a@b:c"),
            ("MODE", "sk-learn"),
        ] {
            assert!(!is_secret(name, value), "{name}");
        }
    }

    #[test]
    fn a_secret_among_arguments_is_found() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        assert_eq!(secret_word(&words("--api-key abc")), Some(1));
        assert_eq!(secret_word(&words("--x --token=abc")), Some(1));
        assert_eq!(secret_word(&words("run -e TOKEN=abc")), Some(2));
        assert_eq!(secret_word(&words("postgresql://u:p@localhost/db")), Some(0));
        assert_eq!(secret_word(&["Authorization: xyz".to_owned()]), Some(0));
        for line in ["--key-file=8 /srv/work", "--token --verbose", "/srv/keys", "--port 8080 c:x"] {
            assert_eq!(secret_word(&words(line)), None, "{line}");
        }
    }
}
