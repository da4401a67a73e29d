//! The contract of hooks as Rust, generated from `wit/`: the world of a hook. Nothing else lives here.

wit_bindgen::generate!({
    path: "../wit",
    world: "hook-guest",
    pub_export_macro: true,
    export_macro_name: "export_hook_guest",
    default_bindings_module: "toolgate_guest::hook_bindings",
    with: {
        "toolgate:tool/host@0.1.0": crate::bindings::toolgate::tool::host,
    },
});
