//! The address that the server listens on.

use crate::guard::service::{Service, anywhere, tokens};
use portcullis_mcp::http::{self, HttpError, HttpOptions, Reach};
use portcullis_mcp::{Server, ServerOptions};

#[tokio::test]
async fn an_address_in_use_is_an_error_and_has_no_fallback() {
    let service = Service::open().await;
    let server = Server::new(service.host.clone(), ServerOptions::default()).unwrap();
    let error = http::serve(server, HttpOptions::new(service.address(), tokens())).await.unwrap_err();
    assert!(matches!(error, HttpError::Listen { address, .. } if address == service.address()), "{error}");
    assert!(error.to_string().contains(&service.address().to_string()), "{error}");
}

#[tokio::test]
async fn other_machines_can_connect_only_if_allowed_explicitly() {
    let service = Service::open().await;
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:127.0.0.1]:0"] {
        let server = Server::new(service.host.clone(), ServerOptions::default()).unwrap();
        let options = HttpOptions::new(address.parse().unwrap(), tokens());
        let error = http::serve(server, options).await.unwrap_err();
        assert!(matches!(error, HttpError::Remote(_)), "{error}");
    }
    let server = Server::new(service.host.clone(), ServerOptions::default()).unwrap();
    let mut options = HttpOptions::new("0.0.0.0:0".parse().unwrap(), tokens());
    options.reach = Reach::Remote;
    let running = http::serve(server, options).await.unwrap();
    assert!(running.address().ip().is_unspecified());
}

#[tokio::test]
async fn the_reported_address_is_the_bound_one() {
    let service = Service::with(|options| options.address = anywhere()).await;
    assert_ne!(service.address().port(), 0);
    assert_eq!(service.running.url(), format!("http://{}/mcp", service.address()));
    service.send(&service.list()).await.is(200);
}
