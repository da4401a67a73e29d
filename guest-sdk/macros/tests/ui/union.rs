use toolgate_guest::ToolInput;

#[derive(ToolInput)]
union Input {
    number: u32,
}

fn main() {}
