//! Every misuse is a compile error at the place of the misuse: one file each, with what the author reads.

#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
