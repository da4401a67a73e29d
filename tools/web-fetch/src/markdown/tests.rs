//! Pages as they are, and pages that want to do harm.

use proptest::prelude::*;

use super::*;

fn converted(html: &str) -> Converted {
    convert(html, &Url::parse("https://a.test/dir/page?x=1").unwrap())
}

fn text(html: &str) -> String {
    converted(html).text
}

#[test]
fn a_page_becomes_markdown() {
    let page = converted(
        "<!doctype html><html><head><title> The\n title </title><style>p{}</style></head><body>
         <h1>Head</h1><p>Some <b>bold</b> and <em>thin</em> <code>code</code>.</p>
         <ul><li>one<li>two</ul><ol start=3><li>three</ol>
         <pre><code class='language-rust'>fn main() {\n    1\n}</code></pre>
         <blockquote>said</blockquote><hr></body></html>",
    );
    assert_eq!(page.title.as_deref(), Some("The title"));
    assert!(!page.cut);
    for part in [
        "# Head",
        "Some **bold** and *thin* `code`.",
        "- one\n- two",
        "3. three",
        "```rust\nfn main() {\n    1\n}\n```",
        "> said",
    ] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
}

#[test]
fn links_become_absolute_and_what_cannot_be_fetched_is_text() {
    for (html, markdown) in [
        ("<a href='other#x'>o</a>", "[o](https://a.test/dir/other#x)"),
        ("<a href='/root'>o</a>", "[o](https://a.test/root)"),
        ("<a href='//b.test/'>o</a>", "[o](https://b.test/)"),
        ("<a href='mailto:x@y.test'>o</a>", "[o](mailto:x@y.test)"),
        ("<a href='javascript:alert(1)'>o</a>", "o"),
        ("<a href='data:text/html,x'>o</a>", "o"),
        ("<a>o</a>", "o"),
        (
            "<img src='i.png' alt='an\nimage'>",
            "![an image](https://a.test/dir/i.png)",
        ),
        (
            "<base href='/b/'><a href=x>o</a>",
            "[o](https://a.test/b/x)",
        ),
        (
            "<base href='https://c.test/b/'><a href=x>o</a>",
            "[o](https://c.test/b/x)",
        ),
    ] {
        assert_eq!(text(html), markdown, "{html}");
    }
    let long = format!("<a href='/{}'>o</a>", "x".repeat(100_000));
    assert_eq!(text(&long), "o");
    assert_eq!(text("<img src='data:image/png;base64,AAAA' alt=dot>"), "");
}

#[test]
fn what_is_not_seen_is_not_read() {
    for html in [
        "<script>evil</script>",
        "<style>evil</style>",
        "<noscript>evil</noscript>",
        "<template><p>evil</p></template>",
        "<!-- evil -->",
        "<svg><title>evil</title><text>evil</text></svg>",
        "<p hidden>evil</p>",
        "<div aria-hidden=true><p>evil</p></div>",
        "<span style='color:red; Display : None'>evil</span>",
        "<span style='visibility:hidden'>evil</span>",
        "<iframe srcdoc='evil'>evil</iframe>",
        "<form><select><option>evil</select><textarea>evil</textarea><button>evil</button></form>",
    ] {
        let page = converted(&format!("<p>before</p>{html}<p>after</p>"));
        assert!(!page.text.contains("evil"), "{html}: {}", page.text);
        assert!(
            page.text.contains("before") && page.text.contains("after"),
            "{html}"
        );
        assert_eq!(page.title, None, "{html}");
    }
}

#[test]
fn a_table_has_its_rows_and_no_padding() {
    let table = "<table><tr><th>a<th>b</tr><tr><td>1<td>x|y</tr><tr><td><p>two</p><p>lines</p></tr></table>";
    assert_eq!(
        text(table),
        "| a | b |\n|---|---|\n| 1 | x\\|y |\n| two lines |"
    );
    let layout = "<table><tr><td>left<td>right</table>";
    assert!(!text(layout).contains('|'));
    let nested = "<table><tr><th>h</tr><tr><td><table><tr><th>n</tr><tr><td>m</table></tr></table>";
    assert_eq!(text(nested), "| h |\n|---|\n| n m |");
    let wide = format!(
        "<table><tr><th>{}</tr>{}</table>",
        "w".repeat(100_000),
        "<tr><td>x</tr>".repeat(10_000)
    );
    assert!(text(&wide).len() < 200_000);
}

#[test]
fn depth_is_bounded_and_what_is_deep_is_still_there() {
    let deep = |tag: &str, count: usize| {
        let html = format!(
            "{}deep{}",
            format!("<{tag}>").repeat(count),
            format!("</{tag}>").repeat(count)
        );
        converted(&html)
    };
    for tag in [
        "div",
        "blockquote",
        "ul><li",
        "b",
        "span",
        "table><tr><td",
        "i><b",
    ] {
        let page = deep(tag, 200);
        assert!(page.text.contains("deep"), "{tag}");
    }
    for tag in [
        "div",
        "blockquote",
        "ul><li",
        "b",
        "span",
        "table><tr><td",
        "p",
        "a",
        "font",
        "select",
        "svg",
        "math",
    ] {
        let page = deep(tag, 200_000);
        assert!(page.text.len() < 4 << 20, "{tag}");
    }
    assert!(deep("div", 200_000).cut);
    assert!(!deep("p", 10_000).cut);
}

#[test]
fn wide_and_strange_pages_end() {
    for html in [
        "<b>a</b>".repeat(100_000),
        "<b>a</b><i>b</i>".repeat(50_000),
        "<a href=x>a".repeat(50_000),
        "<p>a".repeat(100_000),
        format!(
            "{}{}",
            (0..1_000)
                .map(|n| format!("<b id={n}>"))
                .collect::<String>(),
            "<p>x".repeat(1_000)
        ),
        "<table>".repeat(5_000),
        "<td>x".repeat(50_000),
        format!("<div {}>x</div>", "a=b ".repeat(100_000)),
        format!("<div title='{}'>x</div>", "y".repeat(1 << 20)),
        "&amp;".repeat(200_000),
        "<".repeat(200_000),
        "<!--".repeat(100_000),
        "<![CDATA[".repeat(50_000),
        "\0".repeat(100_000),
    ] {
        let page = converted(&html);
        assert!(
            page.text.len() < 8 << 20,
            "{}",
            html.chars().take(20).collect::<String>()
        );
    }
}

/// Pieces of which hostile pages are made.
const PIECES: &[&str] = &[
    "<b>",
    "</b>",
    "<i>",
    "<a href='x'>",
    "</a>",
    "<p>",
    "</p>",
    "<table>",
    "<tr>",
    "<td>",
    "<th>",
    "</table>",
    "<ul>",
    "<ol start=99>",
    "<li>",
    "</ul>",
    "<pre>",
    "<code class=language-x>",
    "</code>",
    "</pre>",
    "<h1>",
    "</h1>",
    "<blockquote>",
    "<img src=x alt='\n'>",
    "<br>",
    "<hr>",
    "<span class='math math-inline'>",
    "</span>",
    "<script>",
    "</script>",
    "<template>",
    "</template>",
    "<svg>",
    "<math>",
    "<select>",
    "<option>",
    "<selectedcontent>",
    "</select>",
    "<title>",
    "</title>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "&lt;",
    "&#x1;",
    "text",
    " ",
    "\n",
    "|",
    "`",
    "```",
    "*",
    "_",
    "[",
    "](",
    ")",
    "é",
    "\u{202e}",
    "<base href=//b/>",
    "<body>",
    "<html>",
    "<frameset>",
    "<noscript>",
    "<thead>",
    "<caption>",
    "<colgroup>",
    "<em>",
    "<strong>",
    "<input>",
    "<textarea>",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn no_page_is_too_much(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        converted(&pieces.concat());
    }

    #[test]
    fn no_text_is_too_much(text in "\\PC{0,200}") {
        converted(&text);
    }
}
