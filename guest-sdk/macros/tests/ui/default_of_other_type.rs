use toolgate_guest::ToolInput;

#[derive(ToolInput)]
struct Input {
    /// How many.
    #[input(default = 1.5)]
    count: u32,
}

fn main() {}
