//! The README shows the example that is built.

#![allow(clippy::expect_used, reason = "a test")]

const README: &str = include_str!("../README.md");
const EXAMPLE: &str = include_str!("../examples/word_count.rs");

#[test]
fn the_readme_shows_the_example() {
    let (_, after) = README
        .split_once("```rust\n")
        .expect("the README has a Rust block");
    let (block, _) = after.split_once("```\n").expect("the block ends");
    assert_eq!(block, EXAMPLE);
}
