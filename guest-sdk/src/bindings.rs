//! The contract as Rust, generated from `wit/`: the world of a tool. Nothing else lives here.

wit_bindgen::generate!({
    path: "../wit",
    world: "tool-guest",
    generate_all,
    pub_export_macro: true,
    export_macro_name: "export_tool_guest",
    default_bindings_module: "toolgate_guest::bindings",
});
