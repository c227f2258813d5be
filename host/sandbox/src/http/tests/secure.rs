//! Tests the client against a name server and TLS servers.

use super::*;

/// Starts a name server that answers every query for IPv4 addresses with these, and records the names.
async fn name_server(addresses: Vec<Ipv4Addr>) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_nonblocking(true).unwrap();
    let socket = tokio::net::UdpSocket::from_std(socket).unwrap();
    let address = socket.local_addr().unwrap();
    let names: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&names);
    tokio::spawn(async move {
        let mut packet = [0; 2048];
        loop {
            let (length, from) = socket.recv_from(&mut packet).await.unwrap();
            let question = Message::from_vec(&packet[..length]).unwrap();
            let query = question.queries[0].clone();
            kept.lock().unwrap().push(query.name().to_string().to_lowercase());
            let mut reply = Message::response(question.metadata.id, question.metadata.op_code);
            reply.metadata.message_type = MessageType::Response;
            reply.metadata.recursion_available = true;
            if query.query_type() == RecordType::A {
                for address in &addresses {
                    let data = RData::A(A(*address));
                    reply.add_answer(Record::from_rdata(query.name().clone(), 0, data));
                }
            }
            reply.add_query(query);
            socket.send_to(&reply.to_vec().unwrap(), from).await.unwrap();
        }
    });
    (address, names)
}

#[tokio::test]
async fn a_name_is_resolved_by_our_name_server_and_every_address_is_checked() {
    let server = Recorder::start(answer("", b"ok"), true).await;
    let url = format!("http://docs.test:{}/", server.port);
    let (address, names) = name_server(vec![Ipv4Addr::LOCALHOST]).await;
    let network = Network::new(&[address]);
    let mut plugin = Plugin::new(&network, binding("docs.test", server.port), PathBuf::new());
    assert_eq!(&plugin.get(&url).await.unwrap().1[..], b"ok");
    assert!(server.heads()[0].contains(&format!("host: docs.test:{}\r\n", server.port)));
    let asked = names.lock().unwrap().clone();
    assert!(!asked.is_empty() && asked.iter().all(|name| name == "docs.test."), "{asked:?}");

    let mut strict = binding("docs.test", server.port);
    strict.addresses.clear();
    let mut plugin = Plugin::new(&network, strict.clone(), PathBuf::new());
    assert!(matches!(plugin.get(&url).await, Err(Error::DestinationIpProhibited)));
    assert!(plugin.refusal().contains("127.0.0.1"), "{}", plugin.refusal());
    let (mixed, _) = name_server(vec![Ipv4Addr::new(93, 184, 215, 14), Ipv4Addr::LOCALHOST]).await;
    let mut plugin = Plugin::new(&Network::new(&[mixed]), strict, PathBuf::new());
    assert!(matches!(plugin.get(&url).await, Err(Error::DestinationIpProhibited)));
    assert_eq!(server.heads().len(), 1);
}

/// Starts a TLS server for `docs.test` that supports these protocols. Returns its port and a file with its certificate.
async fn tls_server(protocols: &[&[u8]], file: &str) -> (u16, PathBuf) {
    let signed = rcgen::generate_simple_self_signed(vec!["docs.test".to_owned()]).unwrap();
    let path = std::env::temp_dir().join(format!("portcullis-{file}-{}", std::process::id()));
    rustix::fs::unlink(&path).ok();
    std::fs::File::create_new(&path).unwrap().write_all(signed.cert.pem().as_bytes()).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![signed.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let framed = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let service = hyper::service::service_fn(|request: Request<hyper::body::Incoming>| async move {
                    let said = format!("{:?} {} {:?}", request.version(), request.uri(), request.headers().get("host"));
                    Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(said))))
                });
                if framed {
                    let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                    builder.serve_connection(TokioIo::new(stream), service).await.ok();
                } else {
                    let builder = hyper::server::conn::http1::Builder::new();
                    builder.serve_connection(TokioIo::new(stream), service).await.ok();
                }
            });
        }
    });
    (port, path)
}

#[tokio::test]
async fn tls_trusts_the_roots_of_the_grant_and_supports_both_http_versions() {
    let (address, _) = name_server(vec![Ipv4Addr::LOCALHOST]).await;
    let network = Network::new(&[address]);
    for (protocols, version) in
        [(&[&b"h2"[..], b"http/1.1"][..], "HTTP/2.0"), (&[b"http/1.1"], "HTTP/1.1"), (&[], "HTTP/1.1")]
    {
        let (port, roots) =
            tls_server(protocols, &format!("roots-{version}-{}", protocols.len()).replace('/', "")).await;
        let mut granted = binding("docs.test", port);
        granted.schemes = vec![Scheme::Https];
        let url = format!("https://docs.test:{port}/a?b");
        let mut plugin = Plugin::new(&network, granted.clone(), PathBuf::new());
        assert!(matches!(plugin.get(&url).await, Err(Error::TlsCertificateError)), "not one of the built-in roots");
        granted.roots = Some(roots.display().to_string());
        let mut plugin = Plugin::new(&network, granted.clone(), PathBuf::from("/"));
        let said = plugin.get(&url).await.unwrap().1;
        let said = String::from_utf8(said.to_vec()).unwrap();
        assert!(said.starts_with(version), "{said}");
        assert!(said.contains("/a?b") && said.contains(&format!("docs.test:{port}")), "{said}");
        granted.hosts = vec![HostPattern::new("other.test").unwrap()];
        let mut plugin = Plugin::new(&network, granted, PathBuf::from("/"));
        let other = plugin.get(&url.replace("docs.test", "other.test")).await;
        assert!(matches!(other, Err(Error::TlsCertificateError)), "a certificate for another name");
        rustix::fs::unlink(&roots).unwrap();
    }
}
