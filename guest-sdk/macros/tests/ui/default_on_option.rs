use toolgate_guest::ToolInput;

#[derive(ToolInput)]
struct Input {
    /// How many.
    #[input(default = Some(1))]
    count: Option<u32>,
}

fn main() {}
