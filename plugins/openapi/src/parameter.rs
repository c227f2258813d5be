//! The parameters of an operation, and the names of their arguments.

use portcullis_sdk::serde_json::Value;

use crate::body::is_json;
use crate::document::Document;
use crate::document_part::MULTI_SEGMENT;
use crate::serialization::ParameterStyle;

/// Where a parameter is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterLocation {
    Path,
    Query,
    Header,
    Cookie,
}

/// The name of the argument with the body.
pub(crate) const BODY: &str = "body";

/// Headers that OpenAPI ignores, or that only the host sets.
const HEADERS_SKIPPED: [&str; 20] = [
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
];

/// The beginning of headers for a proxy, which no host sends.
const PROXY_PREFIX: &str = "proxy-";

/// A parameter.
#[derive(Debug)]
pub(crate) struct Parameter<'a> {
    /// The name of the argument: that of the parameter, or with its location if several arguments have it.
    pub(crate) argument: String,
    pub(crate) name: &'a str,
    pub(crate) location: ParameterLocation,
    pub(crate) style: ParameterStyle,
    pub(crate) explode: bool,
    /// Whether the value keeps reserved characters: in a path only `/`.
    pub(crate) allows_reserved: bool,
    /// Whether the value is sent as JSON, because the parameter has `content`.
    pub(crate) is_json: bool,
    pub(crate) is_required: bool,
    pub(crate) schema: Option<&'a Value>,
    pub(crate) description: Option<&'a str>,
}

/// Reads the parameters of a path and of its operation, without the keys of security schemes. Those of the operation
/// replace those of the path.
pub(crate) fn read<'a>(
    document: &'a Document,
    path: &str,
    item: &'a Value,
    operation: &'a Value,
    security: &[SecurityKey<'_>],
) -> Result<Vec<Parameter<'a>>, String> {
    let mut parameters: Vec<Parameter<'a>> = Vec::new();
    for owner in [item, operation] {
        for value in owner.get("parameters").and_then(Value::as_array).into_iter().flatten() {
            let Some(parameter) = parameter(document, document.resolve(value)?)? else { continue };
            parameters.retain(|other| (other.name, other.location) != (parameter.name, parameter.location));
            parameters.push(parameter);
        }
    }
    parameters.retain(|one| !security.contains(&(one.location, one.name)));
    check_path(path, &parameters)?;
    name_arguments(&mut parameters)?;
    Ok(parameters)
}

fn parameter<'a>(document: &'a Document, value: &'a Value) -> Result<Option<Parameter<'a>>, String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let flag = |key: &str| value.get(key).and_then(Value::as_bool);
    let name = text("name").filter(|name| !name.is_empty()).ok_or("a parameter has no name")?;
    let location = location(text("in").unwrap_or_default())
        .ok_or_else(|| format!("the parameter {name:?} has an unknown location"))?;
    if location == ParameterLocation::Header {
        let lower = name.to_ascii_lowercase();
        if HEADERS_SKIPPED.contains(&lower.as_str()) || lower.starts_with(PROXY_PREFIX) {
            return Ok(None);
        }
        // These are the characters of a token in RFC 9110, section 5.6.2. Any other could end the header.
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)) {
            return Err(format!("the header {name:?} has an invalid name"));
        }
    }
    let style = match text("style") {
        Some(style) => ParameterStyle::parse(style).ok_or_else(|| format!("the style {style:?} is unknown"))?,
        None if matches!(location, ParameterLocation::Path | ParameterLocation::Header) => ParameterStyle::Simple,
        None => ParameterStyle::Form,
    };
    // OpenAPI permits only one media type here.
    let media = value.get("content").and_then(Value::as_object).and_then(|content| content.iter().next());
    let schema = match media {
        Some((media_type, _)) if !is_json(media_type) => {
            return Err(format!("the parameter {name:?} is {media_type}, which the plugin cannot send"));
        }
        Some((_, media)) => document.resolve(media)?.get("schema"),
        None => value.get("schema"),
    };
    Ok(Some(Parameter {
        argument: name.to_owned(),
        name,
        location,
        style,
        explode: flag("explode").unwrap_or(style == ParameterStyle::Form),
        allows_reserved: flag(if location == ParameterLocation::Path { MULTI_SEGMENT } else { "allowReserved" })
            .unwrap_or(false),
        is_json: media.is_some(),
        // A path cannot be built without one of its parameters, whatever the document says.
        is_required: location == ParameterLocation::Path || flag("required").unwrap_or(false),
        schema,
        description: text("description"),
    }))
}

fn location(name: &str) -> Option<ParameterLocation> {
    Some(match name {
        "path" => ParameterLocation::Path,
        "query" => ParameterLocation::Query,
        "header" => ParameterLocation::Header,
        "cookie" => ParameterLocation::Cookie,
        _ => return None,
    })
}

/// A parameter that is the key of a security scheme: where it is sent, and its name.
pub(crate) type SecurityKey<'a> = (ParameterLocation, &'a str);

/// Returns the parameters that are keys of security schemes. The host adds the secret, so a model must not.
pub(crate) fn security_keys(document: &Document) -> Vec<SecurityKey<'_>> {
    let schemes = document.member("components").and_then(|components| components.get("securitySchemes"));
    let schemes = schemes.and_then(Value::as_object).into_iter().flatten();
    let keys = schemes.filter_map(|(_, scheme)| document.resolve(scheme).ok());
    let keys = keys.filter(|scheme| scheme.get("type").and_then(Value::as_str) == Some("apiKey"));
    keys.filter_map(|scheme| {
        let text = |key: &str| scheme.get(key).and_then(Value::as_str);
        Some((location(text("in")?)?, text("name")?))
    })
    .collect()
}

/// Checks that each placeholder of the path has a parameter, and that no path parameter is without one.
fn check_path(path: &str, parameters: &[Parameter<'_>]) -> Result<(), String> {
    let mut rest = path;
    while let Some((_, tail)) = rest.split_once('{') {
        let (name, tail) = tail.split_once('}').ok_or("its path has an unclosed `{`")?;
        if !parameters.iter().any(|one| one.location == ParameterLocation::Path && one.name == name) {
            return Err(format!("its path has no parameter for {{{name}}}"));
        }
        rest = tail;
    }
    let is_missing = |one: &&Parameter<'_>| !path.contains(&format!("{{{}}}", one.name));
    match parameters.iter().filter(|one| one.location == ParameterLocation::Path).find(is_missing) {
        Some(one) => Err(format!("its path has no placeholder for the parameter {:?}", one.name)),
        None => Ok(()),
    }
}

/// Gives each parameter the name of an argument. A name of several locations, or `body`, gets the location in front.
fn name_arguments(parameters: &mut [Parameter<'_>]) -> Result<(), String> {
    let names: Vec<&str> = parameters.iter().map(|one| one.name).collect();
    for one in parameters.iter_mut() {
        if one.name == BODY || names.iter().filter(|name| **name == one.name).count() > 1 {
            let location = match one.location {
                ParameterLocation::Path => "path",
                ParameterLocation::Query => "query",
                ParameterLocation::Header => "header",
                ParameterLocation::Cookie => "cookie",
            };
            one.argument = format!("{location}_{}", one.name);
        }
    }
    let is_taken = |one: &&Parameter<'_>| parameters.iter().filter(|other| other.argument == one.argument).count() > 1;
    match parameters.iter().find(is_taken) {
        Some(one) => Err(format!("several parameters would be the argument {:?}", one.argument)),
        None => Ok(()),
    }
}
