//! Guests that open as many host objects as they can: S24, S25, S26, S28.

use portcullis::plugins::LoadError;
use portcullis::{Code, LimitKind};

ends! {
    pollable_storm => Code::Limit(LimitKind::Resources);
    poll_storm => Code::Limit(LimitKind::Handles);
    random_terabyte => Code::Limit(LimitKind::Random);
}

refused! {
    describe_hoards => LoadError::Describe(_), "host-memory";
    resource_storm => LoadError::Describe(_), "handles";
}
