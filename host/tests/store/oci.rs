//! Components from a real registry on this machine, and from one that lies.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use oci_client::Reference;
use oci_client::client::{Client, ClientConfig, ClientProtocol, Config, ImageLayer};
use oci_client::secrets::RegistryAuth;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};

use crate::desk::{CEILING, Desk, text};
use crate::fixture::Fixture;
use crate::said::{assert_exit, stderr, stdout};

/// A user `me` with the password `secret`.
const HTPASSWD: &str = "me:$2b$04$ADnEVOnpspfaV8Qa0QX5OeFymR7y47dFV1buHyMHCfdQnfRIq/Aaa\n";

/// A registry that ends with this value.
struct Registry {
    child: Child,
    host: String,
    data: PathBuf,
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Registry {
    fn start(desk: &Desk, private: bool) -> Self {
        let data = desk.base.join("registry");
        let auth = match private {
            true => {
                let users = desk.file("users", HTPASSWD);
                format!(
                    "auth:\n  htpasswd:\n    realm: test\n    path: {}\n",
                    users.display()
                )
            }
            false => String::new(),
        };
        let config = desk.file(
            "registry.yml",
            format!(
                "version: 0.1\nlog:\n  level: info\nstorage:\n  filesystem:\n    rootdirectory: {}\nhttp:\n  addr: 127.0.0.1:0\n{auth}",
                data.display()
            ),
        );
        let mut child = Command::new("docker-registry")
            .arg("serve")
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("this test needs 'docker-registry' (apt-get install docker-registry)");
        let log = BufReader::new(child.stderr.take().unwrap());
        let (say, hear) = mpsc::channel();
        thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                if let Some((_, rest)) = line.split_once("listening on ") {
                    let host: String = rest
                        .chars()
                        .take_while(|c| *c != '"' && *c != ' ')
                        .collect();
                    say.send(host).ok();
                }
            }
        });
        let host = hear.recv_timeout(CEILING).expect("the registry listens");
        Self { child, host, data }
    }

    fn push(&self, name: &str, layers: Vec<ImageLayer>, auth: &RegistryAuth) -> String {
        let client = Client::new(ClientConfig {
            protocol: ClientProtocol::HttpsExcept(vec![self.host.clone()]),
            ..ClientConfig::default()
        });
        let reference: Reference = format!("{}/{name}", self.host).parse().unwrap();
        let config = Config::new(
            b"{}".to_vec(),
            "application/vnd.wasm.config.v0+json".to_owned(),
            None,
        );
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            client
                .push(&reference, &layers, config, auth, None)
                .await
                .unwrap();
            client
                .fetch_manifest_digest(&reference, auth)
                .await
                .unwrap()
        })
    }

    fn push_component(&self, name: &str, bytes: Vec<u8>) -> String {
        let layer = ImageLayer::new(bytes, "application/wasm".to_owned(), None);
        self.push(name, vec![layer], &RegistryAuth::Anonymous)
    }
}

fn provider() {
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
}

fn peek(description: &str) -> Vec<u8> {
    Fixture {
        name: "Peek".to_owned(),
        description: description.to_owned(),
        ..Fixture::default()
    }
    .text()
}

fn lock(desk: &Desk) -> Option<String> {
    fs::read_to_string(desk.state.join("store/toolgate.lock")).ok()
}

#[test]
fn a_component_comes_from_a_registry() {
    provider();
    let desk = Desk::new();
    let registry = Registry::start(&desk, false);
    let host = registry.host.clone();
    let digest = registry.push_component("tools/peek:1", peek("First."));
    let reference = format!("oci://{host}/tools/peek:1");

    let output = desk.run(&["install", &reference, "--yes"]);
    assert_exit(&output, 2);
    assert!(stderr(&output).contains(&reference), "{}", stderr(&output));
    assert_eq!(lock(&desk), None, "plain HTTP is not spoken by itself");
    let output = desk.run(&["install", &reference, "--yes", "--plain-http", &host]);
    assert_exit(&output, 0);
    assert!(stdout(&output).contains("oci__Peek"), "{}", stdout(&output));
    let first = lock(&desk).unwrap();
    assert!(
        first.contains(&digest) && first.contains(&reference),
        "{first}"
    );
    assert_exit(&desk.run(&["call", "oci__Peek", "{}"]), 0);

    let second = registry.push_component("tools/peek:1", peek("Second."));
    assert_ne!(digest, second);
    let config = desk.file(
        "toolgate.toml",
        format!("[store.registries.\"{host}\"]\nplain_http = true\n"),
    );
    let pinned = format!("oci://{host}/tools/peek@{digest}");
    let with = |source: &str, more: &[&str]| {
        let mut all = vec!["install", source, "--yes", "--config", text(&config)];
        all.extend(more);
        desk.run(&all)
    };
    let output = with(&pinned, &[]);
    assert_exit(&output, 0);
    assert!(
        stderr(&output).contains("installed already"),
        "{}",
        stderr(&output)
    );
    let output = with(&reference, &[]);
    assert_exit(&output, 0);
    assert!(
        stdout(&output).contains("~ the description"),
        "{}",
        stdout(&output)
    );
    for (bad, says) in [
        (
            format!("oci://{host}/tools/peek@sha256:{}", "0".repeat(64)),
            "no such component",
        ),
        (format!("oci://{host}/tools/none:1"), "no such component"),
        ("oci://tools/peek:1".to_owned(), "name the registry"),
    ] {
        let output = with(&bad, &[]);
        assert_exit(&output, 2);
        assert!(stderr(&output).contains(says), "{bad}: {}", stderr(&output));
    }
    let output = desk.run(&["install", "oci://ghcr.io/a/b:1", "--plain-http", "ghcr.io"]);
    assert_exit(&output, 2);
    assert!(
        stderr(&output).contains("only for a loopback address"),
        "{}",
        stderr(&output)
    );

    drop(registry);
    assert_exit(&with(&reference, &["--offline"]), 0);
    let output = with(&format!("oci://{host}/tools/other:1"), &["--offline"]);
    assert_exit(&output, 2);
    assert!(stderr(&output).contains("--offline"), "{}", stderr(&output));
    assert_exit(&desk.run(&["call", "oci__Peek", "{}"]), 0);
}

#[test]
fn what_was_changed_in_the_registry_is_refused() {
    provider();
    let desk = Desk::new();
    let registry = Registry::start(&desk, false);
    registry.push_component("tools/peek:1", peek("First."));
    let mut changed = 0;
    each_file(&registry.data, &mut |path| {
        let bytes = fs::read(path).unwrap();
        if bytes.starts_with(b"(component") {
            let text = String::from_utf8(bytes).unwrap();
            fs::write(path, text.replacen("(component", "(component ", 1)).unwrap();
            changed += 1;
        }
    });
    assert_eq!(changed, 1);
    let reference = format!("oci://{}/tools/peek:1", registry.host);
    let output = desk.run(&[
        "install",
        &reference,
        "--yes",
        "--plain-http",
        &registry.host,
    ]);
    assert_exit(&output, 2);
    assert_eq!(lock(&desk), None);
}

fn each_file(folder: &Path, what: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => each_file(&path, what),
            false => what(&path),
        }
    }
}

#[test]
fn cosign_signatures_name_the_publisher() {
    provider();
    let desk = Desk::new();
    let registry = Registry::start(&desk, false);
    let host = registry.host.clone();
    let digest = registry.push_component("tools/peek:1", peek("Signed."));
    let key = SigningKey::from_slice(&[11; 32]).unwrap();
    let sign = |about: &str, key: &SigningKey| {
        let said = serde_json::json!({
            "critical": {
                "identity": { "docker-reference": format!("{host}/tools/peek") },
                "image": { "docker-manifest-digest": about },
                "type": "cosign container image signature",
            },
            "optional": {},
        })
        .to_string();
        let signature: Signature = key.sign(said.as_bytes());
        let signature = BASE64.encode(signature.to_der().as_bytes());
        let annotation = ("dev.cosignproject.cosign/signature".to_owned(), signature);
        let layer = ImageLayer::new(
            said.into_bytes(),
            "application/vnd.dev.cosign.simplesigning.v1+json".to_owned(),
            Some(BTreeMap::from([annotation])),
        );
        let tag = digest.replace(':', "-");
        registry.push(
            &format!("tools/peek:{tag}.sig"),
            vec![layer],
            &RegistryAuth::Anonymous,
        );
    };
    let public = toolgate::store::PublicKey::P256(*key.verifying_key()).to_string();
    assert_exit(&desk.run(&["keys", "add", "acme", &public]), 0);
    let config = desk.file(
        "toolgate.toml",
        format!(
            "[store]\nrequire_signatures = true\n[store.registries.\"{host}\"]\nplain_http = true\n"
        ),
    );
    let reference = format!("oci://{host}/tools/peek:1");
    let install = ["install", &reference, "--yes", "--config", text(&config)];
    let refused = || {
        let output = desk.run(&install);
        assert_exit(&output, 2);
        assert!(
            stderr(&output).contains("signed by no key of the store"),
            "{}",
            stderr(&output)
        );
        assert_eq!(lock(&desk), None);
    };
    refused();
    sign(&digest, &SigningKey::from_slice(&[12; 32]).unwrap());
    refused();
    sign(&format!("sha256:{}", "0".repeat(64)), &key);
    refused();
    sign(&digest, &key);
    let output = desk.run(&install);
    assert_exit(&output, 0);
    assert!(
        stdout(&output).contains("acme__Peek"),
        "{}",
        stdout(&output)
    );
    assert_exit(
        &desk.run(&["call", "acme__Peek", "{}", "--config", text(&config)]),
        0,
    );
}

#[test]
fn a_private_registry_lets_in_who_logs_in() {
    provider();
    let desk = Desk::new();
    let registry = Registry::start(&desk, true);
    let host = registry.host.clone();
    let auth = RegistryAuth::Basic("me".to_owned(), "secret".to_owned());
    let layer = ImageLayer::new(peek("Private."), "application/wasm".to_owned(), None);
    registry.push("tools/peek:1", vec![layer], &auth);
    let reference = format!("oci://{host}/tools/peek:1");
    let install = ["install", &reference, "--yes", "--plain-http", &host];
    let output = desk.run(&install);
    assert_exit(&output, 2);
    assert!(
        stderr(&output).contains("without logging in"),
        "{}",
        stderr(&output)
    );

    let docker = |password: &str| {
        let login = BASE64.encode(format!("me:{password}"));
        desk.file(
            ".docker/config.json",
            format!(r#"{{"auths":{{"{host}":{{"auth":"{login}"}}}}}}"#),
        )
    };
    docker("wrong");
    let output = desk.run(&install);
    assert_exit(&output, 2);
    assert!(!stderr(&output).contains("wrong"), "{}", stderr(&output));
    assert_eq!(lock(&desk), None);
    docker("secret");
    assert_exit(&desk.run(&install), 0);

    fs::remove_dir_all(desk.base.join(".docker")).unwrap();
    assert_exit(&desk.run(&["uninstall", "oci__Peek"]), 0);
    let password = desk.file("password", "secret\n");
    let config = desk.file(
        "toolgate.toml",
        format!(
            "[store.registries.\"{host}\"]\nplain_http = true\nusername = \"me\"\npassword_file = \"{}\"\n",
            password.display()
        ),
    );
    let output = desk.run(&["install", &reference, "--yes", "--config", text(&config)]);
    assert_exit(&output, 0);
}

/// A registry whose layer never ends.
fn endless() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    host
}

fn answer(mut stream: std::net::TcpStream) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte)? == 0 {
            return Ok(());
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let layer = format!("sha256:{}", "1".repeat(64));
    let body = if path.contains("/manifests/") && !path.ends_with(".sig") {
        format!(
            r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{{"mediaType":"application/vnd.wasm.config.v0+json","digest":"{layer}","size":2}},"layers":[{{"mediaType":"application/wasm","digest":"{layer}","size":1000}}]}}"#
        )
    } else if path.contains("/blobs/") {
        stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        loop {
            stream.write_all(&[b'x'; 65_536])?;
        }
    } else {
        "{}".to_owned()
    };
    let length = body.len();
    stream.write_all(
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/vnd.oci.image.manifest.v1+json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").as_bytes(),
    )
}

#[test]
fn a_layer_that_never_ends_is_cut_off() {
    let desk = Desk::new();
    let host = endless();
    let reference = format!("oci://{host}/tools/peek:1");
    let output = desk.run(&["install", &reference, "--yes", "--plain-http", &host]);
    assert_exit(&output, 2);
    assert!(
        stderr(&output).contains("longer than the 1000 bytes"),
        "{}",
        stderr(&output)
    );
    assert_eq!(lock(&desk), None);
}
