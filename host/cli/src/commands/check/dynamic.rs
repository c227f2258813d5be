//! The tools that a plugin generates under the policy, and what it offers to the default caller.

use crate::arguments::DEFAULT_SESSION;
use crate::context::Context;
use crate::opening;
use crate::plugin_file::ReadPluginFile;
use portcullis::plugins::{Definition, LoadError, Loaded, ReducedOffer, Rehearsal};
use portcullis::policy::{Audience, LocalName, PluginName, Principal};
use portcullis::text::OneLine;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum names of generated tools in the text.
const NAMES_SHOWN_MAX: usize = 8;

/// What the generator and the preparer of a plugin did. `None` if the plugin has none.
#[derive(Default)]
pub(super) struct DynamicTools {
    generator: Option<DynamicStep<Vec<Definition>>>,
    preparer: Option<DynamicStep<BTreeMap<LocalName, ReducedOffer>>>,
    /// Why a host would refuse the plugin, or offer none of its tools.
    pub(super) problem: Option<LoadError>,
}

/// The result of a generator or a preparer.
enum DynamicStep<T> {
    /// It was not run, for a reason.
    NotRun(String),
    /// It was run, and failed.
    Failed,
    Ran(T),
}

impl<T> DynamicStep<T> {
    fn result(&self) -> Option<&T> {
        match self {
            Self::Ran(result) => Some(result),
            Self::NotRun(_) | Self::Failed => None,
        }
    }

    fn why_not_run(&self) -> Option<&str> {
        match self {
            Self::NotRun(why) => Some(why),
            Self::Ran(_) | Self::Failed => None,
        }
    }
}

impl DynamicTools {
    /// Runs the generator and the preparer of a plugin.
    ///
    /// # Errors
    /// The policy cannot be used.
    pub(super) async fn of(
        (name, loaded): (&PluginName, &Loaded),
        file: &ReadPluginFile,
        context: &Context,
    ) -> anyhow::Result<Self> {
        if !loaded.generates() && !loaded.prepares() {
            return Ok(Self::default());
        }
        // Only the policy matters here, so the installed plugins are not loaded.
        let host = opening::open_policy(context).await?;
        if loaded.generates() && !host.policy().has_section(name) {
            let policy = opening::in_force(context);
            let mut why = format!(
                "no section [plugin.{name}] in {policy}. Add one, with the settings and the directories of the plugin, \
                 or name another policy with --policy"
            );
            if let Some(untrusted) = host.untrusted_policy() {
                why = format!("{why}. {}", opening::untrusted_note(&untrusted, context));
            }
            return Ok(Self::without_generator(loaded, DynamicStep::NotRun(why), None));
        }
        match host.rehearse(loaded, file.bytes.clone()).await {
            Ok(rehearsal) => Ok(Self::prepared(loaded, &rehearsal).await),
            Err(error) => Ok(Self::without_generator(loaded, DynamicStep::Failed, Some(error))),
        }
    }

    /// Returns the report about a plugin without its generated tools. They are not known, so the preparer is not run.
    fn without_generator(loaded: &Loaded, generator: DynamicStep<Vec<Definition>>, problem: Option<LoadError>) -> Self {
        let not_run = || DynamicStep::NotRun("the tools of the plugin are not known".to_owned());
        let generator = loaded.generates().then_some(generator);
        Self { generator, preparer: loaded.prepares().then(not_run), problem }
    }

    async fn prepared(loaded: &Loaded, rehearsal: &Rehearsal) -> Self {
        let principal = Principal::default();
        let (preparer, problem) = match rehearsal.prepare(&Audience::new(&principal, DEFAULT_SESSION)).await {
            Ok(reduced) => (DynamicStep::Ran(reduced), None),
            Err(error) => (DynamicStep::Failed, Some(error)),
        };
        let generator = loaded.generates().then(|| DynamicStep::Ran(rehearsal.generated().to_vec()));
        Self { generator, preparer: loaded.prepares().then_some(preparer), problem }
    }

    /// Returns the definitions of the generated tools.
    pub(super) fn generated(&self) -> &[Definition] {
        self.generator.as_ref().and_then(DynamicStep::result).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns whether all tools of the plugin are known.
    pub(super) fn are_known(&self) -> bool {
        self.generator.as_ref().is_none_or(|generator| generator.result().is_some())
    }

    pub(super) fn generator_document(&self) -> Value {
        let document = |generator: &DynamicStep<_>| {
            let names: Vec<&str> = self.generated().iter().map(|tool| tool.name.as_str()).collect();
            json!({ "not_run": generator.why_not_run(), "tools": names })
        };
        self.generator.as_ref().map_or(Value::Null, document)
    }

    pub(super) fn preparer_document(&self) -> Value {
        let document = |preparer: &DynamicStep<BTreeMap<LocalName, ReducedOffer>>| {
            let (mut hidden, mut narrowed) = (Vec::new(), Vec::new());
            for (tool, offer) in preparer.result().into_iter().flatten() {
                match offer {
                    ReducedOffer::Hidden(why) => hidden.push(json!({ "tool": tool, "why": why })),
                    ReducedOffer::Narrowed => narrowed.push(tool),
                }
            }
            json!({ "not_run": preparer.why_not_run(), "hidden": hidden, "narrowed": narrowed })
        };
        self.preparer.as_ref().map_or(Value::Null, document)
    }

    /// Returns the lines for people.
    pub(super) fn text(&self) -> String {
        let generated = self.generator.as_ref().map(|generator| match generator {
            DynamicStep::NotRun(why) => format!("  generates not run: {}\n", OneLine(why)),
            // `problem` says why.
            DynamicStep::Failed => String::new(),
            DynamicStep::Ran(tools) => format!("  generates {}\n", shown(tools)),
        });
        let prepared = self.preparer.as_ref().map(|preparer| match preparer {
            DynamicStep::NotRun(why) => format!("  prepares  not run: {}\n", OneLine(why)),
            DynamicStep::Failed => String::new(),
            DynamicStep::Ran(reduced) => format!("  prepares  {}\n", offered(reduced)),
        });
        generated.unwrap_or_default() + &prepared.unwrap_or_default()
    }
}

fn shown(tools: &[Definition]) -> String {
    let first: Vec<String> = tools.iter().take(NAMES_SHOWN_MAX).map(|tool| OneLine(&tool.name).to_string()).collect();
    match tools.len().saturating_sub(NAMES_SHOWN_MAX) {
        0 if first.is_empty() => "no tool".to_owned(),
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

fn offered(reduced: &BTreeMap<LocalName, ReducedOffer>) -> String {
    let one = |(tool, offer): (&LocalName, &ReducedOffer)| match offer {
        ReducedOffer::Hidden(why) => format!("hides {tool} ({})", OneLine(why)),
        ReducedOffer::Narrowed => format!("narrows {tool}"),
    };
    match reduced.is_empty() {
        true => "offers every tool whole".to_owned(),
        false => reduced.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}
