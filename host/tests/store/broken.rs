//! Components that are none, or never say what they are, through the program.

use std::fs;

use crate::desk::{Desk, text};
use crate::fixture::Fixture;
use crate::said::{assert_exit, stderr, stdout};

#[test]
fn w03_a_component_that_never_describes_itself_is_named_and_the_exit_says_so() {
    let desk = Desk::new();
    let named = |name: &str| Fixture {
        name: name.to_owned(),
        ..Fixture::default()
    };
    let one = desk.file("one.wasm", named("One").text());
    let two = desk.file("two.wasm", named("Two").text());
    let spins = Fixture {
        describe: "(loop $on (br $on)) unreachable".to_owned(),
        ..named("Spins")
    };
    let spins = desk.file("spins.wasm", spins.text());
    let components = [
        "--component",
        text(&one),
        "--component",
        text(&spins),
        "--component",
        text(&two),
    ];
    let output = desk.run(&[&["list"], components.as_slice()].concat());
    println!(
        "{:?} {} {}",
        output.status,
        stdout(&output),
        stderr(&output)
    );
    for good in ["One", "Two"] {
        assert!(stdout(&output).contains(good), "{}", stdout(&output));
    }
    let said = stderr(&output);
    assert!(
        said.contains(text(&spins)) && said.contains("does not describe itself"),
        "{said}"
    );
    assert_ne!(output.status.code(), Some(0));
    // A call is not made beside what cannot be judged.
    let output = desk.run(&[&["call", "One", "{}"], components.as_slice()].concat());
    assert_ne!(output.status.code(), Some(0));
}

#[test]
fn w08_what_is_no_component_file_is_refused_before_it_is_read() {
    let desk = Desk::new();
    let sparse = desk.base.join("x.wasm");
    let file = fs::File::create(&sparse).unwrap();
    file.set_len(8 << 30).unwrap();
    for (path, says) in [
        (text(&sparse), "8589934592 bytes or more"),
        ("/dev/zero", "no regular file"),
        (text(&desk.ws), ""),
    ] {
        for command in ["inspect", "install"] {
            let output = desk.run(&[command, path]);
            println!("{command} {path}: {:?} {}", output.status, stderr(&output));
            assert_ne!(output.status.code(), Some(0));
            assert!(
                stderr(&output).contains(says),
                "{command} {path}: {}",
                stderr(&output)
            );
        }
    }
    // The neighbour.
    let good = desk.file("good.wasm", Fixture::default().text());
    assert_exit(&desk.run(&["inspect", text(&good)]), 0);
}
