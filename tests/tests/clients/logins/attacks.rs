//! Attacks on logins: each is refused, and the hostile server gets no token.

use super::office::{LoginOffice, REDIRECT, refusal};

/// Asserts that the hostile server has seen no credentials.
async fn got_nothing(office: &LoginOffice) {
    let seen = office.seen().await;
    assert_eq!(seen["other"]["authorizations"], serde_json::json!([]), "{seen}");
    let requests = seen["other"]["requests"].to_string();
    for word in ["code_verifier", "refresh_token=", "authorization_code"] {
        assert!(!requests.contains(word), "{requests}");
    }
}

#[tokio::test]
async fn a_login_at_another_authorization_server_than_the_named_one_is_refused() {
    for (mode, why) in [
        ("issuer-mixup", "issuer mismatch"),
        ("iss-parameter", "issuer mismatch"),
        ("foreign-resource", "resource mismatch"),
        ("no-pkce", "PKCE"),
        ("redirect-token", "(307 Temporary Redirect), which is not followed"),
        ("huge-metadata", "longer than"),
        ("state", "another login"),
    ] {
        let office = LoginOffice::new(mode);
        let host = office.open().await;
        let refused = office.log_in(&host).await.unwrap_err();
        assert!(refused.contains(why), "{mode}: {refused}");
        host.reload().await.unwrap();
        assert!(refusal(&host).contains("the host is not logged in"), "{mode}: {}", refusal(&host));
        got_nothing(&office).await;
    }
}

#[tokio::test]
async fn a_private_address_that_a_server_names_is_not_asked() {
    let office = LoginOffice::new("private-metadata");
    let host = office.open().await;
    // The library goes on with the addresses that every server has.
    let login = office.log_in(&host).await;
    let entries: Vec<String> = login.err().into_iter().collect();
    assert!(entries.iter().all(|refused| !refused.contains("169.254.169.254 answered")), "{entries:?}");
    got_nothing(&office).await;
}

#[tokio::test]
async fn the_user_is_told_of_every_site_before_the_login() {
    let office = LoginOffice::new("foreign-token-endpoint");
    let host = office.open().await;
    let offer = host.offer_login(&"desk".parse().unwrap(), REDIRECT.to_owned()).await.unwrap();
    assert_eq!((offer.issuer(), offer.origins()), (office.issuer.as_str(), vec![office.other.clone()]));
    drop(offer);
    got_nothing(&office).await;
}

#[tokio::test]
async fn a_redirect_of_the_server_is_not_followed_with_the_token() {
    let office = LoginOffice::new("redirect-mcp");
    let host = office.logged_in().await;
    assert!(refusal(&host).contains("HTTP status 307"), "{}", refusal(&host));
    got_nothing(&office).await;
}
