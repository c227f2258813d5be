//! Serializes the arguments of parameters by their `style`, as RFC 6570 expands them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use portcullis_sdk::serde_json::Value;

/// How a parameter is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterStyle {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
}

impl ParameterStyle {
    /// Parses the keyword `style`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "simple" => Self::Simple,
            "label" => Self::Label,
            "matrix" => Self::Matrix,
            "form" => Self::Form,
            "spaceDelimited" => Self::SpaceDelimited,
            "pipeDelimited" => Self::PipeDelimited,
            "deepObject" => Self::DeepObject,
            _ => return None,
        })
    }
}

/// Which characters stay as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Letters, digits and `-._~`.
    Unreserved,
    /// Also `/`.
    Segments,
    /// Also the reserved characters that cannot end a query or divide its pairs.
    Reserved,
    /// Everything, for headers.
    Verbatim,
}

/// The characters that are encoded: all but letters, digits and `-._~`.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

const SEGMENTS: &AsciiSet = &UNRESERVED.remove(b'/');

/// `allowReserved` keeps the others. `#` would end the query. `&`, `=` and `+` would change its pairs.
const RESERVED: &AsciiSet = &UNRESERVED
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'[')
    .remove(b']')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';');

/// A parameter as it is serialized.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expansion<'a> {
    pub(crate) name: &'a str,
    pub(crate) style: ParameterStyle,
    pub(crate) explode: bool,
    pub(crate) encoding: Encoding,
}

impl Expansion<'_> {
    /// Returns the text of a path segment or of a header.
    pub(crate) fn text(&self, value: &Value) -> String {
        match self.style {
            ParameterStyle::Label => self.prefixed('.', value),
            ParameterStyle::Matrix => self.matrix(value),
            ParameterStyle::Simple
            | ParameterStyle::Form
            | ParameterStyle::SpaceDelimited
            | ParameterStyle::PipeDelimited
            | ParameterStyle::DeepObject => self.joined(value, ",", self.explode),
        }
    }

    /// Returns the pairs of a query, a form or a cookie. Each is encoded.
    pub(crate) fn pairs(&self, value: &Value) -> Vec<String> {
        let name = self.encoded(self.name);
        match (self.style, value) {
            (ParameterStyle::DeepObject, Value::Object(_) | Value::Array(_)) => {
                let mut pairs = Vec::new();
                self.deep(&name, value, &mut pairs);
                pairs
            }
            (_, Value::Array(items)) if self.explode => {
                items.iter().map(|item| format!("{name}={}", self.item(item))).collect()
            }
            (_, Value::Object(_)) if self.explode => self.members(value),
            // The separators are written encoded, because a pair is not encoded again.
            (ParameterStyle::SpaceDelimited, _) => vec![format!("{name}={}", self.joined(value, "%20", false))],
            (ParameterStyle::PipeDelimited, _) => vec![format!("{name}={}", self.joined(value, "%7C", false))],
            _ => vec![format!("{name}={}", self.joined(value, ",", false))],
        }
    }

    /// Adds the pairs of an object or a list in brackets. OpenAPI defines only objects of primitives. Servers that
    /// accept more expect the keys and indices in further brackets.
    fn deep(&self, name: &str, value: &Value, pairs: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    self.deep(&format!("{name}%5B{}%5D", self.encoded(key)), member, pairs);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.deep(&format!("{name}%5B{index}%5D"), item, pairs);
                }
            }
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) | Value::String(_) => pairs.push(format!("{name}={}", self.item(value))),
        }
    }

    fn prefixed(&self, prefix: char, value: &Value) -> String {
        let separator = if self.explode { prefix.to_string() } else { ",".to_owned() };
        format!("{prefix}{}", self.joined(value, &separator, self.explode))
    }

    fn matrix(&self, value: &Value) -> String {
        let name = self.encoded(self.name);
        match value {
            Value::Array(items) if self.explode => {
                items.iter().map(|item| format!(";{name}={}", self.item(item))).collect()
            }
            Value::Object(_) if self.explode => self.members(value).iter().map(|pair| format!(";{pair}")).collect(),
            _ => match self.joined(value, ",", false) {
                // In RFC 6570, section 3.2.7, an empty value has no `=`.
                text if text.is_empty() => format!(";{name}"),
                text => format!(";{name}={text}"),
            },
        }
    }

    fn joined(&self, value: &Value, separator: &str, explode: bool) -> String {
        match value {
            Value::Array(items) => items.iter().map(|item| self.item(item)).collect::<Vec<_>>().join(separator),
            Value::Object(_) if explode => self.members(value).join(separator),
            Value::Object(members) => {
                let members = members.iter().filter(|(_, member)| !member.is_null());
                let texts = members.flat_map(|(key, member)| [self.encoded(key), self.item(member)]);
                texts.collect::<Vec<_>>().join(separator)
            }
            _ => self.item(value),
        }
    }

    fn members(&self, value: &Value) -> Vec<String> {
        let members = value.as_object().into_iter().flatten().filter(|(_, member)| !member.is_null());
        members.map(|(key, member)| format!("{}={}", self.encoded(key), self.item(member))).collect()
    }

    fn item(&self, value: &Value) -> String {
        self.encoded(&plain(value))
    }

    fn encoded(&self, text: &str) -> String {
        encode(text, self.encoding)
    }
}

/// Returns a primitive as text. A nested array or object becomes JSON, because no style defines it.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Percent-encodes a text.
pub(crate) fn encode(text: &str, encoding: Encoding) -> String {
    let kept = match encoding {
        Encoding::Unreserved => UNRESERVED,
        Encoding::Segments => SEGMENTS,
        Encoding::Reserved => RESERVED,
        Encoding::Verbatim => return text.to_owned(),
    };
    utf8_percent_encode(text, kept).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_sdk::serde_json::json;

    fn expansion(style: ParameterStyle, explode: bool) -> Expansion<'static> {
        Expansion { name: "color", style, explode, encoding: Encoding::Unreserved }
    }

    fn values() -> [Value; 4] {
        [json!(""), json!("blue"), json!(["blue", "black", "brown"]), json!({ "R": 100, "G": 200, "B": 150 })]
    }

    #[test]
    fn path_and_header_styles_follow_the_table_of_the_specification() {
        use ParameterStyle::{Label, Matrix, Simple};
        let rows: [(ParameterStyle, bool, [&str; 4]); 6] = [
            (Matrix, false, [";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"]),
            (Matrix, true, [";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"]),
            (Label, false, [".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"]),
            (Label, true, [".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"]),
            (Simple, false, ["", "blue", "blue,black,brown", "R,100,G,200,B,150"]),
            (Simple, true, ["", "blue", "blue,black,brown", "R=100,G=200,B=150"]),
        ];
        for (style, explode, expected) in rows {
            let texts = values().map(|value| sorted(&expansion(style, explode).text(&value)));
            assert_eq!(texts, expected.map(sorted), "{style:?} {explode}");
        }
    }

    #[test]
    fn query_styles_follow_the_table_of_the_specification() {
        use ParameterStyle::{DeepObject, Form, PipeDelimited, SpaceDelimited};
        let [empty, text, list, object] = values();
        let rows = [
            (Form, false, &empty, "color="),
            (Form, false, &text, "color=blue"),
            (Form, false, &list, "color=blue,black,brown"),
            (Form, false, &object, "color=R,100,G,200,B,150"),
            (Form, true, &list, "color=blue&color=black&color=brown"),
            (Form, true, &object, "R=100&G=200&B=150"),
            (SpaceDelimited, false, &list, "color=blue%20black%20brown"),
            (SpaceDelimited, false, &object, "color=R%20100%20G%20200%20B%20150"),
            (PipeDelimited, false, &list, "color=blue%7Cblack%7Cbrown"),
            (PipeDelimited, false, &object, "color=R%7C100%7CG%7C200%7CB%7C150"),
            (DeepObject, true, &object, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        ];
        let nested = json!({ "a": { "b": [1, null, { "c": "&" }] } });
        let pairs = expansion(DeepObject, true).pairs(&nested);
        assert_eq!(pairs, ["color%5Ba%5D%5Bb%5D%5B0%5D=1", "color%5Ba%5D%5Bb%5D%5B2%5D%5Bc%5D=%26"]);
        for (style, explode, value, expected) in rows {
            let pairs = expansion(style, explode).pairs(value).join("&");
            assert_eq!(sorted(&pairs), sorted(expected), "{style:?} {explode}");
        }
    }

    /// Sorts the characters of a text: the members of an object may come in any order.
    fn sorted(text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        characters.sort_unstable();
        characters.into_iter().collect()
    }

    #[test]
    fn a_value_cannot_leave_its_place() {
        assert_eq!(encode("a/../b?c#d&e=f é", Encoding::Unreserved), "a%2F..%2Fb%3Fc%23d%26e%3Df%20%C3%A9");
        assert_eq!(encode("a/b?c#d&e=f+g", Encoding::Reserved), "a/b?c%23d%26e%3Df%2Bg");
        assert_eq!(encode("a/b?c", Encoding::Segments), "a/b%3Fc");
    }
}
