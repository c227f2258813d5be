//! What to start a program with.

/// What to start a program with.
///
/// ```
/// use portcullis_sdk::Launch;
///
/// let launch = Launch::new(["log", "--oneline"]).environment("TZ", "UTC").directory("/workspace/src").merged();
/// assert_eq!(launch.arguments(), ["log", "--oneline"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    directory: Option<String>,
    input: Vec<u8>,
    is_merged: bool,
    missing: Option<Missing>,
}

impl Launch {
    /// Creates a launch with the arguments after the program's own name. No shell reads them.
    #[must_use]
    pub fn new(arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { arguments: arguments.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Adds an environment variable. A variable of the policy wins over one of the same name.
    #[must_use]
    pub fn environment(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Sets the directory to start in, such as `/workspace/src`: the key of a directory of the program's binding, and a
    /// path below it. The default is the first directory of the binding.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<String>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets what [`read`](crate::Running::read) and [`next_event`](crate::Running::next_event) write to stdin. By
    /// default stdin is empty.
    #[must_use]
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    /// Sends stderr to the stream of stdout, in the order of the writes.
    #[must_use]
    pub fn merged(mut self) -> Self {
        self.is_merged = true;
        self
    }

    /// Adds what the program lacks for this run. The start then asks an approver, who reads the program and its
    /// arguments, and waits for the answer. Only a person can allow it.
    #[must_use]
    pub fn needs(mut self, missing: Missing) -> Self {
        self.missing = Some(missing);
        self
    }

    /// Returns the arguments after the program's own name.
    #[must_use]
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Returns the environment variables.
    #[must_use]
    pub fn variables(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Returns the directory to start in, if it is set.
    #[must_use]
    pub fn start_directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// Returns the input.
    #[must_use]
    pub fn input_bytes(&self) -> &[u8] {
        &self.input
    }

    /// Returns what the program lacks.
    #[must_use]
    pub fn missing(&self) -> Option<&Missing> {
        self.missing.as_ref()
    }

    /// Returns whether stderr goes to the stream of stdout.
    #[must_use]
    pub fn is_merged(&self) -> bool {
        self.is_merged
    }
}

/// What a program lacks for one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// A host and a port, such as `files.example.org:443`.
    Destination(String),
    /// A directory to read, by its absolute path on the machine.
    ReadableDirectory(String),
    /// A directory to read and write, by its absolute path on the machine.
    WritableDirectory(String),
}
