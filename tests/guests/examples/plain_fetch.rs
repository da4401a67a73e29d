//! A component that was not made for Toolgate: fetches by wasi:http.
#![allow(unsafe_code, reason = "what wit-bindgen makes of an export")]

mod world {
    wit_bindgen::generate!({
        inline: r#"
            package example:fetch;

            world fetching {
                export fetch: func(authority: string) -> result<string, string>;
                /// Fetches `/` of the authority, whatever the URL is.
                export fetch-url: func(url: string, authority: string) -> result<string, string>;
            }
        "#,
    });

    #[derive(Debug)]
    struct Fetching;

    impl Guest for Fetching {
        fn fetch(authority: String) -> Result<String, String> {
            let fetched = toolgate_test_guests::wasi::fetch(&authority, "/");
            fetched
                .map(|status| format!("status {status}"))
                .map_err(|error| format!("{error:?}"))
        }

        fn fetch_url(_url: String, authority: String) -> Result<String, String> {
            Self::fetch(authority)
        }
    }

    export!(Fetching);
}
