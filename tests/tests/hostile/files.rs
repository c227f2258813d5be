//! Files in a plugin directory that are not plugins: S36, S37, S38, S44.

use portcullis::plugins::{FileError, LoadError, Refusal};
use portcullis::{Code, Host, Request};
use portcullis_tests::{Manifest, Site, allow_all, component, guest, module};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Opens a host with a file next to the good plugin, which must load quickly.
async fn open(site: &Site) -> Host {
    let began = Instant::now();
    let host = site.open(&allow_all("")).await;
    assert!(began.elapsed() < Duration::from_secs(3), "opening took {:?}", began.elapsed());
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    host
}

fn refusal(host: &Host, file: &str) -> Arc<LoadError> {
    let catalog = host.catalog();
    let found = catalog.refused().iter().find(|refused| refused.file == file);
    Arc::clone(&found.unwrap_or_else(|| panic!("{file} was not refused")).error)
}

/// A link, a pipe, a directory and a socket are neither followed nor waited for.
#[tokio::test]
async fn s44_a_file_that_is_not_regular_is_refused_quickly() {
    let site = Site::new();
    let plugins = site.plugins();
    symlink("good.wasm", plugins.join("link.wasm")).unwrap();
    symlink("/dev/zero", plugins.join("zero.wasm")).unwrap();
    symlink("nowhere", plugins.join("dangling.wasm")).unwrap();
    fs::create_dir(plugins.join("directory.wasm")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, plugins.join("pipe.wasm"), fifo, mode, 0).unwrap();
    let _socket = UnixListener::bind(plugins.join("socket.wasm")).unwrap();
    let host = open(&site).await;
    for file in ["link.wasm", "zero.wasm", "dangling.wasm", "directory.wasm", "pipe.wasm"] {
        assert!(
            matches!(*refusal(&host, file), LoadError::File(FileError::NotRegular)),
            "{file}: {:?}",
            refusal(&host, file)
        );
    }
    assert!(matches!(*refusal(&host, "socket.wasm"), LoadError::File(_)));
}

#[tokio::test]
async fn s36_a_file_of_ten_gibibytes_is_not_read() {
    let site = Site::new();
    fs::File::create(site.plugins().join("sparse.wasm")).unwrap().set_len(10 << 30).unwrap();
    let host = open(&site).await;
    assert!(matches!(*refusal(&host, "sparse.wasm"), LoadError::File(FileError::TooLarge)));
}

#[tokio::test]
async fn s44_a_world_writable_file_is_refused() {
    let site = Site::new();
    site.plugin("open", &guest("good", &Manifest::of("open")));
    fs::set_permissions(site.plugins().join("open.wasm"), fs::Permissions::from_mode(0o666)).unwrap();
    let host = open(&site).await;
    assert!(matches!(*refusal(&host, "open.wasm"), LoadError::File(FileError::Exposed)));
}

#[tokio::test]
async fn s44_a_name_that_is_not_plain_is_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let site = Site::new();
    let good = guest("good", &Manifest::of("good"));
    let names =
        ["Good.wasm", "GOOD.WASM", ".wasm", "a b.wasm", "a\nb.wasm", "\u{1b}[2J.wasm", "g\u{43e}od.wasm", "a..wasm"];
    for name in names {
        fs::write(site.plugins().join(name), &good).unwrap();
    }
    fs::write(site.plugins().join(OsStr::from_bytes(b"\xff\xfe.wasm")), &good).unwrap();
    fs::write(site.plugins().join("README.md"), "no plugin").unwrap();
    let host = open(&site).await;
    for name in names {
        let error = refusal(&host, name);
        assert!(matches!(*error, LoadError::File(FileError::Name)), "{name:?}: {error:?}");
    }
    assert_eq!(host.catalog().refused().len(), names.len() + 1);
    assert_eq!(host.catalog().plugins().filter(|plugin| !plugin.is_standard()).count(), 1);
}

/// Bytes that are not a component. Each kind has its own error.
#[tokio::test]
async fn s37_a_file_that_is_not_a_component_is_refused() {
    let site = Site::new();
    let (good, core) = (guest("good", &Manifest::of("cut")), module("", &Manifest::of("core")));
    site.plugin("empty", b"");
    site.plugin("text", b" (component)");
    site.plugin("elf", b"\x7fELF\x02\x01\x01");
    site.plugin("header", b"\0asm");
    site.plugin("core", &core);
    site.plugin("cut", &good[..good.len() - 7]);
    site.plugin("half", &good[..good.len() / 2]);
    site.plugin("longer", &[good.as_slice(), &[0x0b, 0xff, 0xff, 0xff, 0xff, 0x0f]].concat());
    site.plugin("bare", &wat_component());
    let host = open(&site).await;
    for name in ["empty", "text", "elf"] {
        let error = refusal(&host, &format!("{name}.wasm"));
        assert!(matches!(*error, LoadError::Refused(Refusal::NotWasm(_))), "{name}: {error:?}");
    }
    assert!(matches!(*refusal(&host, "core.wasm"), LoadError::Refused(Refusal::CoreModule)));
    for name in ["header", "cut", "half", "longer"] {
        let error = refusal(&host, &format!("{name}.wasm"));
        assert!(matches!(*error, LoadError::Refused(Refusal::Malformed { .. })), "{name}: {error:?}");
    }
    assert!(matches!(*refusal(&host, "bare.wasm"), LoadError::Refused(Refusal::NoHandler(None))));
}

/// Builds an empty component.
fn wat_component() -> Vec<u8> {
    b"\0asm\x0d\0\x01\0".to_vec()
}

/// A component with a section that a parser must skip, one byte over the maximum size of a plugin.
#[tokio::test]
async fn s36_a_component_with_a_huge_custom_section_is_refused() {
    let site = Site::new();
    let mut bytes = component(&module("", &Manifest::of("padded")));
    let payload = (64 << 20) - bytes.len();
    let mut size = u32::try_from(payload).unwrap();
    bytes.push(0);
    while size >= 0x80 {
        bytes.push(u8::try_from(size & 0x7f).unwrap() | 0x80);
        size >>= 7;
    }
    bytes.push(u8::try_from(size).unwrap());
    bytes.extend(std::iter::repeat_n(0, payload));
    site.plugin("padded", &bytes);
    let host = open(&site).await;
    assert!(matches!(*refusal(&host, "padded.wasm"), LoadError::File(FileError::TooLarge)));
}
