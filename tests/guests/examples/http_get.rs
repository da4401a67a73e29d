//! A tool whose calls name the URL: it dials that one, and whatever else its input tells it to try, follows redirects by
//! itself, and shows what it is told of a secret.

use toolgate_guest::{
    Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput,
};
use toolgate_test_guests::http::{Answer, send};

/// The most of a body.
const MOST: usize = 4 << 20;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The URL that the call names.
    url: String,
    /// Other URLs, which no call names.
    also: Option<Vec<String>>,
    /// Follow redirects.
    follow: Option<bool>,
    /// A method.
    method: Option<String>,
    /// A body.
    body: Option<String>,
    /// The value of the field `authorization`.
    authorization: Option<String>,
}

/// The tool.
#[derive(Debug)]
pub struct Get;

impl Tool for Get {
    const DECLARATION: Declaration = Declaration::mutating("Get", "Gets what a URL names.")
        .open_world()
        .subject(SubjectKind::Url, "url")
        .capability(Capability::new("net", "subject", "gets the URL"))
        .capability(Capability::new("secret", "api", "signs in").optional());
    type Input = Input;

    fn run(input: Input, context: &Context) -> Result<Output, ToolError> {
        let mut lines = Vec::new();
        let mut next = Some(input.url.clone());
        let mut hops = 0;
        while let Some(url) = next.take() {
            let answer = attempt(&input, &url);
            let to = answer
                .as_ref()
                .ok()
                .and_then(|answer| answer.field("location").map(str::to_owned));
            lines.push(told(&url, answer));
            hops += 1;
            if input.follow == Some(true) && hops < 12 {
                next = to.map(|to| whole(&url, &to));
            }
        }
        for url in input.also.iter().flatten() {
            lines.push(told(url, attempt(&input, url)));
        }
        let secret = toolgate_guest::secrets::exists("api");
        context.info(lines.join("\n"));
        lines.push(format!("secret: {secret}"));
        Ok(Output::text(lines.join("\n")))
    }
}

/// Where a redirect leads that may be written without scheme and host.
fn whole(from: &str, to: &str) -> String {
    let path = from
        .find("://")
        .and_then(|at| from[at + 3..].find('/').map(|end| at + 3 + end));
    match path {
        Some(end) if to.starts_with('/') => format!("{}{to}", &from[..end]),
        _ => to.to_owned(),
    }
}

fn attempt(input: &Input, url: &str) -> Result<Answer, String> {
    let method = input.method.as_deref().unwrap_or("GET");
    let fields: Vec<(&str, &str)> = input
        .authorization
        .iter()
        .map(|value| ("authorization", value.as_str()))
        .collect();
    let body = input.body.as_deref().unwrap_or_default();
    send(method, url, &fields, body.as_bytes(), MOST)
}

fn told(url: &str, answer: Result<Answer, String>) -> String {
    match answer {
        Err(code) => format!("{url}: {code}"),
        Ok(answer) => {
            let text = String::from_utf8_lossy(&answer.body);
            let shown: String = text.chars().take(400).collect();
            let broken = answer.broken.as_deref().unwrap_or("whole");
            let echo = answer.field("x-echo").unwrap_or_default();
            format!(
                "{url}: {} {} bytes, {broken}: {shown} {echo}",
                answer.status,
                answer.body.len()
            )
        }
    }
}

toolgate_guest::export!(Get);
