//! What a caller can choose for an installation.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::environment::ToolEnvironment;
use crate::limits::InstallLimits;

/// The options of an installation. The default has the default limits and the environment of this process.
#[derive(Clone, Debug, Default)]
pub struct InstallOptions {
    /// The limits.
    pub limits: InstallLimits,
    /// The environment of npm and pip.
    pub environment: ToolEnvironment,
    /// Stops the installation when another thread sets it.
    pub cancelled: Arc<AtomicBool>,
}
