//! Text that a page hides from people never reaches a model.

use crate::web::markdown;

/// Ways to hide a word, each around `HIDDEN`.
const HIDING: [&str; 62] = [
    "<script>HIDDEN</script>",
    "<script type='text/template'><p>HIDDEN</p></script>",
    "<style>HIDDEN</style>",
    "<template><p>HIDDEN</p></template>",
    "<noscript><p>HIDDEN</p></noscript>",
    "<!-- HIDDEN -->",
    "<?HIDDEN?>",
    "<svg><title>HIDDEN</title><text>HIDDEN</text></svg>",
    "<iframe srcdoc='HIDDEN'>HIDDEN</iframe>",
    "<object>HIDDEN</object>",
    "<video>HIDDEN</video><audio>HIDDEN</audio><canvas>HIDDEN</canvas>",
    "<textarea>HIDDEN</textarea>",
    "<select><option>HIDDEN</option></select>",
    "<button>HIDDEN</button>",
    "<input value=HIDDEN><input type=hidden value=HIDDEN>",
    "<datalist><option>HIDDEN</datalist>",
    "<p hidden>HIDDEN</p>",
    "<p hidden='until-found'>HIDDEN</p>",
    "<div hidden><div><p>HIDDEN</p></div></div>",
    "<p aria-hidden=true>HIDDEN</p>",
    "<p aria-hidden='TRUE'>HIDDEN</p>",
    "<p style='display:none'>HIDDEN</p>",
    "<p style='DISPLAY : None !important'>HIDDEN</p>",
    "<p style='display:/**/none'>HIDDEN</p>",
    "<p style='d\\69 splay:none'>HIDDEN</p>",
    "<p style='color:red;display:none;'>HIDDEN</p>",
    "<p style='visibility:hidden'>HIDDEN</p>",
    "<p style='visibility:collapse'>HIDDEN</p>",
    "<p style='content-visibility:hidden'>HIDDEN</p>",
    "<p style='opacity:0'>HIDDEN</p>",
    "<p style='opacity:.01'>HIDDEN</p>",
    "<p style='font-size:0'>HIDDEN</p>",
    "<p style='font-size:1px'>HIDDEN</p>",
    "<p style='font-size:0.01em'>HIDDEN</p>",
    "<p style='height:0;overflow:hidden'>HIDDEN</p>",
    "<p style='width:1px;height:1px;position:absolute;overflow:hidden'>HIDDEN</p>",
    "<p style='max-height:0px;overflow:hidden'>HIDDEN</p>",
    "<p style='position:absolute;left:-9999px'>HIDDEN</p>",
    "<p style='position:fixed;top:-200vh'>HIDDEN</p>",
    "<p style='text-indent:-9999px'>HIDDEN</p>",
    "<p style='margin-left:-5000px'>HIDDEN</p>",
    "<p style='position:absolute;clip:rect(0,0,0,0)'>HIDDEN</p>",
    "<p style='position:absolute;clip:rect(1px 1px 1px 1px)'>HIDDEN</p>",
    "<p style='clip-path:inset(100%)'>HIDDEN</p>",
    "<p style='clip-path:inset(50%)'>HIDDEN</p>",
    "<p style='clip-path:circle(0)'>HIDDEN</p>",
    "<p style='transform:scale(0)'>HIDDEN</p>",
    "<p style='transform:rotate(3deg) translateX(-9999px)'>HIDDEN</p>",
    "<p style='color:transparent'>HIDDEN</p>",
    "<p style='color:#fff;background:#fff'>HIDDEN</p>",
    "<p style='background-color:white;color:white'>HIDDEN</p>",
    "<p class='note sr-only'>HIDDEN</p>",
    "<p class=visually-hidden>HIDDEN</p>",
    "<style>.gone{display:none}</style><p class='a gone'>HIDDEN</p>",
    "<style>@import 'x';\n#gone, .x { color: red; visibility: hidden }</style><p id=gone>HIDDEN</p>",
    "<p class=gone>HIDDEN</p><style>/* } */ .gone { font-size: 0 }</style>",
    "<table><tr hidden><td>HIDDEN<td>b</tr></table>",
    "<ul><li hidden>HIDDEN</li></ul>",
    "<dl><dt style='display:none'>HIDDEN</dt><dd hidden>HIDDEN</dd></dl>",
    "<pre>code <span style='display:none'>HIDDEN</span></pre>",
    "<a href='#' title='HIDDEN' data-x=HIDDEN>link</a><img src='data:image/png,HIDDEN'>",
    "<a href='javascript:HIDDEN()'>link</a><a href='data:text/html,HIDDEN'>link</a>",
];

#[test]
fn hidden_text_is_not_shown() {
    for hiding in HIDING {
        let shown = markdown(&format!("<body><p>Before.</p>{hiding}<p>After.</p>"));
        assert!(!shown.contains("HIDDEN"), "{hiding}\n{shown}");
        assert!(shown.starts_with("Before.") && shown.ends_with("After."), "{hiding}\n{shown}");
    }
}

/// Text that only looks hidden, each around `SHOWN`.
const SHOWING: [&str; 14] = [
    "<p style='display:block'>SHOWN</p>",
    "<p style='opacity:0.8'>SHOWN</p>",
    "<p style='font-size:0.8em'>SHOWN</p>",
    "<p style='height:0'>SHOWN</p>",
    "<p style='position:relative;left:-10px'>SHOWN</p>",
    "<p style='color:#000;background:#fff'>SHOWN</p>",
    "<p style='clip-path:inset(5%)'>SHOWN</p>",
    "<p style='transform:scale(0.5)'>SHOWN</p>",
    "<p style=\"background:url('display:none')\">SHOWN</p>",
    "<p aria-hidden=false>SHOWN</p>",
    "<style>@media print { .wide { display: none } }</style><p class=wide>SHOWN</p>",
    "<style>.off .pane { display: none }</style><p class=pane>SHOWN</p>",
    "<style>.tab { display: none } .tab.open { display: block }</style><p class='tab open'>SHOWN</p>",
    "<details><summary>More</summary>SHOWN</details>",
];

#[test]
fn visible_text_is_shown() {
    for showing in SHOWING {
        let shown = markdown(&format!("<body><p>Before.</p>{showing}<p>After.</p>"));
        assert!(shown.contains("SHOWN"), "{showing}\n{shown}");
    }
}

#[test]
fn invisible_characters_are_left_out() {
    let invisible: String = ('\u{e0000}'..='\u{e007f}')
        .chain("\u{200b}\u{200e}\u{202e}\u{2066}\u{2060}\u{feff}\u{ad}\u{fe0f}\u{e123}\u{7}".chars())
        .collect();
    for place in [
        "<p>a{}b</p>",
        "<pre>a{}b</pre>",
        "<p><code>a{}b</code></p>",
        "<h1>a{}b</h1>",
        "<table><tr><th>x<th>y<tr><td>a{}b<td>c</table>",
    ] {
        let shown = markdown(&place.replace("{}", &invisible));
        assert!(shown.contains("ab") && shown.is_ascii(), "{shown:?}");
    }
    let invisible = invisible.replace('\u{7}', "");
    let link = markdown(&format!("<p><a href='/x{invisible}'>a{invisible}b</a>"));
    assert!(link.starts_with("[ab](https://docs.example/x%") && link.is_ascii(), "{link:?}");
}

#[test]
fn joiners_stay_in_scripts_that_need_them() {
    assert_eq!(markdown("<p>می\u{200c}خواهم</p>"), "می\u{200c}خواهم");
    assert_eq!(markdown("<p>a\u{200d}b \u{200c}\u{200c}c</p>"), "ab c");
}

#[test]
fn a_frame_is_not_loaded() {
    assert_eq!(markdown("<frameset><frame src=x></frameset><noframes>HIDDEN</noframes>"), "(the page shows no text)");
}
