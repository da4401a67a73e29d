use toolgate_guest::ToolInput;

#[derive(ToolInput)]
enum Unit {
    #[input(default = 1)]
    Words,
}

fn main() {}
