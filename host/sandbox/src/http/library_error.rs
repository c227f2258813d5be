//! Converts the errors of the libraries that send requests.

use super::error::{HttpFailure, bounded};

impl HttpFailure {
    /// Converts an error of hyper.
    pub(super) fn from_hyper(error: &hyper::Error) -> Self {
        if error.is_parse_too_large() {
            Self::ResponseHeaders
        } else if error.is_timeout() {
            Self::Timeout
        } else if error.is_user() {
            Self::Aborted
        } else if error.is_incomplete_message() || error.is_closed() || error.is_canceled() || is_io(error) {
            Self::Incomplete
        } else {
            Self::Protocol
        }
    }

    /// Converts an error of rustls.
    pub(super) fn from_tls(error: &std::io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidCertificate(reason)) => Self::Certificate(bounded(&format!("{reason:?}"))),
            Some(rustls::Error::AlertReceived(alert)) => Self::Alert { number: u8::from(*alert) },
            Some(other) => Self::Tls(bounded(&other.to_string())),
            None => Self::Tls(error.kind().to_string()),
        }
    }
}

fn is_io(error: &hyper::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if inner.is::<std::io::Error>() {
            return true;
        }
        source = inner.source();
    }
    false
}
