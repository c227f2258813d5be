//! The Markdown for each HTML construct.

use portcullis_sdk::prelude::*;

use crate::web::{fetched, markdown};

/// HTML and the expected Markdown.
const SHAPES: [(&str, &str); 59] = [
    // Text and lines.
    ("<p>a\n  b</p><p>c", "a b\n\nc"),
    ("a<br>b", "a\nb"),
    ("<div>a</div><div>b<span>c</span></div>", "a\n\nbc"),
    ("<p>1 &lt; 2 &amp;&nbsp;3 &copy;", "1 < 2 & 3 ©"),
    ("<p>snake_case * star [x] `tick`", "snake_case \\* star [x] \\`tick\\`"),
    ("<p>[x](https://evil.example/)", "[x\\](https://evil.example/)"),
    ("<p># no heading</p><p>1. no item", "\\# no heading\n\n1\\. no item"),
    ("<p>x<sup>2</sup> 10<sup>-3</sup> 1<sup>st</sup> H<sub>2</sub>O", "x^2 10^-3 1st H2O"),
    ("<p>Text<sup><a href='#n1'>1</a></sup><sup><a href='#n2'>[2]</a></sup>", "Text[1][2]"),
    ("<p>say <q>hello</q>", "say “hello”"),
    ("<hr><p>a", "* * *\n\na"),
    // Headings.
    ("<h1>A <b>bold</b> title</h1><h3>B<br>C</h3>", "# A bold title\n\n### B C"),
    ("<h2>Name<a class=headerlink href='#n'>¶</a></h2>", "## Name"),
    ("<h2><a class=anchor href='#n'></a>Name <a href='#n' title=Permalink>#</a></h2>", "## Name"),
    ("<h2><a href='/x'>Name</a></h2><h2> </h2>", "## [Name](https://docs.example/x)"),
    // Emphasis.
    ("<p><b>a</b> <i>b</i> <strong><em>c</em></strong>", "**a** *b* ***c***"),
    ("<p><b><strong>a</strong></b>", "**a**"),
    ("<b><p>a</p><p>b</p></b>", "a\n\nb"),
    ("<p><i class='icon'></i>a", "a"),
    // Links.
    (
        "<p><a href='other.html'>o</a> <a href='/r?q=1#f'>r</a>",
        "[o](https://docs.example/guide/other.html) [r](https://docs.example/r?q=1)",
    ),
    ("<p><a href='#part'>part</a> <a name=x>anchor</a>", "part anchor"),
    ("<p><a href='javascript:x()'>js</a> <a href='data:x,y'>data</a>", "js data"),
    ("<p><a href='https://a.example/b_(c)'>c</a>", "[c](https://a.example/b_%28c%29)"),
    ("<p><a href=x><b>bold</b> <code>code</code></a>", "[**bold** `code`](https://docs.example/guide/x)"),
    ("<a href=x><h3>Card</h3><p>Text</p></a><p>next", "[Card Text](https://docs.example/guide/x)\n\nnext"),
    ("<p><a href=x></a>a", "a"),
    ("<base href='/b/'><p><a href=x>x</a>", "[x](https://docs.example/b/x)"),
    // Images.
    ("<p>a <img src=x.png alt='a cat'> b", "a (image: a cat) b"),
    ("<p>a<img src=x.png><img src=y.png alt=''>", "a"),
    ("<p><a href=x><img src=y alt=Logo></a>", "[(image: Logo)](https://docs.example/guide/x)"),
    // Code.
    ("<p>use <code>a_b*c</code> or <kbd>Ctrl</kbd>", "use `a_b*c` or `Ctrl`"),
    ("<pre>a\n  b\n</pre>", "```\na\n  b\n```"),
    ("<pre><code class=language-rust>fn a() {}\n</code></pre>", "```rust\nfn a() {}\n```"),
    (
        "<div class='highlight-python3 x'><div class=highlight><pre><span></span>a = <span>1</span></pre></div></div>",
        "```python\na = 1\n```",
    ),
    ("<pre data-lang=Go>x</pre>", "```go\nx\n```"),
    ("<pre class='rust example'>x</pre>", "```rust\nx\n```"),
    ("<pre>```\nfence\n```</pre>", "````\n```\nfence\n```\n````"),
    ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"),
    ("<pre><span class=lineno>1</span> a<button>Copy</button>\n\n\n  b</pre>", "```\n a\n\n\n  b\n```"),
    ("<table class=highlighttable><tr><td class=linenos><pre>1\n2</pre><td><pre>a\nb</pre></table>", "```\na\nb\n```"),
    // Lists.
    ("<ul><li>a<li><p>b</p><li>c<ul><li>d</ul></ul>", "- a\n- b\n- c\n  - d"),
    ("<ol><li>a<li>b</ol><ol start=5><li>e</ol>", "1. a\n2. b\n\n5. e"),
    ("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b"),
    ("<ul><li><p>a</p><p>b</p></li><li><pre>x</pre></li></ul>", "- a\n\n  b\n\n- ```\n  x\n  ```"),
    ("<ul><li></li><li> <i></i></li></ul><p>a", "a"),
    ("<li>a</li><p>b", "a\n\nb"),
    ("<dl><dt>a<dd>b<dt>c<dt>d<dd><p>e</p><p>f</p></dl>", "- **a**: b\n- **c**, **d**\n\n  e\n\n  f"),
    ("<dl><dt class='sig'>f(<em>x</em>)<a class=headerlink href='#f'>¶</a></dt><dd>g</dd></dl>", "- `f(x)`: g"),
    // Tables.
    ("<table><tr><th>a<th>b<tr><td>1<td>x|y</table>", "| a | b |\n| --- | --- |\n| 1 | x\\|y |"),
    (
        "<table><caption>T</caption><thead><tr><td>a<td>b</thead><tr><td>1<td><p>2</p><p>3</p></table>",
        "**T**\n\n| a | b |\n| --- | --- |\n| 1 | 2 3 |",
    ),
    ("<table><tr><td>1<td>2<tr><td>3<td>4</table>", "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"),
    (
        "<table><tr><th colspan=2>a<th>b<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>",
        "| a |  | b |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 1 | 4 | 5 |",
    ),
    ("<table><tr><td><h2>Layout</h2><td><p>a</p><p>b</table>", "## Layout\n\na\n\nb"),
    (
        "<table><tr><td><table><tr><td>a<td>b<tr><td>c<td>d</table></table>",
        "|  |  |\n| --- | --- |\n| a | b |\n| c | d |",
    ),
    // The rest.
    (
        "<details><summary><section><a class=src href=/s>Source</a><h4 class=code-header>fn <a href=/f>f</a>()</h4>\
         </section></summary>a</details>",
        "#### `fn f()`\n\na",
    ),
    ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
    ("<details><summary>More</summary><p>a</p></details>", "**More**\n\na"),
    ("<div class='admonition note'><p class=admonition-title>Note</p><p>a</p></div>", "**Note**\n\na"),
    ("<p><math alttext='x^2'><mi>x</mi><mn>2</mn></math>", "`x^2`"),
];

#[test]
fn each_construct_becomes_markdown() {
    let mut wrong = Vec::new();
    for (html, expected) in SHAPES {
        let found = markdown(html);
        if found != expected {
            wrong.push(format!("{html}\n--- expected\n{expected}\n--- found\n{found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a page with navigation, sidebars and a footer around its content.
fn framed(content: &str) -> String {
    format!(
        "<body><header><a href=/>Site</a></header><nav>Menu</nav><div role=navigation>Path</div>\
         <aside>Advert</aside>{content}<div class=sidebar>Other pages</div><footer>Legal</footer>"
    )
}

const TEXT: &str = "<h1>Title</h1><p>Some text that is long enough to be what the page is about, and which a reader \
                    came here for, and that goes on a little so that no reader takes it for a label or a button.</p>";

#[test]
fn everything_around_the_content_is_left_out() {
    let expected = markdown(TEXT);
    assert!(expected.starts_with("# Title\n\nSome text"));
    for (open, close) in [
        ("<main>", "</main>"),
        ("<div role=main>", "</div>"),
        ("<article><header>", "</header><nav>Next</nav></article>"),
        ("<div id=content>", "</div>"),
        ("<div>", "</div>"),
        ("", ""),
    ] {
        assert_eq!(markdown(&framed(&format!("{open}{TEXT}{close}"))), expected, "{open}");
    }
}

#[test]
fn an_aside_within_the_content_is_kept() {
    let found = markdown(&framed(&format!("<main>{TEXT}<aside>A note.</aside><footer>Written by A.</footer></main>")));
    assert!(found.ends_with("A note.\n\nWritten by A."), "{found}");
}

#[test]
fn several_articles_are_all_shown() {
    let found = markdown("<article><h2>A</h2><p>a</article><article><h2>B</h2><p>b</article>");
    assert_eq!(found, "## A\n\na\n\n## B\n\nb");
}

#[test]
fn a_page_of_nothing_but_navigation_shows_that() {
    assert_eq!(
        markdown("<nav><ul><li><a href=a>A</a><li><a href=b>B</a></ul></nav>"),
        "- [A](https://docs.example/guide/a)\n- [B](https://docs.example/guide/b)"
    );
}

#[test]
fn invalid_html_is_read_as_browsers_read_it() {
    for (html, expected) in [
        ("<p>a<p>b</div></span>", "a\n\nb"),
        ("<b>a<p>b</b>c", "**a**\n\n**b**c"),
        ("<table><p>foster</p><tr><td>a", "foster\n\na"),
        ("<a href=x>a<a href=y>b", "[a](https://docs.example/guide/x)[b](https://docs.example/guide/y)"),
        ("<ul><li>a<p>b", "- a\n\n  b"),
        ("<title>x", "(the page shows no text)"),
        ("", "(the page shows no text)"),
        ("plain", "plain"),
    ] {
        assert_eq!(markdown(html), expected, "{html}");
    }
}

#[test]
fn a_page_that_nests_too_deep_is_refused() {
    for open in
        ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<blockquote>", "<a><b>", "<font color=red>", "<svg>", "<math>"]
    {
        let failure = fetched("text/html", open.repeat(100_000)).unwrap_err();
        assert!(
            matches!(&failure, Failure::Failed(text) if text.contains("nests more than 256 elements")),
            "{failure:?}"
        );
    }
}

#[test]
fn a_page_just_below_the_bound_is_read() {
    for (open, close) in
        [("<div>", "</div>"), ("<blockquote>", "</blockquote>"), ("<ul><li>", "</li></ul>"), ("<em>", "</em>")]
    {
        let depth = 240 / open.matches('<').count();
        let found = markdown(&format!("{}text{}", open.repeat(depth), close.repeat(depth)));
        assert!(found.contains("text"), "{open}");
    }
}

#[test]
fn a_page_of_very_many_elements_is_shown_in_part() {
    let answer = fetched("text/html", "<p>a".repeat(300_000)).unwrap();
    assert_eq!(answer.metadata["whole"], json!(false));
    assert!(answer.content().starts_with("a\n\na\n\n"));
}
