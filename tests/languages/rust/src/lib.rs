//! The conformance plugin in Rust: the tools that every language offers, and the reference for the others.
//!
//! A tool has only what the host is asked to carry across: a shape of data, a kind of ending, a handle.

mod data;
mod endings;
mod files;
mod host;
mod programs;
mod toolset;
mod web;

use portcullis_sdk::prelude::*;

plugin! {
    name: "conformance",
    description: "The same tools in every language.",
    tools: [
        data::echo,
        data::reverse,
        data::repeat,
        data::measure,
        data::add,
        endings::fail,
        endings::throw,
        endings::trap,
        host::progress,
        endings::wait,
        host::context,
        host::ask,
        files::read,
        files::write,
        files::list,
        files::remove,
        web::fetch,
        host::remember,
        host::recall,
        host::setting,
        programs::run,
        programs::stream,
        programs::converse,
        toolset::delegate,
        toolset::delegate_all,
        toolset::lookup,
        toolset::plan,
        host::print,
        host::surroundings,
        data::picture,
        data::write_out,
        data::keep,
        endings::spin,
        endings::hog,
        endings::recurse,
    ],
    dependencies: [
        optional directory "workspace": "Files that the tools read and write.",
        optional http "web": "What the tools fetch.",
        optional store "notes": "What the tools remember.",
        optional process "sh": "What the tools run.",
        optional tools "others": "What the tools call.",
    ],
}
