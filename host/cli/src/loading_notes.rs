//! Lines on stderr about plugins that load while a server runs.

use crate::style::TextStyle;
use crate::terminal::Terminal;
use portcullis::plugins::{LoadError, Observer};
use portcullis::policy::PluginName;
use portcullis::text::{OneLine, WithCauses};
use std::time::Duration;

/// Prints a line when plugins begin to load in the background, and one when each is ready or refused.
pub(crate) struct LoadingNotes(pub(crate) Terminal);

impl LoadingNotes {
    fn note(&self, look: TextStyle, text: &str) {
        self.0.note(self.0.note_style().paint(look, OneLine(text)));
    }
}

impl Observer for LoadingNotes {
    // A line for each compilation would repeat what `loading` and `ready` say.
    fn compiling(&self, _: &PluginName) {}

    fn compiled(&self, _: &PluginName) {}

    fn loading(&self, plugins: &[PluginName]) {
        let names: Vec<&str> = plugins.iter().map(PluginName::as_str).collect();
        self.note(TextStyle::Quiet, &format!("compiling {}", names.join(", ")));
    }

    fn ready(&self, plugin: &PluginName, took: Duration) {
        self.note(TextStyle::Quiet, &format!("{plugin} is ready after {:.1} s", took.as_secs_f64()));
    }

    fn refused(&self, plugin: &PluginName, error: &LoadError, took: Duration) {
        let (seconds, error) = (took.as_secs_f64(), WithCauses(error));
        self.note(TextStyle::Bad, &format!("{plugin} was refused after {seconds:.1} s: {error}"));
    }
}
