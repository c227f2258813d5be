//! The fields of a query or a form.

use axum::extract::RawQuery;

/// The fields of a query or a form. Several fields can have the same name.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageQuery(Vec<(String, String)>);

impl PageQuery {
    /// Parses the query of a request.
    pub(crate) fn of(RawQuery(query): RawQuery) -> Self {
        Self::parse(query.unwrap_or_default().as_bytes())
    }

    /// Parses percent-encoded fields.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// Returns the value of a field, or the empty text.
    pub(crate) fn get(&self, name: &str) -> &str {
        let field = self.0.iter().find(|(known, _)| known == name);
        field.map_or("", |(_, value)| value)
    }

    /// Returns every value of a field.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Returns an address with these fields. Leaves out empty ones.
pub(crate) fn address(path: &str, fields: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(fields.iter().filter(|(_, value)| !value.is_empty()));
    match query.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}
