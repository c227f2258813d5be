//! The catalog that a host opens with.

use super::error::OpenError;
use crate::catalog::{BackgroundLoading, BackgroundLoads, Catalog, EndedLoad, Loader, Seen};
use crate::grants;
use crate::inject::Injection;
use crate::places::HostDirectories;
use crate::policy_in_force::PolicyInForce;
use crate::standard;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The plugins that a host opens with, and the loads that continue while it runs.
pub(super) struct FirstCatalog {
    pub(super) catalog: Catalog,
    pub(super) seen: Seen,
    pub(super) background: Option<BackgroundLoading>,
}

/// A first catalog whose plugins are not bound to grants yet, and whose ready plugins the observer does not know yet.
pub(super) struct UntoldCatalog {
    first: FirstCatalog,
    arrived: Vec<Arc<EndedLoad>>,
}

impl FirstCatalog {
    /// Loads the plugins. With `background_after`, plugins that are not ready after that time keep loading in the
    /// background.
    pub(super) async fn load(
        loader: &Arc<Loader>,
        policy: &Arc<PolicyInForce>,
        only_for: Option<&str>,
        background_after: Option<Duration>,
    ) -> Result<UntoldCatalog, OpenError> {
        let began = Instant::now();
        // If a later step fails, dropping this stops the background loads.
        let background = background_after.map(|after| (after, BackgroundLoading(BackgroundLoads::new(loader))));
        let loads = background.as_ref().map(|(_, BackgroundLoading(loads))| loads);
        let (mut catalog, mut seen) = loader.load_all(policy, standard::plugins(), only_for, loads).await?;
        let mut arrived = Vec::new();
        if let Some((after, BackgroundLoading(loads))) = &background {
            loads.tell_begun(|_, _| false);
            loads.settled(after.saturating_sub(began.elapsed())).await;
            arrived = loads.enter(&mut catalog, &mut seen);
        }
        loader.make_room().await;
        let background = background.map(|(_, background)| background);
        Ok(UntoldCatalog { first: Self { catalog, seen, background }, arrived })
    }
}

impl UntoldCatalog {
    /// Checks the plugins against the policy, binds them to its grants, and tells the observer which are ready.
    pub(super) fn bound(
        self,
        loader: &Loader,
        policy: &PolicyInForce,
        state: &HostDirectories,
        injection: &Injection,
    ) -> Result<FirstCatalog, OpenError> {
        let Self { mut first, arrived } = self;
        let catalog = &mut first.catalog;
        grants::check_names(&policy.policy, catalog, &policy.bases)?;
        catalog.plugins().try_for_each(|plugin| grants::check_services(&policy.policy, plugin, injection))?;
        policy.opening(state, &loader.plugins.held()).bind_all(catalog)?;
        loader.describe_all(catalog);
        if let Some(BackgroundLoading(loads)) = &first.background {
            loads.tell_ended(&arrived, catalog);
        }
        Ok(first)
    }
}
