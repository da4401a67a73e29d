//! The kept corpus of every fuzz target, replayed as a test of the host: what was found once stays mended.

#[allow(unreachable_pub, reason = "the programs of the fuzz crate call them")]
mod targets;

use std::path::{Path, PathBuf};

/// What takes any bytes.
type Target = fn(&[u8]);

/// Every target, by the name of its corpus.
const TARGETS: [(&str, Target); 10] = [
    ("command", targets::command),
    ("config", targets::config),
    ("declaration", targets::declaration),
    ("hook_reply", targets::hook_reply),
    ("input", targets::input),
    ("journal", targets::journal),
    ("normalise", targets::normalise),
    ("path", targets::path),
    ("rule", targets::rule),
    ("url", targets::url),
];

/// The most bytes of all corpora together.
const MAX_CORPUS: u64 = 1 << 20;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_corpus_of_every_target_passes() {
    assert_eq!(names(&folder()), TARGETS.map(|(name, _)| name));
    let mut bytes = 0;
    for (name, target) in TARGETS {
        let corpus = folder().join(name);
        let inputs = names(&corpus);
        assert!(inputs.len() >= 10, "{name}: {} inputs", inputs.len());
        for input in inputs {
            let data = std::fs::read(corpus.join(&input)).unwrap();
            bytes += data.len() as u64;
            // The name of the input that fails is what is needed then.
            println!("{name}/{input}");
            target(&data);
        }
    }
    assert!(bytes <= MAX_CORPUS, "{bytes} bytes");
}
