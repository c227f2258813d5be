//! Variables that change what programs run, and what arithmetic does with variables.

/// The variables that decide which program a name means, or that run commands themselves.
const RISKY_VARIABLES: [&str; 11] = [
    "PATH",
    "BASH_ENV",
    "ENV",
    "PS4",
    "PROMPT_COMMAND",
    "SHELLOPTS",
    "BASHOPTS",
    "BASH_LOADABLES_PATH",
    "BASH_CMDS",
    "BASH_ALIASES",
    "EXECIGNORE",
];

/// The prefixes of the variables of the dynamic linker, and of those that define functions.
const RISKY_PREFIXES: [&str; 2] = ["LD_", "BASH_FUNC_"];

/// Returns whether a variable decides which program a name means, or runs commands itself.
pub(super) fn is_risky(name: &str) -> bool {
    RISKY_VARIABLES.contains(&name) || RISKY_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns whether a text has the name of such a variable.
pub(super) fn has_risky_name(text: &str) -> bool {
    RISKY_VARIABLES.iter().chain(&RISKY_PREFIXES).any(|name| text.contains(name))
}

/// Returns the variables that an arithmetic expression may set.
pub(super) fn arithmetic_targets(expression: &str) -> Vec<String> {
    if !["=", "++", "--"].iter().any(|operator| expression.contains(operator)) {
        return Vec::new();
    }
    expression.split(|character| !is_name_character(character)).map(str::to_owned).collect()
}

/// Returns whether the shell would run a command if it evaluated this text as arithmetic or as an array, such as
/// `a[1 + $(id)]` and `($(id))`.
pub(super) fn has_literal_substitution(text: &str) -> bool {
    // In `y='(…)'`, the literal text has the name too.
    let value = text.trim_start_matches(is_name_character).trim_start_matches(['+', '=']);
    // For each open bracket, whether it follows a name.
    let mut brackets: Vec<bool> = Vec::new();
    let (mut before, mut elements) = (None, usize::from(value.starts_with('(')));
    for (position, character) in text.char_indices() {
        let is_substitution = character == '`' || text[position..].starts_with("$(");
        if is_substitution && (elements > 0 || before == Some('[')) {
            return true;
        }
        match character {
            '[' => {
                let is_element = before.is_some_and(is_name_character);
                elements += usize::from(is_element);
                brackets.push(is_element);
            }
            ']' => elements -= usize::from(brackets.pop().unwrap_or_default()),
            _ => {}
        }
        before = Some(character);
    }
    false
}

/// Returns whether the name of a variable can have a character.
pub(super) fn is_name_character(character: char) -> bool {
    character == '_' || character.is_ascii_alphanumeric()
}
