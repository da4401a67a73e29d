//! Family J, reading: what is hidden and what is masked.

use toolgate::shell::Sandbox;

use crate::place::{Place, exit};

fn with_secrets() -> Place {
    let mut place = Place::new();
    for folder in [".ssh", ".config/gcloud"] {
        std::fs::create_dir_all(place.outside.join(folder)).expect("folders");
    }
    for file in [".ssh/id_rsa", ".netrc", ".config/gcloud/key", ".bashrc"] {
        std::fs::write(place.outside.join(file), "s3cr3t").expect("a file");
    }
    place.file(".env", "s3cr3t");
    place.file("private/key", "s3cr3t");
    place.sandbox.masks = vec![place.ws.join(".env"), place.ws.join("private")];
    place
}

#[tokio::test]
async fn j13_keys_are_hidden() {
    let place = with_secrets();
    let home = place.outside.display();
    let line = format!(
        "cd {home}; cat .ssh/id_* .netrc .config/gcloud/key; ls -a .ssh; cat .bashrc; cp .netrc /tmp/x; cat /tmp/x"
    );
    let ended = place.run(&line).await;
    let text = &ended.output.text;
    // `.bashrc` is no secret.
    assert_eq!(text.matches("s3cr3t").count(), 1, "{text}");
    assert!(text.contains("Permission denied"), "{text}");
}

#[tokio::test]
async fn j13_masked_files_cannot_be_linked_or_moved() {
    let place = with_secrets();
    let line = "ln .env x.txt; cat x.txt .env; mv .env y; cat y; cp .env z; cat z; mv private p; cat p/key private/key; \
                ln private/key q; dd if=.env status=none; cat <.env; rm -f .env; ls -A private";
    let ended = place.run(line).await;
    let text = &ended.output.text;
    assert!(!text.contains("s3cr3t"), "{text}");
    for file in [".env", "private/key"] {
        let kept = std::fs::read(place.ws.join(file)).expect("the file");
        assert_eq!(kept, b"s3cr3t");
    }
    assert!(!place.ws.join("x.txt").exists());
}

#[tokio::test]
async fn j13_the_folder_of_a_masked_file_may_move() {
    let mut place = Place::new();
    place.file("a/.env", "s3cr3t");
    place.sandbox.masks = vec![place.ws.join("a/.env")];
    let ended = place
        .run("mv a b; cat b/.env a/.env; cp -r b c; cat c/.env")
        .await;
    assert!(!ended.output.text.contains("s3cr3t"), "{ended:?}");
}

#[tokio::test]
async fn j13_a_link_to_a_secret_is_hidden_with_it() {
    let mut place = Place::new();
    let key = place.outside.join("real");
    std::fs::write(&key, "s3cr3t").expect("a file");
    std::os::unix::fs::symlink(&key, place.outside.join("link")).expect("a link");
    place.sandbox.hidden = vec![place.outside.join("link")];
    let ended = place
        .run(&format!(
            "cat {} {}/link",
            key.display(),
            place.outside.display()
        ))
        .await;
    assert!(!ended.output.text.contains("s3cr3t"), "{ended:?}");
}

#[tokio::test]
async fn roots_below_tmp_are_there() {
    let folder = tempfile::tempdir_in("/tmp").expect("a folder");
    let base = folder.path().canonicalize().expect("a path");
    for name in ["ws", "read", "other"] {
        std::fs::create_dir(base.join(name)).expect("a folder");
    }
    std::fs::write(base.join("read/f"), "readable").expect("a file");
    std::fs::write(base.join("single"), "single").expect("a file");
    let mut place = Place::new();
    place.sandbox = Sandbox::new(vec![base.join("ws"), base.join("single")], None);
    place.sandbox.readable = vec![base.join("read")];
    let line = "pwd; cat ../read/f; echo x >> ../read/f; echo y >> ../single; ls ..; echo z > made";
    let ended = place.run(line).await;
    let text = &ended.output.text;
    assert_eq!(ended.outcome, exit(0), "{text}");
    assert!(
        text.starts_with(&format!("{}/ws\nreadable", base.display())),
        "{text}"
    );
    assert!(text.contains("Read-only file system"), "{text}");
    assert!(text.ends_with("read\nsingle\nws\n"), "{text}");
    assert_eq!(
        std::fs::read(base.join("ws/made")).expect("the file"),
        b"z\n"
    );
    assert_eq!(
        std::fs::read(base.join("single")).expect("the file"),
        b"singley\n"
    );
}
