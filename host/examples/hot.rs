//! Temporary.
use toolgate::Host;
use toolgate::model::RawCall;
fn main() {
    let rt = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let host = rt
        .block_on(
            Host::builder(folder.path())
                .state_dir(folder.path().join("s"))
                .component("echo", toolgate_artifacts::ECHO.to_vec())
                .build(),
        )
        .unwrap();
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let t = std::time::Instant::now();
    rt.block_on(async {
        for _ in 0..n {
            host.call(RawCall::new("Echo", r#"{"text":"hello"}"#)).await;
        }
    });
    eprintln!("{:?} each", t.elapsed() / n as u32);
}
