//! Which hosts a pattern stands for, as policies write it and as destinations name it.

use portcullis_policy::{Destination, HostPattern};

#[test]
fn a_wildcard_stands_for_one_label_and_an_exact_host_for_itself() {
    let rows = [
        ("*.example.com", "a.example.com", true),
        ("*.example.com", "A.EXAMPLE.COM", true),
        ("*.example.com", "a.example.com.", true),
        ("*.example.com", "a-b.example.com", true),
        ("*.example.com", "1.example.com", true),
        ("*.example.com", "xn--bcher-kva.example.com", true),
        ("*.example.com", "bücher.example.com", true),
        ("*.example.com", "example.com", false),
        ("*.example.com", "a.b.example.com", false),
        ("*.example.com", "a.b.c.example.com", false),
        ("*.example.com", "evilexample.com", false),
        ("*.example.com", "evil-example.com", false),
        ("*.example.com", "example.com.evil.net", false),
        ("*.example.com", "a.example.com.evil.net", false),
        ("*.example.com", "a.example.co", false),
        ("*.example.com", "a.example.comm", false),
        ("*.example.com", "a.example.con", false),
        ("*.example.com", "a.xexample.com", false),
        ("*.example.com", "aexample.com", false),
        ("*.example.com", "com", false),
        ("*.example.com", "a.com", false),
        ("*.example.com", "example.com.com", false),
        ("*.example.com", "127.0.0.1", false),
        ("*.example.com", "[::1]", false),
        ("*.example.com", "a_b.example.com", false),
        ("*.a.example.com", "b.a.example.com", true),
        ("*.a.example.com", "a.a.example.com", true),
        ("*.a.example.com", "a.example.com", false),
        ("*.a.example.com", "b.example.com", false),
        ("*.a.example.com", "c.b.a.example.com", false),
        ("*.example.co.uk", "a.example.co.uk", true),
        ("*.example.co.uk", "a.co.uk", false),
        ("*.me.github.io", "a.me.github.io", true),
        ("*.me.github.io", "me.github.io", false),
        ("*.me.github.io", "you.github.io", false),
        ("example.com", "example.com", true),
        ("example.com", "EXAMPLE.com.", true),
        ("example.com", "www.example.com", false),
        ("example.com", "example.com.evil.net", false),
        ("example.com", "xexample.com", false),
        ("example.com", "example.co", false),
        ("xn--bcher-kva.example", "bücher.example", true),
        ("xn--bcher-kva.example", "bucher.example", false),
        ("127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "127.0.0.2", false),
        ("127.0.0.1", "[::ffff:127.0.0.1]", false),
        ("[::1]", "[::1]", true),
        ("[::1]", "[0:0:0:0:0:0:0:1]", true),
        ("[::1]", "[::2]", false),
        ("[::1]", "127.0.0.1", false),
    ];
    for (pattern, host, expected) in rows {
        let pattern = HostPattern::new(pattern).unwrap();
        let destination = Destination::from_url(&format!("https://{host}/")).unwrap();
        assert_eq!(pattern.matches(&destination.host().to_string()), expected, "{pattern} on {host}");
    }
}
