use toolgate_guest::ToolInput;

#[derive(ToolInput)]
struct Input {
    first: u32,
    ///
    second: u32,
}

fn main() {}
