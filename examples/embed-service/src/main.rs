//! Embeds the host and provides its plugins with a service of the program: notes in SQLite.
//!
//! The plugin in `plugin/` finds and stores notes. It never sees the database. The program provides the database under
//! a typed key, limits it to the caller's notes for each call, and exposes these as the service `notes`. The policy
//! binds the plugin's key `index` to the service, and lists the methods that the plugin may call. Build the plugin,
//! then run it:
//!
//! ```text
//! cargo xtask plugin examples/embed-service/plugin --out target/embed-service
//! cargo run -p portcullis-embed-service -- target/embed-service target/embed-service-state
//! ```

mod database;
mod notes;

use anyhow::Context;
use database::{DATABASE, Database};
use notes::{NOTES, Notes};
use portcullis::{Host, Request};
use std::sync::Arc;

/// Grants the plugin one of the service's two methods. Its tools cannot call the other one.
const POLICY: &str = r#"
[plugin.notes]
service.index = { name = "notes", methods = ["search"], calls = 10 }

[[rule]]
tool = "notes.*"
decision = "allow"
"#;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "printing the replies is what this program is for")]
async fn main() -> anyhow::Result<()> {
    portcullis::init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plugins, state] = arguments.as_slice() else {
        anyhow::bail!("usage: portcullis-embed-service PLUGINS STATE");
    };
    let database = Arc::new(Database::in_memory()?);
    database.add("ada", "Gate", "The portcullis is raised at dawn and falls at dusk.").await?;
    database.add("bob", "Moat", "The portcullis opens onto the bridge over the moat.").await?;

    let host = Host::builder(plugins, state)
        .policy_text(POLICY, ".")
        // All calls share one database.
        .provide(&DATABASE, move |_| Ok(Arc::clone(&database)))
        // The notes of one person, created for each call from the database and the call's principal.
        .provide_async(&NOTES, |injector| async move {
            Ok(Notes::of(injector.call().principal(), injector.get(&DATABASE).await?))
        })
        .service("notes", &NOTES)
        .open()
        .await
        .context("the host does not open")?;

    for (who, tool, json) in [
        ("ada", "notes.find", r#"{"text":"portcullis"}"#),
        ("bob", "notes.find", r#"{"text":"portcullis"}"#),
        ("ada", "notes.add", r#"{"title":"Well","text":"The well is dry."}"#),
    ] {
        let reply = host.call(Request::new(tool, json).principal(who.parse()?)).await;
        println!("{who}: {tool} {json}\n{}: {}\n", reply.code, portcullis::text::Lines(reply.message.trim_end()));
    }
    Ok(())
}
