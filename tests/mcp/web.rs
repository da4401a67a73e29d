//! A server over HTTP, and requests as bytes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{PATIENCE, modern};

/// A server that is a process. Ended when it is dropped.
pub struct Web {
    child: Child,
    door: Door,
}

/// The way to a server.
pub struct Door {
    pub port: u16,
}

impl std::ops::Deref for Web {
    type Target = Door;

    fn deref(&self) -> &Door {
        &self.door
    }
}

impl Web {
    /// Starts it at a port that the system chooses, and waits until it says that it listens.
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let port = loop {
            let mut line = String::new();
            let read = stderr.read_line(&mut line).unwrap();
            assert!(read > 0, "it ended: {said}");
            said.push_str(&line);
            if let Some(rest) = line.strip_prefix("listening on http://") {
                let port = rest
                    .trim()
                    .trim_end_matches("/mcp")
                    .rsplit(':')
                    .next()
                    .unwrap();
                break port.parse().unwrap();
            }
        };
        std::thread::spawn(move || {
            let mut rest = Vec::new();
            stderr.read_to_end(&mut rest)
        });
        let door = Door { port };
        Self { child, door }
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    /// Its exit code, and how long that took.
    pub fn ended(&mut self) -> (Option<i32>, Duration) {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status.code(), begun.elapsed());
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Door {
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A connection on which the request has been sent.
    pub fn open(&self, head: &str, body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // A server may answer and close before it has read everything.
        let sent = stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body));
        drop(sent);
        stream
    }

    /// A request with these headers beside the usual ones, which has been sent.
    pub fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> TcpStream {
        let host = self.host();
        let mut all = vec![
            ("Host", host.as_str()),
            ("Connection", "close"),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
        ];
        for (name, value) in headers {
            all.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            if !value.is_empty() {
                all.push((name, value));
            }
        }
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in all {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        self.open(&head, body)
    }

    /// One request with these headers beside the usual ones, to its end.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        Reply::read(self.begin(method, path, headers, body))
    }

    /// A message in a POST.
    pub fn post(&self, headers: &[(&str, &str)], message: &Value) -> Reply {
        self.send("POST", "/mcp", headers, message.to_string().as_bytes())
    }

    /// A call of the newest era.
    pub fn call(&self, headers: &[(&str, &str)], tool: &str, arguments: Value) -> Reply {
        let mut all = vec![
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", tool),
        ];
        all.extend(headers);
        self.post(&all, &call(tool, arguments, json!({})))
    }

    /// A session of the handshake's era: its id.
    pub fn session(&self, headers: &[(&str, &str)], capabilities: Value) -> String {
        let begun = self.post(headers, &initialize(capabilities));
        assert_eq!(begun.status, 200, "{begun:?}");
        let id = begun
            .header("mcp-session-id")
            .expect("a session")
            .to_owned();
        let mut more = headers.to_vec();
        more.push(("Mcp-Session-Id", &id));
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&more, &told).status, 202);
        id
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }
}

pub fn initialize(capabilities: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": {"name": "a test", "version": "7"}}})
}

/// A call of the newest era.
pub fn call(tool: &str, arguments: Value, capabilities: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments, "_meta": modern(capabilities)}})
}

/// Reads a stream of events until a message has this method.
pub fn heard(stream: &mut TcpStream, seen: &mut String, method: &str) -> Value {
    let mut buffer = [0; 4_096];
    loop {
        let found = seen
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .filter_map(|data| serde_json::from_str::<Value>(data.trim()).ok())
            .find(|message| message["method"] == method);
        if let Some(message) = found {
            return message;
        }
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "no {method}: {seen}");
        seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
}

/// A whole reply.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Reply {
    fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A reset after the answer is the server's way not to read the rest.
        let read = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            panic!("no reply: {read:?} {text}");
        };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        Self {
            status,
            head: head.to_owned(),
            body: if chunked {
                unchunked(body)
            } else {
                body.to_owned()
            },
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// All messages, of an event stream too.
    pub fn messages(&self) -> Vec<Value> {
        if let Ok(value) = serde_json::from_str(&self.body) {
            return vec![value];
        }
        let data = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| serde_json::from_str(data.trim()).ok())
            .collect()
    }

    /// The last message: the answer.
    pub fn answer(&self) -> Value {
        let last = self.messages().pop();
        last.unwrap_or_else(|| panic!("no message: {self:?}"))
    }
}

fn unchunked(body: &str) -> String {
    let mut rest = body;
    let mut whole = String::new();
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        whole.push_str(more.get(..size).unwrap_or(more));
        rest = more.get(size..).unwrap_or("").trim_start_matches("\r\n");
    }
    whole
}
