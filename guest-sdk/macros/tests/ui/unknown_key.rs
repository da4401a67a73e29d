use toolgate_guest::ToolInput;

#[derive(ToolInput)]
struct Input {
    /// How many.
    #[input(defualt = 1)]
    count: u32,
    /// How often.
    #[input(name = "a", name = "b")]
    times: u32,
}

fn main() {}
