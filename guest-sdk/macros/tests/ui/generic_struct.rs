use toolgate_guest::ToolInput;

#[derive(ToolInput)]
struct Input<T> {
    /// Anything.
    value: T,
}

fn main() {}
