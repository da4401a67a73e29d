use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput};

#[derive(ToolInput)]
struct Input {
    /// A path.
    file_path: String,
}

struct T;

impl Tool for T {
    const DECLARATION: Declaration = Declaration::read_only("T", "Does nothing.").capability(Capability::new("fs-read", "subject", "reads"));
    type Input = Input;

    fn run(_: Self::Input, _: &Context) -> Result<Output, ToolError> {
        Ok(Output::text("done"))
    }
}

toolgate_guest::export!(T);

fn main() {}
