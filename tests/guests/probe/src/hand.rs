//! Performs steps: the open descriptors, and each function of `wasi:filesystem/types`.
#![expect(clippy::disallowed_methods, reason = "std::fs is attacked as well; it reaches the grants alone")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;

use portcullis_sdk::guest::v0_2::bindings::wasi::clocks::wall_clock::Datetime;
use portcullis_sdk::guest::v0_2::bindings::wasi::filesystem::types::{
    Advice, Descriptor, DescriptorFlags, DescriptorType, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
    filesystem_error_code,
};
use portcullis_sdk::guest::v0_2::bindings::wasi::io::streams::{InputStream, OutputStream, StreamError};
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::{Directory, Failure};

use crate::step::Step;

/// The granted directories, and the descriptors that were opened from them.
pub(crate) struct Hand {
    granted: BTreeMap<&'static str, Directory>,
    opened: BTreeMap<String, Descriptor>,
    /// Descriptors that were opened without a name. They stay open, as with a leak.
    leaked: Vec<Descriptor>,
}

impl Hand {
    pub(crate) fn new(context: &Context) -> Result<Self, Failure> {
        let mut granted = BTreeMap::from([("workspace", context.directory("workspace")?)]);
        if let Ok(other) = context.directory("other") {
            granted.insert("other", other);
        }
        Ok(Self { granted, opened: BTreeMap::new(), leaked: Vec::new() })
    }

    /// Performs a step as often as it says. Returns `{"ok": ..., "times": ...}` or `{"error": ..., "times": ...}`, or
    /// `{"all": [...]}` with every distinct result if it continues after errors.
    pub(crate) fn take(&mut self, step: &Step) -> Value {
        let (mut last, mut all) = (Value::Null, BTreeSet::new());
        for time in 0..step.times {
            let path = step.path.replace("{}", &time.to_string());
            match self.once(step, &path) {
                result if step.is("go-on") => drop(all.insert(format!("{result:?}"))),
                Ok(value) => last = value,
                Err(error) => return json!({"error": error, "times": time}),
            }
        }
        if step.is("go-on") { json!({"all": all}) } else { json!({"ok": last, "times": step.times}) }
    }

    fn once(&mut self, step: &Step, path: &str) -> Result<Value, String> {
        if step.op.starts_with("std-") {
            return with_std(step, path).map_err(|error| error.to_string());
        }
        if step.op == "open-at" {
            let opened = self.open(step, path).map_err(name)?;
            match &step.keep {
                Some(keep) => drop(self.opened.insert(keep.clone(), opened)),
                None => self.leaked.push(opened),
            }
            return Ok(Value::Null);
        }
        if step.op == "read-in" {
            return self.read_in(step, path).map_err(name);
        }
        if step.op == "close" {
            return Ok(json!(self.opened.remove(step.on.as_deref().unwrap_or_default()).is_some()));
        }
        let on = self.descriptor(step.on.as_deref()).ok_or("no such descriptor")?;
        let to_on = self.descriptor(step.to_on.as_deref()).ok_or("no such descriptor")?;
        paths(step, path, on, to_on).or_else(|| contents(step, on)).unwrap_or(Err("no such operation".to_owned()))
    }

    /// Opens a directory, and reads a file in it.
    fn read_in(&self, step: &Step, path: &str) -> Result<Value, ErrorCode> {
        let on = self.descriptor(step.on.as_deref()).ok_or(ErrorCode::BadDescriptor)?;
        let directory = on.open_at(follow(step), path, OpenFlags::DIRECTORY, DescriptorFlags::READ)?;
        let file = directory.open_at(follow(step), &step.to, OpenFlags::empty(), DescriptorFlags::READ)?;
        file.read(4096, 0).map(|(bytes, _)| json!(String::from_utf8_lossy(&bytes)))
    }

    fn descriptor(&self, key: Option<&str>) -> Option<&Descriptor> {
        let key = key.unwrap_or("workspace");
        self.opened.get(key).or_else(|| self.granted.get(key).map(Directory::descriptor))
    }

    fn open(&self, step: &Step, path: &str) -> Result<Descriptor, ErrorCode> {
        let mut open = OpenFlags::empty();
        open.set(OpenFlags::CREATE, step.is("create"));
        open.set(OpenFlags::DIRECTORY, step.is("directory"));
        open.set(OpenFlags::EXCLUSIVE, step.is("exclusive"));
        open.set(OpenFlags::TRUNCATE, step.is("truncate"));
        let mut flags = DescriptorFlags::empty();
        flags.set(DescriptorFlags::READ, step.is("read"));
        flags.set(DescriptorFlags::WRITE, step.is("write"));
        flags.set(DescriptorFlags::MUTATE_DIRECTORY, step.is("mutate"));
        let on = self.descriptor(step.on.as_deref()).ok_or(ErrorCode::BadDescriptor)?;
        on.open_at(follow(step), path, open, flags)
    }
}

fn follow(step: &Step) -> PathFlags {
    if step.is("follow") { PathFlags::SYMLINK_FOLLOW } else { PathFlags::empty() }
}

/// Calls a function that takes a path.
fn paths(step: &Step, path: &str, on: &Descriptor, to_on: &Descriptor) -> Option<Result<Value, String>> {
    let done = match step.op.as_str() {
        "create-directory-at" => on.create_directory_at(path).map(|()| Value::Null),
        "remove-directory-at" => on.remove_directory_at(path).map(|()| Value::Null),
        "unlink-file-at" => on.unlink_file_at(path).map(|()| Value::Null),
        "rename-at" => on.rename_at(path, to_on, &step.to).map(|()| Value::Null),
        "link-at" => on.link_at(follow(step), path, to_on, &step.to).map(|()| Value::Null),
        "symlink-at" => on.symlink_at(&step.to, path).map(|()| Value::Null),
        "readlink-at" => on.readlink_at(path).map(Value::from),
        "stat-at" => on.stat_at(follow(step), path).map(|stat| json!(stat.size)),
        "kind-at" => on.stat_at(follow(step), path).map(|stat| kind(stat.type_)),
        "links-at" => on.stat_at(follow(step), path).map(|stat| json!(stat.link_count)),
        "is-same-object" => Ok(json!(on.is_same_object(to_on))),
        "metadata-hash-at" => on.metadata_hash_at(follow(step), path).map(|hash| json!(hash.lower)),
        "set-times-at" => on.set_times_at(follow(step), path, time(step), time(step)).map(|()| Value::Null),
        _ => return None,
    };
    Some(done.map_err(name))
}

/// Calls a function of an open descriptor.
fn contents(step: &Step, on: &Descriptor) -> Option<Result<Value, String>> {
    let done = match step.op.as_str() {
        "write" => on.write(&step.bytes(), step.number).map(|written| json!(written)),
        "write-via-stream" => return Some(stream(step, on.write_via_stream(step.number))),
        "append-via-stream" => return Some(stream(step, on.append_via_stream())),
        "set-size" => on.set_size(step.number).map(|()| Value::Null),
        "set-times" => on.set_times(time(step), time(step)).map(|()| Value::Null),
        "read-via-stream" => return Some(read_stream(on.read_via_stream(step.number))),
        "advise" => on.advise(step.number, 1, Advice::WillNeed).map(|()| Value::Null),
        "sync" => on.sync().map(|()| Value::Null),
        "sync-data" => on.sync_data().map(|()| Value::Null),
        "stat" => on.stat().map(|stat| json!(stat.size)),
        "get-type" => on.get_type().map(kind),
        "metadata-hash" => on.metadata_hash().map(|hash| json!(hash.lower)),
        "get-flags" => on.get_flags().map(|flags| json!(format!("{flags:?}"))),
        "read" => on.read(4096, step.number).map(|(bytes, _)| json!(String::from_utf8_lossy(&bytes))),
        "read-end" => on.read(4096, step.number).map(|(bytes, end)| json!([String::from_utf8_lossy(&bytes), end])),
        "read-directory" => list(on),
        _ => return None,
    };
    Some(done.map_err(name))
}

fn list(on: &Descriptor) -> Result<Value, ErrorCode> {
    let stream = on.read_directory()?;
    let mut names = Vec::new();
    loop {
        match stream.read_directory_entry() {
            Ok(Some(entry)) => names.push(json!(entry.name)),
            Ok(None) => return Ok(Value::Array(names)),
            // A name that is not UTF-8: the listing continues after it.
            Err(ErrorCode::IllegalByteSequence) => names.push(Value::Null),
            Err(error) => return Err(error),
        }
    }
}

/// Reads everything that a stream returns at once.
fn read_stream(stream: Result<InputStream, ErrorCode>) -> Result<Value, String> {
    match stream.map_err(name)?.blocking_read(4096) {
        Ok(bytes) => Ok(json!(String::from_utf8_lossy(&bytes))),
        Err(error) => Err(broken(&error)),
    }
}

fn broken(error: &StreamError) -> String {
    match error {
        StreamError::Closed => "closed".to_owned(),
        StreamError::LastOperationFailed(error) => {
            filesystem_error_code(error).map_or_else(|| error.to_debug_string(), name)
        }
    }
}

/// Writes to a stream in pieces that it accepts at once.
fn stream(step: &Step, stream: Result<OutputStream, ErrorCode>) -> Result<Value, String> {
    let stream = stream.map_err(name)?;
    for piece in step.bytes().chunks(4096) {
        stream.blocking_write_and_flush(piece).map_err(|error| broken(&error))?;
    }
    Ok(Value::Null)
}

fn kind(of: DescriptorType) -> Value {
    json!(match of {
        DescriptorType::Directory => "directory",
        DescriptorType::RegularFile => "file",
        DescriptorType::SymbolicLink => "link",
        DescriptorType::BlockDevice
        | DescriptorType::CharacterDevice
        | DescriptorType::Fifo
        | DescriptorType::Socket
        | DescriptorType::Unknown => "other",
    })
}

fn time(step: &Step) -> NewTimestamp {
    NewTimestamp::Timestamp(Datetime { seconds: step.number, nanoseconds: step.nanoseconds })
}

/// Returns the WIT name of an error.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn name(error: ErrorCode) -> String {
    error.name().to_owned()
}

fn with_std(step: &Step, path: &str) -> std::io::Result<Value> {
    match step.op.as_str() {
        "std-read" => std::fs::read_to_string(path).map(Value::from),
        "std-write" => std::fs::write(path, step.bytes()).map(|()| Value::Null),
        "std-list" => std::fs::read_dir(path)?
            .map(|entry| Ok(json!(entry?.file_name().to_string_lossy())))
            .collect::<std::io::Result<Value>>(),
        _ => Err(ErrorKind::Unsupported.into()),
    }
}
