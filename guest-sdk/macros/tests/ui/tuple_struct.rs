use toolgate_guest::ToolInput;

#[derive(ToolInput)]
struct Input(String);

fn main() {}
