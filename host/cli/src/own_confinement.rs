//! Confines this process, once everything that it needs is open.

use crate::context::Context;
use crate::style::TextStyle;
use portcullis::Host;
use portcullis::confinement::OwnNeeds;
use portcullis::policy::OwnConfinement;
use portcullis::text::{OneLine, WithCauses};

/// Gives up what this process does not need. Says once if that is not possible.
///
/// # Errors
/// The policy requires it, and it is not possible.
pub(crate) async fn confine(host: &Host, needs: OwnNeeds, context: &Context) -> anyhow::Result<()> {
    let own = host.clone();
    // It waits until each thread of the process has confined itself.
    match tokio::task::spawn_blocking(move || own.confine_process(&needs)).await? {
        Ok(_) => Ok(()),
        Err(error) if host.policy().own_confinement() == OwnConfinement::Require => Err(error.into()),
        Err(error) => {
            let line = format!("warning: this process keeps the rights of its user: {}", WithCauses(&error));
            context.terminal.note(context.terminal.note_style().paint(TextStyle::Doubtful, OneLine(&line)));
            Ok(())
        }
    }
}
