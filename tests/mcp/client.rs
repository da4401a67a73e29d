//! A client over stdin and stdout that sends what it is told, and keeps every line that comes back.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than anything takes that works.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// See the module.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Arc<Mutex<String>>,
    next: i64,
    /// Messages that were no answer to what was waited for.
    pub others: Vec<Value>,
}

impl Client {
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        let stderr = Arc::new(Mutex::new(String::new()));
        let (kept, mut from) = (Arc::clone(&stderr), child.stderr.take().unwrap());
        std::thread::spawn(move || {
            let mut buffer = [0; 4_096];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
                kept.lock().unwrap().push_str(&text);
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            stderr,
            next: 1,
            others: Vec::new(),
        }
    }

    /// Started, and in a session of the handshake's era.
    pub fn legacy(command: Command, capabilities: Value) -> Self {
        let mut client = Self::start(command);
        client.initialize(capabilities);
        client
    }

    pub fn initialize(&mut self, capabilities: Value) -> Value {
        let answer = self.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": {"name": "a test", "version": "7"},
            }),
        );
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is closed");
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    /// The next line, if one comes in time. A line that is no message fails the test.
    pub fn line(&mut self, within: Duration) -> Option<Value> {
        match self.lines.recv_timeout(within) {
            Ok(line) => {
                let value: Value = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("stdout holds {line:?}: {error}"));
                assert_eq!(value["jsonrpc"], "2.0", "{line}");
                Some(value)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// The answer to a request; what else comes is kept.
    pub fn answer(&mut self, id: &Value) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Some(message) = self.line(left) else {
                panic!("no answer to {id}; stderr: {}", self.stderr());
            };
            if message["id"] == *id && message.get("method").is_none() {
                return message;
            }
            self.others.push(message);
        }
    }

    /// Sends a request and gives its id.
    pub fn begin(&mut self, method: &str, params: Value) -> Value {
        let id = Value::from(self.next);
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(&id)
    }

    /// The result of a call.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        answer
            .get("result")
            .unwrap_or_else(|| panic!("{answer}"))
            .clone()
    }

    /// The next message with this method.
    pub fn heard(&mut self, method: &str) -> Value {
        let known = self
            .others
            .iter()
            .position(|message| message["method"] == method);
        if let Some(at) = known {
            return self.others.remove(at);
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.line(left);
            let message = message.unwrap_or_else(|| panic!("no {method}: {}", self.stderr()));
            if message["method"] == method {
                return message;
            }
            self.others.push(message);
        }
    }

    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.pid().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    /// Closes stdin.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// How the server ended, and after how long; with all lines that were left.
    pub fn ended(mut self) -> (Option<i32>, Duration, Vec<Value>) {
        let begun = Instant::now();
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        let took = begun.elapsed();
        let mut left = Vec::new();
        while let Some(line) = self.line(Duration::from_millis(500)) {
            left.push(line);
        }
        (code, took, left)
    }

    /// Closes stdin and waits for a good end.
    pub fn close(mut self) -> Vec<Value> {
        self.hang_up();
        let (code, _, left) = self.ended();
        assert_eq!(code, Some(0));
        left
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }
}

/// What a request of the newest era carries.
pub fn modern(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "7"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// All text of a result.
pub fn text(result: &Value) -> String {
    let parts = result["content"].as_array().expect("content").iter();
    let texts = parts.filter_map(|part| part["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
