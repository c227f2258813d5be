//! News of changes by other hosts. The database notifies this host of each change. In case a notification is lost, the
//! host also asks for the generation of the ledger.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_postgres::{AsyncMessage, Client, Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How often the host asks for the generation of the ledger.
const ASK_INTERVAL: Duration = Duration::from_secs(1);

/// Pause before the host connects again.
const CONNECT_PAUSE: Duration = Duration::from_millis(500);

/// How long the database may take to say its generation. The connection is then taken for lost.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// The channel of the notifications of messages between hosts.
const RELAYS: &str = "portcullis_sessions";

/// Counts what this host has heard of.
#[derive(Clone, Default)]
pub(super) struct News(Arc<HeardChanges>);

#[derive(Default)]
struct HeardChanges {
    count: AtomicI64,
    listens: AtomicBool,
    /// Counts the notifications of messages between hosts.
    relays: watch::Sender<u64>,
}

impl News {
    /// Returns a number that changes with each change of the ledger. Returns `None` while the host does not listen:
    /// hundreds of waiting calls then leave the database alone, until it can be reached.
    pub(super) fn count(&self) -> Option<i64> {
        self.0.listens.load(Ordering::Acquire).then(|| self.0.count.load(Ordering::Acquire))
    }

    /// Notes a change.
    pub(super) fn note(&self) {
        self.0.count.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns a number that changes when another host may have sent a message.
    pub(super) fn relays(&self) -> watch::Receiver<u64> {
        self.0.relays.subscribe()
    }

    fn note_relay(&self) {
        self.0.relays.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn listens(&self, listens: bool) {
        // What changed since the last connection is not known.
        self.note();
        self.note_relay();
        self.0.listens.store(listens, Ordering::Release);
    }
}

/// Listens to the database, and connects again when the connection is lost.
pub(super) async fn follow(config: Config, tls: MakeRustlsConnect, news: News) {
    loop {
        // Whatever the error is, the host connects again. A transaction reports why the database cannot be reached.
        let _ = listen(&config, &tls, &news).await;
        news.listens(false);
        sleep(CONNECT_PAUSE).await;
    }
}

/// Listens on one connection until it is lost.
async fn listen(config: &Config, tls: &MakeRustlsConnect, news: &News) -> Result<(), Error> {
    let (client, mut connection) = config.connect(tls.clone()).await?;
    let hears = async {
        while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
            match message {
                Ok(AsyncMessage::Notification(told)) if told.channel() == RELAYS => news.note_relay(),
                Ok(AsyncMessage::Notification(_)) => news.note(),
                Ok(_) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    tokio::select! {
        ended = hears => ended,
        ended = ask(&client, news) => ended,
    }
}

/// Asks for the generation again and again. Returns when the database does not answer.
async fn ask(client: &Client, news: &News) -> Result<(), Error> {
    client.batch_execute("LISTEN portcullis_ledger; LISTEN portcullis_sessions").await?;
    // Say so only now. A change before the database has answered would not be noticed.
    news.listens(true);
    let mut seen = None;
    loop {
        let next = Instant::now() + ASK_INTERVAL;
        let select = client.query_opt("SELECT number FROM generation", &[]);
        let Ok(row) = tokio::time::timeout(ANSWER_TIME, select).await else { return Ok(()) };
        let generation: Option<i64> = row?.and_then(|row| row.try_get(0).ok());
        if seen.replace(generation).is_some_and(|seen| seen != generation) {
            news.note();
        }
        sleep_until(next).await;
    }
}
