use toolgate_guest::ToolInput;

#[derive(ToolInput)]
enum Unit {
    Words,
    Lines(u32),
}

#[derive(ToolInput)]
enum Nothing {}

fn main() {}
