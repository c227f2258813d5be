//! The bytes of a manifest for `describe`: the canonical ABI of `portcullis:tool/types.manifest`.

/// The manifest of a guest.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The plugin's name.
    pub name: String,
    /// The author's version.
    pub version: String,
    /// The description.
    pub description: String,
    /// Its tools.
    pub tools: Vec<Tool>,
    /// Its dependencies.
    pub dependencies: Vec<Dependency>,
}

/// One tool.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The title.
    pub title: Option<String>,
    /// The description.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: String,
    /// The JSON Schema of its output.
    pub output_schema: Option<String>,
    /// The bits of `permissions`: 1 read, 2 write, 4 execute, 8 network.
    pub required: u8,
    /// The same bits, for optional permissions.
    pub optional: u8,
    /// The bits of `hints`: 1 read-only, 2 destructive, 4 idempotent, 8 open-world, 16 sequential.
    pub hints: u8,
}

/// The kind of a dependency, in the order of the contract.
#[derive(Clone, Copy, Debug)]
pub enum DependencyKind {
    /// A directory.
    Directory = 0,
    /// An HTTP client.
    Http = 1,
    /// A store.
    Store = 2,
    /// A service of the application.
    Service = 3,
    /// A program.
    Process = 4,
    /// Tools of other plugins.
    Tools = 5,
}

/// A dependency.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// Its kind.
    pub kind: DependencyKind,
    /// Its key.
    pub key: String,
    /// Whether the plugin works without it.
    pub optional: bool,
    /// Why the plugin needs it.
    pub reason: String,
}

impl Manifest {
    /// Builds a valid manifest with one tool `run` that accepts any object and needs no permission.
    pub fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            description: "A guest of the tests.".to_owned(),
            tools: vec![Tool::new("run")],
            dependencies: Vec::new(),
        }
    }

    /// Changes the first tool.
    #[must_use]
    pub fn tool(mut self, change: impl FnOnce(&mut Tool)) -> Self {
        change(&mut self.tools[0]);
        self
    }

    /// Adds a directory dependency.
    #[must_use]
    pub fn directory(self, key: &str, optional: bool) -> Self {
        self.needs(DependencyKind::Directory, key, optional)
    }

    /// Adds a dependency of any kind.
    #[must_use]
    pub fn needs(mut self, kind: DependencyKind, key: &str, optional: bool) -> Self {
        self.dependencies.push(Dependency { kind, key: key.to_owned(), optional, reason: "to be tested".to_owned() });
        self
    }

    /// Encodes the manifest for the address `base`. The record itself comes first.
    pub(crate) fn encode(&self, base: u32) -> Vec<u8> {
        let tools_at = 40;
        let dependencies_at = tools_at + 52 * self.tools.len();
        let mut memory = Memory { base, bytes: vec![0; dependencies_at + 20 * self.dependencies.len()] };
        memory.text(0, &self.name);
        memory.text(8, &self.version);
        memory.text(16, &self.description);
        memory.list(24, tools_at, self.tools.len());
        memory.list(32, dependencies_at, self.dependencies.len());
        for (index, tool) in self.tools.iter().enumerate() {
            let at = tools_at + 52 * index;
            memory.text(at, &tool.name);
            memory.option(at + 8, tool.title.as_deref());
            memory.text(at + 20, &tool.description);
            memory.text(at + 28, &tool.schema);
            memory.option(at + 36, tool.output_schema.as_deref());
            memory.bytes[at + 48] = tool.required;
            memory.bytes[at + 49] = tool.optional;
            memory.bytes[at + 50] = tool.hints;
        }
        for (index, dependency) in self.dependencies.iter().enumerate() {
            let at = dependencies_at + 20 * index;
            memory.text(at, &dependency.key);
            memory.bytes[at + 8] = dependency.kind as u8;
            memory.bytes[at + 9] = u8::from(dependency.optional);
            memory.text(at + 12, &dependency.reason);
        }
        memory.bytes
    }
}

impl Tool {
    /// Builds a tool that accepts any object.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: None,
            description: "Does what its plugin is there for.".to_owned(),
            schema: r#"{"type":"object"}"#.to_owned(),
            output_schema: None,
            required: 0,
            optional: 0,
            hints: 0,
        }
    }
}

/// Bytes for a known address.
struct Memory {
    base: u32,
    bytes: Vec<u8>,
}

impl Memory {
    fn word(&mut self, at: usize, word: u32) {
        self.bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }

    fn list(&mut self, at: usize, items_at: usize, count: usize) {
        self.word(at, self.base + u32::try_from(items_at).unwrap());
        self.word(at + 4, u32::try_from(count).unwrap());
    }

    fn text(&mut self, at: usize, text: &str) {
        self.list(at, self.bytes.len(), text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn option(&mut self, at: usize, text: Option<&str>) {
        if let Some(text) = text {
            self.bytes[at] = 1;
            self.text(at + 4, text);
        }
    }
}
