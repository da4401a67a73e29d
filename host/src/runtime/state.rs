//! The state of one store: everything one call can reach.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::component::ResourceTable;
use wasmtime_wasi::filesystem::WasiFilesystemCtxView;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use super::egress_door::EgressDoor;
use super::files::FileView;
use super::guarded_view::Listings;
use super::guest_log::GuestLog;
use super::limiter::Limiter;
use super::settings_door::ToolSettings;
use super::shell_door::ShellDoor;
use crate::model::{Left, Limits};

/// The largest HTTP header block.
pub(super) const MAX_FIELDS: usize = 32 << 10;

pub(super) struct State {
    wasi: WasiCtx,
    http: WasiHttpCtx,
    pub(super) egress: EgressDoor,
    pub(super) table: ResourceTable,
    limits: Limits,
    random_taken: usize,
    pub(super) progress_told: u32,
    pub(super) limiter: Limiter,
    pub(super) log: GuestLog,
    pub(super) files: FileView,
    pub(super) shell: Option<ShellDoor>,
    pub(super) settings: ToolSettings,
    listings: Listings,
    pub(super) deadline: Instant,
    pub(super) progress: Option<ProgressSink>,
    /// Where what was done is left by a call that is given up.
    pub(super) left: Arc<Left>,
}

/// Where progress goes: done, total, message.
pub type ProgressSink = Arc<dyn Fn(u32, Option<u32>, &str) + Send + Sync>;

impl State {
    pub(super) fn new(
        files: FileView,
        limits: Limits,
        deadline: Instant,
        progress: Option<ProgressSink>,
    ) -> Self {
        let log = GuestLog::new(limits.log_lines.get());
        let wasi = WasiCtx::builder()
            .stdout(log.stream("stdout"))
            .stderr(log.stream("stderr"))
            .allow_tcp(false)
            .allow_udp(false)
            .allow_blocking_current_thread(true)
            .build();
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(MAX_FIELDS);
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles.get());
        Self {
            wasi,
            http,
            egress: EgressDoor::default(),
            table,
            limiter: Limiter::new(&limits),
            limits,
            random_taken: 0,
            progress_told: 0,
            log,
            files,
            shell: None,
            settings: ToolSettings::default(),
            listings: Listings::new(),
            deadline,
            progress,
            left: Arc::default(),
        }
    }
}

impl State {
    /// The bounds of the call.
    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Random bytes that were given, and the most that are.
    pub(super) fn random_parts(&mut self) -> (&mut usize, usize) {
        (&mut self.random_taken, self.limits.random.get())
    }

    /// What the guest logged, without the secrets of its requests.
    pub(super) fn take_log(&mut self) -> Vec<String> {
        let lines = self.log.take().into_iter();
        lines.map(|line| self.egress.scrubbed(line)).collect()
    }

    /// What the door `wasi:filesystem` works on.
    pub(super) fn filesystem_parts(
        &mut self,
    ) -> (WasiFilesystemCtxView<'_>, &mut FileView, &mut Listings) {
        let view = WasiFilesystemCtxView {
            ctx: self.wasi.filesystem(),
            table: &mut self.table,
        };
        (view, &mut self.files, &mut self.listings)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let commands = self.shell.as_mut().map(ShellDoor::take_uses);
        self.left
            .leave(self.files.take_uses(), commands.unwrap_or_default());
        self.left.leave_requests(self.egress.take_uses());
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            hooks: &mut self.egress,
            table: &mut self.table,
            ctx: &mut self.http,
        }
    }
}
