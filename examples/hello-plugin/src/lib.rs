//! The smallest plugin: one tool.
