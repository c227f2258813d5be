//! A CSS subset, just large enough to decide whether text is hidden.

/// Maximum number of rules to read per style element. Later rules are ignored, even if they hide text.
const RULES_MAX: usize = 2_000;

/// Minimum length in pixels at which text is readable.
const READABLE_PIXELS: f32 = 2.0;

/// A shift by this many pixels moves text out of any window.
const AWAY_PIXELS: f32 = 500.0;

/// Approximate size of units in pixels.
const PIXELS: [(&str, f32); 8] =
    [("px", 1.0), ("pt", 1.3), ("rem", 16.0), ("em", 16.0), ("ch", 8.0), ("vw", 10.0), ("vh", 10.0), ("%", 5.0)];

/// One CSS rule.
pub(crate) struct Rule {
    pub(crate) selectors: Vec<String>,
    pub(crate) declarations: Vec<(String, String)>,
}

/// Returns the rules that apply unconditionally: those outside of `@media` and similar blocks.
pub(crate) fn rules(sheet: &str) -> Vec<Rule> {
    let sheet = without_comments(sheet);
    let mut rules = Vec::new();
    let mut rest = sheet.as_str();
    while rules.len() < RULES_MAX {
        let Some((prelude, after)) = rest.split_once('{') else { break };
        // Statements such as `@import` end before the next rule begins.
        let prelude = prelude.rsplit(';').next().unwrap_or_default().trim();
        let body = &after[..end_of_block(after)];
        rest = after.get(body.len() + 1..).unwrap_or_default();
        if !prelude.starts_with('@') {
            let selectors = prelude.split(',').map(|selector| selector.trim().to_owned()).collect();
            rules.push(Rule { selectors, declarations: declarations(body) });
        }
    }
    rules
}

/// Returns the position of the brace that closes a block, or the end of the text if there is none.
fn end_of_block(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Parses the declarations of a `style` attribute or of a rule, in lower case and without `!important`.
pub(crate) fn declarations(text: &str) -> Vec<(String, String)> {
    let text = unescaped(&without_comments(text)).to_ascii_lowercase();
    let declaration = |declaration: &str| {
        let (property, value) = declaration.split_once(':')?;
        let value = value.trim().trim_end_matches("!important").trim();
        Some((property.trim().to_owned(), value.to_owned()))
    };
    text.split(';').filter_map(declaration).collect()
}

fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// Decodes CSS escapes, such as `\64` for `d`.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // An escape has at most six digits, and one blank may end it (CSS Syntax Module).
        let digits = part.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        match u32::from_str_radix(&part[..digits], 16).ok().and_then(char::from_u32) {
            Some(character) => {
                plain.push(character);
                plain.push_str(part[digits..].strip_prefix(' ').unwrap_or(&part[digits..]));
            }
            None => plain.push_str(part),
        }
    }
    plain
}

/// Returns whether a text is a plain name, without further selectors.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Returns the classes and ids that a selector names.
pub(crate) fn names(selector: &str) -> Vec<String> {
    let name = |part: &str| {
        let end = part.find(|character: char| !is_name(character.encode_utf8(&mut [0; 4]))).unwrap_or(part.len());
        part[..end].to_owned()
    };
    selector.split(['.', '#']).skip(1).map(name).collect()
}

/// Returns whether declarations show what other rules hide.
pub(crate) fn shows(declarations: &[(String, String)]) -> bool {
    declarations.iter().any(|(property, value)| match property.as_str() {
        "display" => value != "none",
        "visibility" => value == "visible",
        "opacity" => value == "1",
        _ => false,
    })
}

/// Returns whether declarations hide an element.
pub(crate) fn hides(declarations: &[(String, String)]) -> bool {
    // Of several declarations of a property, the last one applies.
    let value =
        |name: &str| declarations.iter().rev().find(|(property, _)| property == name).map(|(_, value)| value.as_str());
    let is_one_of = |name: &str, values: &[&str]| value(name).is_some_and(|value| values.contains(&value));
    let below = |name: &str, most: f32| value(name).and_then(pixels).is_some_and(|length| length < most);
    let is_clipped = is_one_of("overflow", &["hidden", "clip"]) || is_one_of("position", &["absolute", "fixed"]);

    is_one_of("display", &["none"])
        || is_one_of("visibility", &["hidden", "collapse"])
        || is_one_of("content-visibility", &["hidden"])
        || value("opacity").and_then(number).is_some_and(|opacity| opacity < 0.1)
        || below("font-size", READABLE_PIXELS)
        || (is_clipped
            && ["width", "height", "max-width", "max-height"].iter().any(|side| below(side, READABLE_PIXELS)))
        || ["left", "right", "top", "bottom", "text-indent", "margin-left", "margin-top"]
            .iter()
            .any(|side| below(side, -AWAY_PIXELS))
        || value("clip").is_some_and(is_nothing)
        || value("clip-path").is_some_and(is_nothing)
        || value("transform").is_some_and(moves_away)
        || value("color").is_some_and(|color| {
            let ground = value("background-color").or(value("background"));
            color == "transparent" || ground == Some(color)
        })
}

/// Parses a length, in pixels.
fn pixels(value: &str) -> Option<f32> {
    if let Some(length) = number(value) {
        return Some(length);
    }
    let (unit, factor) = PIXELS.iter().find(|(unit, _)| value.ends_with(unit))?;
    Some(number(value.strip_suffix(unit)?)? * factor)
}

fn number(value: &str) -> Option<f32> {
    value.trim().parse().ok()
}

/// Returns whether a clipping shape hides everything.
fn is_nothing(shape: &str) -> bool {
    let (kind, values) = shape.split_once('(').unwrap_or_default();
    let lengths: Vec<f32> =
        values.trim_end_matches(')').split([',', ' ']).filter_map(|value| pixels(value.trim())).collect();
    match kind {
        "rect" => lengths.len() == 4 && lengths.iter().all(|length| *length < READABLE_PIXELS),
        "circle" | "ellipse" => lengths.first().is_some_and(|radius| *radius < READABLE_PIXELS),
        // 50% from each side leaves nothing. `PIXELS` counts a percent as 5 pixels.
        "inset" => shape.contains('%') && lengths.first().is_some_and(|inset| *inset >= 50.0 * 5.0),
        _ => false,
    }
}

/// Returns whether a transformation moves or scales an element out of the window.
fn moves_away(transform: &str) -> bool {
    let mut rest = transform;
    while let Some((kind, after)) = rest.split_once('(') {
        let (values, further) = after.split_once(')').unwrap_or((after, ""));
        let mut lengths = values.split(',').filter_map(pixels_trimmed);
        let gone = match kind.trim() {
            "scale" | "scalex" | "scaley" => lengths.any(|factor| factor.abs() < 0.05),
            "translate" | "translatex" | "translatey" => lengths.any(|length| length < -AWAY_PIXELS),
            _ => false,
        };
        if gone {
            return true;
        }
        rest = further;
    }
    false
}

fn pixels_trimmed(value: &str) -> Option<f32> {
    pixels(value.trim())
}
