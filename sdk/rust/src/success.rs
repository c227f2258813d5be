//! The outputs of tools, and the conversion of ordinary values into them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Failure;
use crate::schema;

/// Bytes and their media type, such as `image/png`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// The file name for people, such as `report.csv`. Never a path.
    pub name: Option<String>,
    /// The media type, as in RFC 6838.
    pub media_type: String,
    /// The bytes themselves.
    pub data: Vec<u8>,
}

impl Blob {
    /// Creates a blob with a media type.
    pub fn new(media_type: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self { name: None, media_type: media_type.into(), data: data.into() }
    }

    /// Sets the file name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

/// A piece of a composite output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text for the model.
    Text(String),
    /// An image for the model.
    Image(Blob),
    /// A file.
    File(Blob),
}

/// An output of several pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts(pub Vec<Part>);

/// A JSON output whose type gives the output schema.
///
/// A `serde_json::Value` is an output too, but has no schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// The output of a tool, in one of the three shapes that a host knows.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Text for the model.
    Text(String),
    /// One JSON document.
    Json(Value),
    /// Several pieces.
    Parts(Vec<Part>),
}

/// An output with a title for people and metadata for programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Success<O = Output> {
    /// A few words for people, such as `Read src/main.rs`.
    pub title: Option<String>,
    /// The output for the model.
    pub output: O,
    /// One JSON object for programs; a model does not see it.
    pub metadata: Option<Value>,
}

impl<O> Success<O> {
    /// Creates a success without title and metadata.
    pub fn new(output: O) -> Self {
        Self { title: None, output, metadata: None }
    }

    /// Sets the title: a few words for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the metadata: a struct or `json!({...})`. Anything other than an object fails the call.
    #[must_use]
    pub fn metadata(mut self, metadata: impl Serialize) -> Self {
        self.metadata = Some(serde_json::to_value(&metadata).unwrap_or(Value::Null));
        self
    }
}

impl Success {
    /// Returns the output as text: a text itself, a JSON document as it is written, and of parts their texts.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.output {
            Output::Text(text) => text.clone(),
            Output::Json(value) => value.to_string(),
            Output::Parts(parts) => {
                let texts = parts.iter().filter_map(|part| match part {
                    Part::Text(text) => Some(text.as_str()),
                    Part::Image(_) | Part::File(_) => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

/// A type that a tool may return.
pub trait IntoOutput {
    /// Returns the schema of the JSON output, if there is one.
    #[must_use]
    fn schema() -> Option<Value> {
        None
    }

    /// Converts the value for the host.
    ///
    /// # Errors
    /// The value does not serialize, or its metadata is not an object.
    fn into_success(self) -> Result<Success, Failure>;
}

impl IntoOutput for String {
    fn into_success(self) -> Result<Success, Failure> {
        Ok(Success::new(Output::Text(self)))
    }
}

impl IntoOutput for &str {
    fn into_success(self) -> Result<Success, Failure> {
        self.to_owned().into_success()
    }
}

impl IntoOutput for Value {
    fn into_success(self) -> Result<Success, Failure> {
        Ok(Success::new(Output::Json(self)))
    }
}

impl IntoOutput for Parts {
    fn into_success(self) -> Result<Success, Failure> {
        Ok(Success::new(Output::Parts(self.0)))
    }
}

impl IntoOutput for Output {
    fn into_success(self) -> Result<Success, Failure> {
        Ok(Success::new(self))
    }
}

/// A tool that can fail returns a result; any other returns its output directly.
impl<O: IntoOutput> IntoOutput for Result<O, Failure> {
    fn schema() -> Option<Value> {
        O::schema()
    }

    fn into_success(self) -> Result<Success, Failure> {
        self?.into_success()
    }
}

impl<T: Serialize + JsonSchema> IntoOutput for Json<T> {
    fn schema() -> Option<Value> {
        Some(schema::of_output::<T>())
    }

    fn into_success(self) -> Result<Success, Failure> {
        serde_json::to_value(self.0)?.into_success()
    }
}

impl<O: IntoOutput> IntoOutput for Success<O> {
    fn schema() -> Option<Value> {
        O::schema()
    }

    fn into_success(self) -> Result<Success, Failure> {
        if self.metadata.as_ref().is_some_and(|metadata| !metadata.is_object()) {
            return Err(Failure::failed("the tool's metadata is not a JSON object"));
        }
        let inner = self.output.into_success()?;
        Ok(Success {
            title: self.title.or(inner.title),
            output: inner.output,
            metadata: self.metadata.or(inner.metadata),
        })
    }
}
