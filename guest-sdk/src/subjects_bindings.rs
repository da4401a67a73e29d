//! The contract's optional export `subjects` as Rust, generated from `wit/`. A component that also exports the tool has
//! what the world `tool-guest-with-subjects` asks for. Nothing else lives here.

wit_bindgen::generate!({
    path: "../wit",
    inline: "
        package toolgate:guest-sdk;

        world subjects-guest {
            export toolgate:tool/subjects@0.1.0;
        }
    ",
    world: "toolgate:guest-sdk/subjects-guest",
    pub_export_macro: true,
    export_macro_name: "export_subjects_guest",
    default_bindings_module: "toolgate_guest::subjects_bindings",
    with: {
        "toolgate:tool/types@0.1.0": crate::bindings::toolgate::tool::types,
    },
});
