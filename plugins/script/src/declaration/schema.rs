//! A JSON Schema as a TypeScript type.

use portcullis_sdk::serde_json::{Map, Value};

use super::document::{comment, indent};

/// Maximum depth of a type. What is deeper, or refers to itself, is `unknown`.
const DEPTH_MAX: usize = 8;

/// Maximum values of an enumeration to list.
const VALUES_MAX: usize = 60;

/// The name of a type that a declaration does not describe.
const UNKNOWN: &str = "unknown";

/// What a schema limits, with the words for it. `{}` is the limit.
const LIMITS: [(&str, &str); 10] = [
    ("default", "Default: {}."),
    ("minimum", "Minimum: {}."),
    ("maximum", "Maximum: {}."),
    ("exclusiveMinimum", "More than {}."),
    ("exclusiveMaximum", "Less than {}."),
    ("maxLength", "At most {} characters."),
    ("minItems", "At least {} items."),
    ("maxItems", "At most {} items."),
    ("pattern", "Pattern: {}."),
    ("format", "Format: {}."),
];

/// Writes the types of one schema, which can refer to its own definitions.
pub(super) struct SchemaWriter<'a> {
    root: &'a Value,
}

/// Where a type is written.
#[derive(Clone, Copy)]
struct Place {
    /// The indentation of the line that the type begins on.
    level: usize,
    depth: usize,
}

impl Place {
    fn inner(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    fn indented(self) -> Self {
        Self { level: self.level + 1, depth: self.depth + 1 }
    }
}

impl<'a> SchemaWriter<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root }
    }

    pub(super) fn has_properties(&self, schema: &Value) -> bool {
        self.resolved(schema)["properties"].as_object().is_some_and(|properties| !properties.is_empty())
    }

    pub(super) fn requires_any(&self, schema: &Value) -> bool {
        self.resolved(schema)["required"].as_array().is_some_and(|required| !required.is_empty())
    }

    /// Writes the type of a schema.
    pub(super) fn text(&self, schema: &Value, level: usize) -> String {
        self.type_of(schema, Place { level, depth: 0 })
    }

    /// Follows references within the schema, a few steps.
    fn resolved<'s>(&self, schema: &'s Value) -> &'s Value
    where
        'a: 's,
    {
        let mut schema = schema;
        // References can form a loop.
        for _ in 0..DEPTH_MAX {
            let Some(reference) = schema["$ref"].as_str() else { break };
            let Some(target) = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) else {
                break;
            };
            schema = target;
        }
        schema
    }

    fn type_of(&self, schema: &Value, place: Place) -> String {
        if place.depth > DEPTH_MAX {
            return UNKNOWN.to_owned();
        }
        if schema == &Value::Bool(false) {
            return "never".to_owned();
        }
        let schema = self.resolved(schema);
        if let Some(value) = schema.get("const") {
            return value.to_string();
        }
        if let Some(values) = schema["enum"].as_array() {
            return literals(values);
        }
        let mut types = Vec::new();
        types.extend(self.own_type(schema, place));
        for alternatives in [&schema["anyOf"], &schema["oneOf"]] {
            if let Some(alternatives) = alternatives.as_array().filter(|alternatives| !alternatives.is_empty()) {
                types.push(union(alternatives.iter().map(|one| self.type_of(one, place.inner()))));
            }
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            types.push(self.type_of(part, place.inner()));
        }
        intersection(types)
    }

    /// Returns the type that `type` and its keywords give, or `None` if there are none.
    fn own_type(&self, schema: &Value, place: Place) -> Option<String> {
        match &schema["type"] {
            Value::String(name) => Some(self.named(name, schema, place)),
            Value::Array(names) => {
                Some(union(names.iter().filter_map(Value::as_str).map(|name| self.named(name, schema, place))))
            }
            _ if schema["properties"].is_object() => Some(self.named("object", schema, place)),
            _ if schema["items"].is_object() || schema["prefixItems"].is_array() => {
                Some(self.named("array", schema, place))
            }
            _ => None,
        }
    }

    fn named(&self, name: &str, schema: &Value, place: Place) -> String {
        match name {
            "string" => "string".to_owned(),
            "number" | "integer" => "number".to_owned(),
            "boolean" => "boolean".to_owned(),
            "null" => "null".to_owned(),
            "array" => self.array(schema, place),
            "object" => self.object(schema, place),
            _ => UNKNOWN.to_owned(),
        }
    }

    fn array(&self, schema: &Value, place: Place) -> String {
        if let Some(items) = schema["prefixItems"].as_array() {
            let items: Vec<String> = items.iter().map(|item| self.type_of(item, place.inner())).collect();
            return format!("[{}]", items.join(", "));
        }
        let item = schema.get("items").map_or_else(|| UNKNOWN.to_owned(), |item| self.type_of(item, place.inner()));
        if is_compound(&item) { format!("({item})[]") } else { format!("{item}[]") }
    }

    fn object(&self, schema: &Value, place: Place) -> String {
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let rest = match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => None,
            Some(rest @ Value::Object(_)) => Some(self.type_of(rest, place.inner())),
            _ => properties.is_empty().then(|| UNKNOWN.to_owned()),
        };
        if properties.is_empty() {
            return rest.map_or_else(|| "{}".to_owned(), |rest| format!("Record<string, {rest}>"));
        }
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let indentation = indent(place.level + 1);
        let mut text = "{\n".to_owned();
        let (needed, optional): (Vec<_>, Vec<_>) =
            properties.iter().partition(|(name, _)| required.contains(&name.as_str()));
        for (name, property) in needed.iter().chain(&optional) {
            let mark = if required.contains(&name.as_str()) { "" } else { "?" };
            text.push_str(&comment(&self.documentation(property), place.level + 1));
            let property = self.type_of(property, place.indented());
            text.push_str(&format!("{indentation}{}{mark}: {property};\n", property_name(name)));
        }
        if let Some(rest) = rest {
            text.push_str(&format!("{indentation}[name: string]: {rest};\n"));
        }
        text.push_str(&indent(place.level));
        text.push('}');
        text
    }

    /// Returns the paragraphs that document a property: its description, its limits and the meaning of its values.
    fn documentation(&self, property: &Value) -> Vec<String> {
        let target = self.resolved(property);
        let mut sentences = Vec::new();
        sentences
            .extend(property["description"].as_str().or_else(|| target["description"].as_str()).map(str::to_owned));
        for (keyword, words) in LIMITS {
            if let Some(limit) = property.get(keyword).or_else(|| target.get(keyword)) {
                sentences.push(words.replace("{}", &limit.to_string()));
            }
        }
        let mut paragraphs = Vec::new();
        if !sentences.is_empty() {
            paragraphs.push(sentences.join(" "));
        }
        for value in target["oneOf"].as_array().into_iter().flatten().take(VALUES_MAX) {
            if let (Some(constant), Some(description)) = (value.get("const"), value["description"].as_str()) {
                paragraphs.push(format!("{constant}: {description}"));
            }
        }
        paragraphs
    }
}

/// Returns a name as the key of a property: quoted, if it is not an identifier.
pub(super) fn property_name(name: &str) -> String {
    let mut characters = name.chars();
    let begins = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_' || first == '$');
    if begins && characters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$') {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

fn literals(values: &[Value]) -> String {
    let shown = values.iter().take(VALUES_MAX).map(Value::to_string);
    // The type must not refuse a value that the schema allows.
    let more = (values.len() > VALUES_MAX).then(|| UNKNOWN.to_owned());
    union(shown.chain(more))
}

fn union(types: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for one in types {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    if all.is_empty() { "never".to_owned() } else { all.join(" | ") }
}

fn intersection(mut types: Vec<String>) -> String {
    match types.len() {
        0 => UNKNOWN.to_owned(),
        1 => types.remove(0),
        _ => {
            let parts = types.iter().map(|one| if is_compound(one) { format!("({one})") } else { one.clone() });
            parts.collect::<Vec<_>>().join(" & ")
        }
    }
}

/// Whether a type needs parentheses before `[]` or beside `&`.
fn is_compound(text: &str) -> bool {
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '{' | '[' | '(' | '<' => depth += 1,
            '}' | ']' | ')' | '>' => depth = depth.saturating_sub(1),
            '|' | '&' if depth == 0 => return true,
            _ => (),
        }
    }
    false
}
