//! Decides what to keep of a link.

use portcullis_sdk::http::Url;

/// Maximum length of an address. A longer one is data.
const ADDRESS_BYTES_MAX: usize = 1_000;

/// Texts of anchor marks, which link a heading to itself.
const MARKS: [&str; 9] = ["", "¶", "§", "#", "🔗", "⚓", "↩", "↑", "permalink"];

/// What to keep of a link.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// The link, because it leads to another page.
    To(String),
    /// Only its text, because a reader could not follow it.
    Words,
    /// Nothing, because it is an anchor mark.
    Mark,
}

/// Judges a link by its address and its text in one line. `base` is the base URL, `page` the URL of the page itself.
pub(crate) fn judge(address: Option<&str>, text: &str, base: &Url, page: &Url) -> Link {
    let Some(address) = address else { return Link::Words };
    if MARKS.iter().any(|mark| mark.eq_ignore_ascii_case(text)) {
        return Link::Mark;
    }
    // Browsers ignore these characters in an address.
    let address = address.trim().replace(['\t', '\n', '\r'], "");
    if address.len() > ADDRESS_BYTES_MAX || address.starts_with('#') {
        return Link::Words;
    }
    let is_letter_box = address.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("mailto:"));
    let target = match Url::parse(&base.join(&address)) {
        Ok(url) if url == *page && address.contains('#') => return Link::Words,
        Ok(url) => url.to_string(),
        Err(_) if is_letter_box && address.bytes().all(|byte| byte.is_ascii_graphic()) => address,
        Err(_) => return Link::Words,
    };
    // Parentheses would need escapes in Markdown, which a model might copy when it follows the link.
    Link::To(target.replace('(', "%28").replace(')', "%29"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_to_other_pages_are_kept() {
        let page = Url::parse("http://a.example/docs/page.html?x=1").unwrap();
        let to = |address: &str| Link::To(address.to_owned());
        for (address, text, link) in [
            ("other.html", "Other", to("http://a.example/docs/other.html")),
            ("/", "Home", to("http://a.example/")),
            ("//b.example/x(y)", "B", to("http://b.example/x%28y%29")),
            ("other.html#part", "Part", to("http://a.example/docs/other.html")),
            ("mailto:a@b.example", "Write", to("mailto:a@b.example")),
            (" java\nscript:alert(1)", "Click", Link::Words),
            ("JavaScript:alert(1)", "Click", Link::Words),
            ("data:text/html,<b>", "Data", Link::Words),
            ("file:///etc/passwd", "File", Link::Words),
            ("vbscript:x", "VB", Link::Words),
            ("#part", "Part", Link::Words),
            ("page.html?x=1#part", "Part", Link::Words),
            ("http://", "Broken", Link::Words),
            ("http://user:password@b.example/", "User", Link::Words),
            ("#part", "¶", Link::Mark),
            ("other.html", "", Link::Mark),
        ] {
            assert_eq!(judge(Some(address), text, &page, &page), link, "{address}");
        }
        assert_eq!(judge(None, "an anchor", &page, &page), Link::Words);
        assert_eq!(judge(Some(&"x".repeat(2000)), "long", &page, &page), Link::Words);
    }
}
