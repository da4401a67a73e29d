//! A page as the reply of a call.

use toolgate_guest::{Output, ToolError};
use toolgate_reply::{counted, cut, grouped};

use crate::charset;
use crate::fetch::{MAX_BODY, Page, shown};
use crate::markdown::{self, Converted};
use crate::media::{Kind, MediaType};

/// The most characters of a prompt that are repeated.
const MAX_PROMPT: usize = 1_000;

/// The reply: where the page stands and what it is, then what it says.
///
/// # Errors
/// It is of a type that cannot be shown, or a picture that was cut.
pub fn page(page: &Page, prompt: Option<&str>) -> Result<Output, ToolError> {
    let data = &page.answer.body.data;
    let media = MediaType::of(page.answer.content_type.as_deref(), data);
    match media.kind {
        Kind::Html => {
            let (text, encoding) = charset::decode(&media, data);
            let converted = markdown::convert(&text, &page.url);
            Ok(text_reply(page, &media, encoding, prompt, &converted))
        }
        Kind::Text => {
            let (text, encoding) = charset::decode(&media, data);
            let converted = Converted {
                text,
                ..Converted::default()
            };
            Ok(text_reply(page, &media, encoding, prompt, &converted))
        }
        Kind::Picture(mime) => {
            if page.answer.body.truncated {
                return Err(ToolError::failed(format!(
                    "{} is a picture of more than {} bytes, too large to be shown.",
                    shown(&page.url),
                    grouped(MAX_BODY as u64)
                )));
            }
            let heading = heading(page, mime, None, prompt, None);
            Ok(Output::text(heading.trim_end()).with_image(mime, data.clone()))
        }
        Kind::Other => Err(ToolError::failed(not_shown(page, &media))),
    }
}

fn text_reply(
    page: &Page,
    media: &MediaType,
    encoding: &str,
    prompt: Option<&str>,
    converted: &Converted,
) -> Output {
    let name = match media.name.as_str() {
        "" => "text",
        name => name,
    };
    let mut text = heading(
        page,
        name,
        Some(encoding),
        prompt,
        converted.title.as_deref(),
    );
    match converted.text.trim().is_empty() {
        true if page.answer.body.data.is_empty() => text.push_str("[The body is empty.]"),
        true => text.push_str(
            "[There is nothing to read: the page may be made by scripts, which are not run.]",
        ),
        false => text.push_str(converted.text.trim_end()),
    }
    if converted.cut {
        text.push_str("\n\n[The rest was left out: the page has too many elements, or too many inside of one another.]");
    }
    if page.answer.body.truncated {
        let most = grouped(MAX_BODY as u64);
        text.push_str(&format!("\n\n[The body was cut at {most} bytes.]"));
    }
    Output::text(text)
}

/// The lines above what the page says.
fn heading(
    page: &Page,
    name: &str,
    encoding: Option<&str>,
    prompt: Option<&str>,
    title: Option<&str>,
) -> String {
    let bytes = counted(page.answer.body.data.len() as u64, "byte", "bytes");
    let encoding = encoding
        .map(|encoding| format!(", {encoding}"))
        .unwrap_or_default();
    let mut lines = vec![format!("[{}: {name}{encoding}, {bytes}]", shown(&page.url))];
    lines.extend(title.map(|title| format!("[Title: {title}]")));
    let prompt = prompt.map(str::trim).filter(|prompt| !prompt.is_empty());
    lines.extend(prompt.map(|prompt| format!("[Asked of this page: {}]", cut(prompt, MAX_PROMPT))));
    lines.join("\n") + "\n\n"
}

fn not_shown(page: &Page, media: &MediaType) -> String {
    let what = match media.name.as_str() {
        "" => "a type that the server does not name",
        "application/pdf" => "a PDF",
        name => name,
    };
    let bytes = counted(page.answer.body.data.len() as u64, "byte", "bytes");
    let more = if page.answer.body.truncated {
        " or more"
    } else {
        ""
    };
    format!(
        "{} is {what} ({bytes}{more}), which WebFetch does not show: it gives HTML, text and pictures (PNG, JPEG, GIF, WebP).",
        shown(&page.url)
    )
}

#[cfg(test)]
mod tests {
    use toolgate_guest::Content;
    use toolgate_guest::http::Body;
    use url::Url;

    use super::*;
    use crate::fetch::Answer;

    fn shown_as(content_type: &str, data: &[u8], truncated: bool) -> Result<Output, ToolError> {
        let answer = Answer {
            status: 200,
            location: None,
            content_type: Some(content_type.to_owned()),
            body: Body {
                data: data.to_vec(),
                truncated,
            },
        };
        let url = Url::parse("https://a.test/x").unwrap();
        page(&Page { url, answer }, Some(" what is it? "))
    }

    fn text(content_type: &str, data: &[u8], truncated: bool) -> String {
        match shown_as(content_type, data, truncated).unwrap().content() {
            [Content::Text(text)] => text.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_reply_says_where_it_comes_from_and_what_was_asked() {
        assert_eq!(
            text("text/html", b"<title>T</title><p>Hi", false),
            "[https://a.test/x: text/html, UTF-8, 21 bytes]\n[Title: T]\n[Asked of this page: what is it?]\n\nHi"
        );
        assert_eq!(
            text("application/json", b"{\"a\": 1}", false),
            "[https://a.test/x: application/json, UTF-8, 8 bytes]\n[Asked of this page: what is it?]\n\n{\"a\": 1}"
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        assert!(text("text/plain", b"", false).ends_with("[The body is empty.]"));
        assert!(text("text/html", b"<script>x</script>", false).contains("nothing to read"));
        assert!(text("text/plain", b"a", true).ends_with("[The body was cut at 4,194,304 bytes.]"));
        let deep = "<div>".repeat(5_000);
        assert!(text("text/html", deep.as_bytes(), false).contains("too many elements"));
    }

    #[test]
    fn pictures_are_pictures_and_the_rest_is_named() {
        let png = shown_as("image/png", b"\x89PNG\r\n\x1a\nx", false).unwrap();
        assert!(
            matches!(png.content(), [Content::Text(_), Content::Blob(blob)] if blob.mime == "image/png")
        );
        assert!(shown_as("image/png", b"\x89PNG\r\n\x1a\nx", true).is_err());
        let pdf = shown_as("application/pdf", b"%PDF-1.7", false)
            .unwrap_err()
            .to_string();
        assert!(
            pdf.contains("is a PDF (8 bytes), which WebFetch does not show"),
            "{pdf}"
        );
        let unknown = shown_as("", b"\0\x01", true).unwrap_err().to_string();
        assert!(unknown.contains("2 bytes or more"), "{unknown}");
    }
}
