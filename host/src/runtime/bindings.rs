//! What wasmtime generates from `wit/`, and nothing else.
#![allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::pedantic,
    clippy::too_many_lines,
    clippy::allow_attributes_without_reason,
    reason = "generated code"
)]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "toolgate:tool/tool-guest",
    imports: {
        "toolgate:files/files.read-all": async | trappable,
        "toolgate:files/files.replace": async | trappable,
        "toolgate:files/files.[method]walker.next": async | trappable,
        "toolgate:files/files.[method]scanner.next": async | trappable,
        default: trappable,
    },
    exports: { default: async },
    with: {
        "toolgate:files/files.file": crate::runtime::files::OpenedFile,
        "toolgate:files/files.walker": crate::runtime::files::Walker,
        "toolgate:files/files.scanner": crate::runtime::files::Scanner,
    },
});

/// The world with the optional export.
pub mod with_subjects {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "toolgate:tool/tool-guest-with-subjects",
        imports: { default: trappable },
        exports: { default: async },
        with: {
            "toolgate:files/files": super::toolgate::files::files,
            "toolgate:tool/host": super::toolgate::tool::host,
            "toolgate:tool/types": super::toolgate::tool::types,
        },
    });
}

/// The shell, whose functions wait.
pub mod shell {
    wasmtime::component::bindgen!({
        path: "../wit",
        inline: "
            package toolgate:host-doors;

            world shell {
                import toolgate:shell/shell@0.1.0;
                import toolgate:shell/sessions@0.1.0;
            }
        ",
        world: "toolgate:host-doors/shell",
        imports: { default: async | trappable },
    });
}

/// Settings of a tool.
pub mod settings {
    wasmtime::component::bindgen!({
        path: "../wit",
        inline: "
            package toolgate:host-doors;

            world settings {
                import toolgate:tool/settings@0.1.0;
            }
        ",
        world: "toolgate:host-doors/settings",
        imports: { default: trappable },
    });
}

/// Secrets.
pub mod secrets {
    wasmtime::component::bindgen!({
        path: "../wit",
        inline: "
            package toolgate:secret-door;

            world secrets {
                import toolgate:secrets/secrets@0.1.0;
            }
        ",
        world: "toolgate:secret-door/secrets",
        imports: { default: trappable },
    });
}

/// The world of hooks.
pub mod hook {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "toolgate:tool/hook-guest",
        imports: { default: trappable },
        exports: { default: async },
        with: {
            "toolgate:tool/host": super::toolgate::tool::host,
        },
    });
}
