//! A component that was not made for Toolgate: files by functions of its own, with the standard library.
#![allow(unsafe_code, reason = "what wit-bindgen makes of an export")]
#![cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, reason = "native linkers do not take the exports' names")
)]

wit_bindgen::generate!({
    inline: r#"
        package example:files;

        world files {
            export list-directory: func(path: string) -> result<list<string>, string>;
            export read-file: func(path: string) -> result<string, string>;
            export write-file: func(path: string, content: string) -> result<string, string>;
            export delete-file: func(path: string) -> result<_, string>;
        }
    "#,
});

#[derive(Debug)]
struct Files;

impl Guest for Files {
    fn list_directory(path: String) -> Result<Vec<String>, String> {
        let entries = std::fs::read_dir(path).map_err(text)?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(text)?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    fn read_file(path: String) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(text)
    }

    fn write_file(path: String, content: String) -> Result<String, String> {
        std::fs::write(&path, content).map_err(text)?;
        Ok(format!("wrote {path}"))
    }

    fn delete_file(path: String) -> Result<(), String> {
        std::fs::remove_file(path).map_err(text)
    }
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}

#[cfg(target_family = "wasm")]
export!(Files);
