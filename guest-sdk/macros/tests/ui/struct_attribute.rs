use toolgate_guest::ToolInput;

#[derive(ToolInput)]
#[input(name = "input")]
struct Input {
    /// How many.
    count: u32,
}

fn main() {}
