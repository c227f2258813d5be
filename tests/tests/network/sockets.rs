//! WASI sockets can be linked, but every function fails. N31, N32, N33.

use crate::network::lab::{Grant, Lab, Plan};
use portcullis::{Code, Output};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::net::UdpSocket;
use std::time::Duration;

/// Tries every socket function that a guest can call, at a port with a TCP and a UDP listener.
async fn nothing_arrives(lab: &Lab, server: &Server) {
    let datagrams = UdpSocket::bind(("127.0.0.1", server.port())).unwrap();
    datagrams.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let reply = lab.call("courier.connect", &json!({ "port": server.port() })).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let Some(Output::Json(text)) = reply.output else { panic!("no JSON") };
    let answers: Value = serde_json::from_str(&text).unwrap();
    let answers = answers.as_object().unwrap();
    assert_eq!(answers.len(), 11, "{answers:?}");
    for (function, answer) in answers {
        assert!(!answer.as_str().unwrap().contains("done"), "{function}: {answer}");
    }
    server.saw_nothing();
    let heard = datagrams.recv_from(&mut [0; 64]).map_err(|error| error.kind());
    assert!(matches!(heard, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut)), "{heard:?}");
    assert_eq!(lab.dns.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn n31_sockets_fail_without_a_grant() {
    let server = Server::plain(Behaviour::ok());
    nothing_arrives(&Plan::new().await.open().await, &server).await;
}

/// A granted host allows HTTP requests to it, and nothing else.
#[tokio::test]
async fn n31_sockets_fail_with_an_http_grant() {
    let server = Server::plain(Behaviour::ok());
    let grant = Grant::to(&["127.0.0.1", "localhost", "socket.test"], &server);
    let lab = Lab::open(grant).await;
    for name in ["localhost", "socket.test"] {
        lab.dns.point(name, &["127.0.0.1"]);
    }
    nothing_arrives(&lab, &server).await;
}
