//! The name of a file that is kept: every reader gets it, also after a restart and from a migrated ledger.

use crate::outputs::desk::{LOCAL, SHOWN, bytes_of, call, named, policy};
use portcullis::outputs::Reader;
use portcullis::plugins::Contract;
use portcullis::{Code, Host, Output, Part, Reply};
use portcullis_tests::{Site, built_guest_of};
use serde_json::{Value, json};

fn reader() -> Reader<'static> {
    Reader { session: "default", principal: &LOCAL }
}

fn site() -> Site {
    let site = Site::new();
    site.plugin("scribe", &built_guest_of(Contract::V0_2, "output"));
    site
}

/// Makes the tool return a file that does not fit. Returns its reference.
async fn kept(host: &Host, media_type: &str, name: Option<&str>) -> Value {
    let part = json!({ "media_type": media_type, "bytes": 2 * SHOWN, "name": name });
    let reply = call(host, "scribe.parts", json!({ "parts": [part] })).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    named(&reply.message, "output.read").unwrap()["reference"].clone()
}

async fn read(host: &Host, reference: &Value) -> Reply {
    call(host, "output.read", json!({ "reference": reference })).await
}

async fn name(host: &Host, reference: &Value) -> Option<String> {
    host.outputs().get(reader(), reference.as_str().unwrap()).await.unwrap().name
}

#[tokio::test]
async fn a_kept_file_has_its_name_for_every_reader_after_a_restart() {
    let site = site();
    let host = site.open(&policy()).await;
    let image = kept(&host, "image/png", Some("chart.png")).await;
    let table = kept(&host, "text/csv", Some("sums.csv")).await;
    let unnamed = kept(&host, "application/pdf", None).await;
    drop(host);
    let host = site.open(&policy()).await;
    let shown = read(&host, &image).await;
    let Some(Output::Parts(parts)) = &shown.output else { panic!("{}", shown.message) };
    assert!(matches!(&parts[..], [Part::Image(image)] if image.name.as_deref() == Some("chart.png")), "{parts:?}");
    let page = read(&host, &table).await.message;
    assert!(page.contains("The output \"sums.csv\" has "), "{page}");
    assert_eq!(name(&host, &unnamed).await, None);
    let listed = host.outputs().list(reader()).await.unwrap();
    let names: Vec<_> = listed.iter().map(|kept| kept.name.as_deref()).collect();
    assert_eq!(names, [None, Some("sums.csv"), Some("chart.png")]);
}

#[tokio::test]
async fn the_outputs_of_an_older_ledger_are_kept_without_a_name() {
    let site = site();
    let host = site.open(&policy()).await;
    let old = kept(&host, "image/png", Some("chart.png")).await;
    let bytes = bytes_of(&host, old.as_str().unwrap());
    drop(host);
    let ledger = rusqlite::Connection::open(site.state().join("ledger.sqlite")).unwrap();
    ledger.execute_batch("ALTER TABLE output DROP COLUMN name; PRAGMA user_version = 6;").unwrap();
    drop(ledger);
    let host = site.open(&policy()).await;
    assert_eq!(bytes_of(&host, old.as_str().unwrap()), bytes);
    assert_eq!(name(&host, &old).await, None);
    let new = kept(&host, "image/png", Some("new.png")).await;
    assert_eq!(name(&host, &new).await.as_deref(), Some("new.png"));
}
