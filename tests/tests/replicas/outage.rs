//! The database is away.

use super::cluster::{Cluster, answer, call};
use crate::guard::service::GOOD;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn no_session_is_lost_while_the_database_is_away() {
    let Some(mut cluster) = Cluster::open().await else { return };
    let session = cluster.session(0).await;
    cluster.replicas[1].tell(&session, &call(1, GOOD)).await.is(200);
    cluster.database.stop().unwrap();
    let [first, second, third] = &cluster.replicas[..] else { panic!("there are three") };
    // Servers that know the session serve it.
    first.tell(&session, &call(2, GOOD)).await.is(200);
    second.tell(&session, &call(3, GOOD)).await.is(200);
    // What needs the database is refused, and the client can try again.
    let foreign = json!("0123456789abcdef.0.0");
    let answered = [
        third.post(&session, &call(4, GOOD)).send_owned(third.address()),
        third.initialize().send_owned(third.address()),
        second.ask("DELETE", &session).send_owned(second.address()),
        first.post(&session, &answer(&foreign, "accept")).send_owned(first.address()),
    ];
    let answered = answered.map(tokio::spawn);
    for refused in answered {
        let refused = refused.await.unwrap().is(503);
        assert!(refused.header("retry-after").is_some() && refused.body.contains("database"), "{refused:?}");
    }
    cluster.database.start_again().unwrap();
    for (id, replica) in (5..).zip(&cluster.replicas) {
        replica.tell(&session, &call(id, GOOD)).await.is(200);
    }
}
