use toolgate_guest::ToolInput;

#[derive(ToolInput)]
struct Input {
    /// One.
    count: u32,
    /// Two.
    #[input(name = "count")]
    number: u32,
}

#[derive(ToolInput)]
enum Unit {
    Words,
    #[input(name = "words")]
    Lines,
    #[input(name = "")]
    Bytes,
}

fn main() {}
