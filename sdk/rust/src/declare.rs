//! The macro that turns a list of tools into a plugin.

/// Declares the plugin of this crate: a `static PLUGIN`, and the exports of the component in a guest.
///
/// ```
/// # use portcullis_sdk::prelude::*;
/// # /// Counts.
/// # #[tool(requires(read))]
/// # fn count(_context: &Context) -> String { String::new() }
/// plugin! {
///     name: "files",
///     description: "Works on files.",
///     tools: [count],
///     dependencies: [
///         directory "workspace": "the files to work on",
///         optional directory "cache": "keeps an index between calls",
///         optional process "git": "finds the files that changed",
///     ],
/// }
/// # fn main() {}
/// ```
///
/// A plugin with `reviewer: function` after its dependencies reviews each call before it runs. The function takes a
/// [`Review`](crate::Review) and returns a [`Verdict`](crate::Verdict).
///
/// ```
/// # use portcullis_sdk::prelude::*;
/// # /// Fetches.
/// # #[tool(requires(network))]
/// # fn fetch() -> String { String::new() }
/// fn review(call: &Review) -> Verdict {
///     match call.arguments()["url"].as_str() {
/// Some(url) if call.names_host("pages", url) != Ok(true) => Verdict::ask(format!("{url} is on an unnamed host")),
///         _ => Verdict::Clear,
///     }
/// }
///
/// plugin! {
///     name: "reader",
///     description: "Reads pages.",
///     tools: [fetch],
/// dependencies: [http "pages": "the pages to read", optional store "seen": "what was read", optional service "index":
/// ""],
///     reviewer: review,
/// }
/// # fn main() {}
/// ```
///
/// A plugin with `previewer: function` after its reviewer computes what a call would change in files, for the approver.
/// The function takes a [`Preview`](crate::Preview) and returns each file as the call would leave it.
///
/// ```
/// # use portcullis_sdk::prelude::*;
/// /// What to note.
/// #[arguments]
/// struct Note {
///     /// The text.
///     text: String,
/// }
///
/// fn noted(note: &Note) -> String {
///     format!("{}\n", note.text)
/// }
///
/// /// Notes a text.
/// #[tool(requires(write))]
/// fn note(arguments: Note, context: &Context) -> Result<String, Failure> {
///     std::fs::write(context.directory("notes")?.path().join("note.txt"), noted(&arguments))?;
///     Ok("Noted.".to_owned())
/// }
///
/// fn preview(call: &Preview) -> Result<Vec<FileChange>, Failure> {
///     Ok(vec![FileChange::new("notes", "note.txt", noted(&call.parse()?))])
/// }
///
/// plugin! {
///     name: "notes",
///     description: "Keeps a note.",
///     tools: [note],
///     dependencies: [directory "notes": "where the note is kept"],
///     previewer: preview,
/// }
/// # fn main() {}
/// ```
///
/// A plugin with `generator: Type` after its previewer makes more tools from its settings and its directories. The type
/// implements [`Generator`](crate::Generator). Such a plugin may have `tools: []`.
///
/// ```
/// # use portcullis_sdk::prelude::*;
/// # use portcullis_sdk::serde_json::Value;
/// struct Greetings;
///
/// impl Generator for Greetings {
///     fn generate(context: &Context) -> Result<Vec<GeneratedTool>, Failure> {
///         let text = std::fs::read_to_string(context.directory("words")?.path().join("words.txt"))?;
///         let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
///         Ok(text.lines().map(|word| GeneratedTool::new(word, format!("Says {word}."), schema.clone())).collect())
///     }
///
///     fn execute(call: &GeneratedCall) -> Result<Success, Failure> {
///         let arguments: Value = call.parse()?;
///         let name = arguments["name"].as_str().unwrap_or("you");
///         Ok(Success::new(Output::Text(format!("{}, {name}!", call.tool()))))
///     }
/// }
///
/// plugin! {
///     name: "greetings",
///     description: "Greets in the words of a file.",
///     tools: [],
///     dependencies: [directory "words": "the file `words.txt`, with a word on each line"],
///     generator: Greetings,
/// }
/// # fn main() {}
/// ```
///
/// A plugin with `preparer: function` after its generator hides or narrows tools for some callers, or under some
/// settings. The function returns the tools that the caller is not offered whole. Hiding a tool is no protection: the
/// policy decides what a call may do.
///
/// ```
/// # use portcullis_sdk::prelude::*;
/// /// Deletes the list.
/// #[tool(destructive, requires(write))]
/// fn delete(context: &Context) -> Result<String, Failure> {
///     std::fs::remove_file(context.directory("lists")?.path().join("list.txt"))?;
///     Ok("Deleted.".to_owned())
/// }
///
/// fn prepare(offer: &Preparing) -> Vec<Preparation> {
///     match offer.caller().automated {
///         true => vec![Preparation::hide("delete", "only a person deletes")],
///         false => Vec::new(),
///     }
/// }
///
/// plugin! {
///     name: "lists",
///     description: "Keeps a list.",
///     tools: [delete],
///     dependencies: [directory "lists": "where the list is kept"],
///     preparer: prepare,
/// }
/// # fn main() {}
/// ```
///
/// The version is the crate's. Two tools with the same name do not compile:
///
/// ```compile_fail
/// # use portcullis_sdk::prelude::*;
/// # /// Counts.
/// # #[tool]
/// # fn count() -> String { String::new() }
/// plugin! { name: "twice", description: "Has one tool twice.", tools: [count, count] }
/// # fn main() {}
/// ```
///
/// Nor does a tool without a description, or one whose claims contradict its rights:
///
/// ```compile_fail
/// # use portcullis_sdk::prelude::*;
/// #[tool]
/// fn silent() -> String { String::new() }
/// ```
///
/// ```compile_fail
/// # use portcullis_sdk::prelude::*;
/// /// Writes.
/// #[tool(read_only, requires(write))]
/// fn write() -> String { String::new() }
/// ```
#[macro_export]
macro_rules! plugin {
    (
        name: $name:literal,
        description: $description:literal,
        tools: [$($tool:ty),* $(,)?]
        $(, dependencies: [$($($word:ident)+ $key:literal : $reason:literal),* $(,)?])?
        $(, reviewer: $reviewer:path)?
        $(, previewer: $previewer:path)?
        $(, generator: $generator:ty)?
        $(, preparer: $preparer:path)?
        $(,)?
    ) => {
        /// The plugin of this crate.
        pub static PLUGIN: $crate::Plugin = $crate::Plugin::new(
            $name,
            env!("CARGO_PKG_VERSION"),
            $description,
            &[$($crate::Entry::of::<$tool>()),*],
            &[$($($crate::dependency!($($word)+, $key, $reason)),*)?],
        )
        $(.reviewed_by($reviewer))?
        $(.previewed_by($previewer))?
        $(.generated_by::<$generator>())?
        $(.prepared_by($preparer))?
        .with_tools();

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            use $crate::guest::v0_2::bindings;

            struct Exports;

            impl bindings::exports::portcullis::tool::handler::Guest for Exports {
                fn describe() -> bindings::portcullis::tool::types::Manifest {
                    $crate::guest::v0_2::describe(&PLUGIN)
                }

                fn execute_raw(
                    tool: String,
                    arguments: String,
                ) -> Result<bindings::portcullis::tool::types::Success, bindings::portcullis::tool::types::Failure> {
                    $crate::guest::v0_2::execute(&PLUGIN, &tool, &arguments)
                }
            }

            bindings::export!(Exports with_types_in bindings);
            $($crate::export_reviewer!(Exports, $reviewer);)?
            $($crate::export_previewer!(Exports, $previewer);)?
            $($crate::export_generator!(Exports, $generator);)?
            $($crate::export_preparer!(Exports, $preparer);)?
        };
    };
}

/// Exports the reviewer of a plugin.
#[doc(hidden)]
#[macro_export]
macro_rules! export_reviewer {
    ($exports:ident, $reviewer:path) => {
        use $crate::guest::v0_2::reviewing;

        impl reviewing::exports::portcullis::tool::reviewer::Guest for $exports {
            fn review(tool: String, arguments: String) -> bindings::portcullis::tool::types::Verdict {
                $crate::guest::v0_2::review(&PLUGIN, &tool, &arguments)
            }
        }

        reviewing::export!($exports with_types_in reviewing);
    };
}

/// Exports the previewer of a plugin.
#[doc(hidden)]
#[macro_export]
macro_rules! export_previewer {
    ($exports:ident, $previewer:path) => {
        use $crate::guest::v0_2::previewing;

        impl previewing::exports::portcullis::tool::previewer::Guest for $exports {
            fn preview(
                tool: String,
                arguments: String,
            ) -> Result<
                Vec<previewing::exports::portcullis::tool::previewer::FileChange>,
                bindings::portcullis::tool::types::Failure,
            > {
                $crate::guest::v0_2::preview(&PLUGIN, &tool, &arguments)
            }
        }

        previewing::export!($exports with_types_in previewing);
    };
}

/// Exports the generator of a plugin.
#[doc(hidden)]
#[macro_export]
macro_rules! export_generator {
    ($exports:ident, $generator:ty) => {
        use $crate::guest::v0_2::generating;

        impl generating::exports::portcullis::tool::generator::Guest for $exports {
            fn generate() -> Result<Vec<bindings::portcullis::tool::types::Definition>, String> {
                $crate::guest::v0_2::generate(&PLUGIN)
            }
        }

        generating::export!($exports with_types_in generating);
    };
}

/// Exports the preparer of a plugin.
#[doc(hidden)]
#[macro_export]
macro_rules! export_preparer {
    ($exports:ident, $preparer:path) => {
        use $crate::guest::v0_2::preparing;

        impl preparing::exports::portcullis::tool::preparer::Guest for $exports {
            fn prepare(
                caller: preparing::exports::portcullis::tool::preparer::Caller,
            ) -> Vec<preparing::exports::portcullis::tool::preparer::Preparation> {
                $crate::guest::v0_2::prepare(&PLUGIN, caller)
            }
        }

        preparing::export!($exports with_types_in preparing);
    };
}

/// Expands one line of `dependencies`.
#[doc(hidden)]
#[macro_export]
macro_rules! dependency {
    (optional $kind:ident, $key:literal, $reason:literal) => {
        $crate::dependency!(@ $kind, $key, $reason, true)
    };
    ($kind:ident, $key:literal, $reason:literal) => {
        $crate::dependency!(@ $kind, $key, $reason, false)
    };
    (@ $kind:ident, $key:literal, $reason:literal, $optional:literal) => {
        $crate::Dependency {
            key: $key,
            kind: $crate::dependency!(@kind $kind),
            optional: $optional,
            reason: $reason,
        }
    };
    (@kind directory) => { $crate::DependencyKind::Directory };
    (@kind http) => { $crate::DependencyKind::Http };
    (@kind store) => { $crate::DependencyKind::Store };
    (@kind service) => { $crate::DependencyKind::Service };
    (@kind process) => { $crate::DependencyKind::Process };
    (@kind tools) => { $crate::DependencyKind::Tools };
}
