//! Logins at an authorization server whose answers a test chooses.

use bytes::Bytes;
use portcullis_upstream::{
    ExchangeError, ExchangeFuture, HttpBody, HttpExchange, LoginError, LoginOffer, LoginSettings, LoginUnderWay,
    ServerToken,
};
use serde_json::{Value, json};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

const SERVER: &str = "https://mcp.example/mcp";
const REDIRECT: &str = "http://127.0.0.1:7/callback";

/// An authorization server, and the server whose tokens it issues. It records the requests that it gets.
struct AuthorizationOffice {
    revocation_endpoint: &'static str,
    /// The address of each request, and its body.
    seen: Mutex<Vec<(String, String)>>,
}

impl AuthorizationOffice {
    fn new(revocation_endpoint: &'static str) -> Arc<Self> {
        Arc::new(Self { revocation_endpoint, seen: Mutex::default() })
    }

    fn document(&self, address: &str) -> Option<Value> {
        Some(match address {
            "https://mcp.example/.well-known/oauth-protected-resource/mcp" => {
                json!({"resource": SERVER, "authorization_servers": ["https://login.example"]})
            }
            "https://login.example/.well-known/oauth-authorization-server" => json!({
                "issuer": "https://login.example",
                "authorization_endpoint": "https://login.example/authorize",
                "token_endpoint": "https://login.example/token",
                "revocation_endpoint": self.revocation_endpoint,
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            }),
            "https://login.example/token" => {
                json!({"access_token": "access", "token_type": "Bearer", "refresh_token": "refresh", "expires_in": 3600})
            }
            revocation if revocation == self.revocation_endpoint => json!({}),
            _ => return None,
        })
    }

    async fn discover(self: &Arc<Self>) -> Result<LoginOffer, LoginError> {
        let settings = LoginSettings {
            address: SERVER.to_owned(),
            client_id: Some("host".to_owned()),
            client_secret: Some("hush".to_owned()),
            scopes: Vec::new(),
            more_scopes: Vec::new(),
            redirect: REDIRECT.to_owned(),
        };
        LoginOffer::discover(Arc::clone(self) as Arc<dyn HttpExchange>, settings).await
    }

    async fn log_in(self: &Arc<Self>) -> ServerToken {
        let login = self.discover().await.unwrap().begin().await.unwrap();
        let returned = format!("{REDIRECT}?code=c&state={}", state(&login));
        login.finish(&returned).await.unwrap()
    }

    fn requests_to(&self, address: &str) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|(to, _)| to == address).map(|(_, body)| body.clone()).collect()
    }
}

impl HttpExchange for AuthorizationOffice {
    fn exchange(&self, request: http::Request<Bytes>) -> ExchangeFuture<'_> {
        let address = request.uri().to_string();
        let document = self.document(&address);
        let body = String::from_utf8(request.into_body().to_vec()).unwrap();
        self.seen.lock().unwrap().push((address, body));
        let response = http::Response::builder().status(if document.is_some() { 200 } else { 404 });
        let body = Bytes::from(document.unwrap_or_default().to_string());
        let response =
            response.header("content-type", "application/json").body(Box::pin(WholeBody(Some(body))) as HttpBody);
        Box::pin(std::future::ready(response.map_err(ExchangeError::new)))
    }
}

struct WholeBody(Option<Bytes>);

impl futures_core::Stream for WholeBody {
    type Item = Result<Bytes, ExchangeError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}

/// Returns the state of a login.
fn state(login: &LoginUnderWay) -> String {
    let (_, query) = login.page().split_once('?').unwrap();
    query.split('&').find_map(|pair| pair.strip_prefix("state=")).unwrap().to_owned()
}

#[tokio::test]
async fn the_site_that_revokes_tokens_is_shown_before_the_login() {
    let offer = AuthorizationOffice::new("https://other.example/revoke").discover().await.unwrap();
    assert_eq!((offer.issuer(), offer.origins()), ("https://login.example", vec!["https://other.example".to_owned()]));
}

#[tokio::test]
async fn a_revocation_endpoint_that_is_unencrypted_is_refused() {
    for endpoint in ["http://login.example/revoke", "file:///etc", "revoke"] {
        let refused = AuthorizationOffice::new(endpoint).discover().await.err();
        assert!(matches!(&refused, Some(LoginError::Discovery(why)) if why.contains(endpoint)), "{refused:?}");
    }
}

#[tokio::test]
async fn a_token_is_revoked_with_its_refresh_token() {
    let office = AuthorizationOffice::new("https://login.example/revoke");
    let token = office.log_in().await;
    assert!(token.revoke(Arc::clone(&office) as Arc<dyn HttpExchange>, Some("hush")).await.unwrap());
    let requests = office.requests_to("https://login.example/revoke");
    assert_eq!(requests, ["token=refresh&token_type_hint=refresh_token&client_id=host&client_secret=hush"]);
}

/// A version without this check has kept such tokens.
#[tokio::test]
async fn a_kept_token_is_not_sent_to_an_unencrypted_revocation_endpoint() {
    let token = AuthorizationOffice::new("https://login.example/revoke").log_in().await;
    let kept = String::from_utf8(token.to_bytes()).unwrap();
    let kept = kept.replace("https://login.example/revoke", "http://login.example/revoke");
    let token = ServerToken::from_bytes(kept.as_bytes(), SERVER).unwrap();
    let office = AuthorizationOffice::new("http://login.example/revoke");
    let refused = token.revoke(Arc::clone(&office) as Arc<dyn HttpExchange>, Some("hush")).await;
    assert!(matches!(&refused, Err(LoginError::Discovery(_))), "{refused:?}");
    assert!(office.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn only_an_answer_with_the_state_of_the_login_can_end_it() {
    let office = AuthorizationOffice::new("https://login.example/revoke");
    let begin = async || office.discover().await.unwrap().begin().await.unwrap();
    for foreign in ["error=access_denied", "error=access_denied&state=other", "code=c&state=other", "code=c"] {
        let ended = begin().await.finish(&format!("{REDIRECT}?{foreign}")).await;
        assert!(matches!(&ended, Err(LoginError::Foreign(_))), "{foreign}: {ended:?}");
    }
    assert!(office.requests_to("https://login.example/token").is_empty());
    let login = begin().await;
    let refusal = format!("{REDIRECT}?error=access_denied&error_description=no&state={}", state(&login));
    let ended = login.finish(&refusal).await;
    assert!(matches!(&ended, Err(LoginError::Refused(why)) if why == "access_denied: no"), "{ended:?}");
}
