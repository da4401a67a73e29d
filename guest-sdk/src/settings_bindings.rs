//! The contract's settings as Rust, generated from `wit/`. A component imports them where it calls them. Nothing else lives
//! here.

wit_bindgen::generate!({
    path: "../wit",
    inline: "
        package toolgate:guest-sdk;

        world settings-guest {
            import toolgate:tool/settings@0.1.0;
        }
    ",
    world: "toolgate:guest-sdk/settings-guest",
    generate_all,
});
