//! The contract's secrets as Rust, generated from `wit/`. A component imports them where it asks. Nothing else lives here.

wit_bindgen::generate!({
    path: "../wit",
    inline: "
        package toolgate:guest-sdk;

        world secrets-guest {
            import toolgate:secrets/secrets@0.1.0;
        }
    ",
    world: "toolgate:guest-sdk/secrets-guest",
    generate_all,
});
