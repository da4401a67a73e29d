//! The contract's shell as Rust, generated from `wit/`. A component imports it where it calls it. Nothing else lives here.

wit_bindgen::generate!({
    path: "../wit",
    inline: "
        package toolgate:guest-sdk;

        world shell-guest {
            import toolgate:shell/shell@0.1.0;
            import toolgate:shell/sessions@0.1.0;
        }
    ",
    world: "toolgate:guest-sdk/shell-guest",
    generate_all,
});
