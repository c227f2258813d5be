//! Published servers that use the network, each as a confined program of a host.

#[path = "server_packages/fetch.rs"]
mod fetch;

#[path = "server_packages/pages.rs"]
mod pages;

#[path = "server_packages/playwright.rs"]
mod playwright;
