//! The interface `toolgate:files`: the second door to the view.

use wasmtime::component::Resource;

use super::bindings::toolgate::files::files as wit;
use super::files::{
    Batch, Condition, FileError, OpenedFile, Scanner, Selection, WalkSummary, Walker,
};
use super::state::State;

type Answer<T> = wasmtime::Result<Result<T, wit::Failure>>;

/// The largest content that `replace` takes, bytes: what a guest with the default memory can hold beside itself.
const MAX_REPLACE: usize = 64 << 20;

impl From<FileError> for wit::Failure {
    fn from(error: FileError) -> Self {
        Self {
            code: error.code.as_str().to_owned(),
            message: error.message,
        }
    }
}

impl From<&OpenedFile> for wit::Info {
    fn from(file: &OpenedFile) -> Self {
        Self {
            path: file.real().to_string_lossy().into_owned(),
            size: file.size() as f64,
            mode: file.mode(),
        }
    }
}

impl From<wit::Selection> for Selection {
    fn from(selection: wit::Selection) -> Self {
        Self {
            include: selection.include,
            exclude: selection.exclude,
            types: selection.types,
            respect_ignore: selection.respect_ignore,
            directories: selection.directories,
            max_depth: selection.max_depth,
        }
    }
}

impl From<WalkSummary> for wit::WalkSummary {
    fn from(summary: WalkSummary) -> Self {
        Self {
            given: summary.given,
            ignored: summary.ignored,
            skipped: summary.skipped,
            truncated: summary.truncated,
        }
    }
}

impl From<Batch> for wit::Batch {
    fn from(batch: Batch) -> Self {
        let chunks = batch.chunks.into_iter().map(|chunk| wit::Chunk {
            path: chunk.path,
            // A batch holds at most 256 KiB.
            start: u32::try_from(chunk.start).unwrap_or(u32::MAX),
            length: u32::try_from(chunk.length).unwrap_or(u32::MAX),
            offset: chunk.offset as f64,
            last: chunk.last,
        });
        Self {
            chunks: chunks.collect(),
            data: batch.data,
        }
    }
}

impl wit::Host for State {
    fn open_regular(&mut self, path: String) -> Answer<Resource<OpenedFile>> {
        match self.files.open_regular(&path) {
            Ok(file) => Ok(Ok(self.table.push(file)?)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    async fn read_all(&mut self, path: String, max: u32) -> Answer<wit::Contents> {
        let read = self.files.read_all(&path, max).await;
        Ok(read
            .map_err(wit::Failure::from)
            .map(|contents| wit::Contents {
                info: wit::Info::from(&contents.file),
                data: contents.data,
                fingerprint: format!("{:032x}", contents.fingerprint),
                changed_since_read: contents.changed_since_read,
            }))
    }

    async fn replace(
        &mut self,
        path: String,
        condition: wit::Condition,
        data: Vec<u8>,
    ) -> Answer<wit::Replaced> {
        let condition = match condition {
            wit::Condition::Any => Condition::Any,
            wit::Condition::Absent => Condition::Absent,
            wit::Condition::Matches(text) => match u128::from_str_radix(&text, 16) {
                Ok(fingerprint) => Condition::Matches(fingerprint),
                Err(_) => {
                    return Ok(Err(failure(
                        "invalid",
                        "the fingerprint is none that read-all gave.",
                    )));
                }
            },
        };
        if data.len() > MAX_REPLACE {
            return Ok(Err(failure(
                "too-large",
                "more than 64 MiB cannot be written at once.",
            )));
        }
        let replaced = self.files.replace(&path, condition, &data).await;
        Ok(replaced
            .map_err(wit::Failure::from)
            .map(|replaced| wit::Replaced {
                path: replaced.path.to_string_lossy().into_owned(),
                created: replaced.created,
            }))
    }

    fn walk(&mut self, path: String, selection: wit::Selection) -> Answer<Resource<Walker>> {
        match self.files.walk(&path, selection.into()) {
            Ok(walker) => Ok(Ok(self.table.push(walker)?)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    fn scan(&mut self, path: String, selection: wit::Selection) -> Answer<Resource<Scanner>> {
        match self.files.scan(&path, selection.into()) {
            Ok(scanner) => Ok(Ok(self.table.push(scanner)?)),
            Err(error) => Ok(Err(error.into())),
        }
    }
}

fn failure(code: &str, message: &str) -> wit::Failure {
    wit::Failure {
        code: code.to_owned(),
        message: message.to_owned(),
    }
}

impl wit::HostFile for State {
    fn info(&mut self, file: Resource<OpenedFile>) -> wasmtime::Result<wit::Info> {
        Ok(wit::Info::from(self.table.get(&file)?))
    }

    fn read(&mut self, file: Resource<OpenedFile>, offset: f64, max: u32) -> Answer<Vec<u8>> {
        if !(0.0..=9_007_199_254_740_992.0).contains(&offset) || offset.fract() != 0.0 {
            return Ok(Err(failure(
                "invalid",
                "the offset is not a whole number from 0 to 2^53.",
            )));
        }
        // Checked above: whole, not negative, exact.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked above"
        )]
        let offset = offset as u64;
        Ok(self
            .table
            .get(&file)?
            .read(offset, max)
            .map_err(wit::Failure::from))
    }

    fn drop(&mut self, file: Resource<OpenedFile>) -> wasmtime::Result<()> {
        self.table.delete(file)?;
        Ok(())
    }
}

impl wit::HostWalker for State {
    async fn next(&mut self, walker: Resource<Walker>) -> wasmtime::Result<Vec<u8>> {
        Ok(self.table.get_mut(&walker)?.next_batch().await)
    }

    fn summary(&mut self, walker: Resource<Walker>) -> wasmtime::Result<wit::WalkSummary> {
        Ok(self.table.get(&walker)?.summary().into())
    }

    fn drop(&mut self, walker: Resource<Walker>) -> wasmtime::Result<()> {
        self.table.delete(walker)?;
        Ok(())
    }
}

impl wit::HostScanner for State {
    async fn next(&mut self, scanner: Resource<Scanner>) -> wasmtime::Result<Option<wit::Batch>> {
        Ok(self
            .table
            .get_mut(&scanner)?
            .next_batch()
            .await
            .map(wit::Batch::from))
    }

    fn skip(&mut self, scanner: Resource<Scanner>) -> wasmtime::Result<()> {
        self.table.get_mut(&scanner)?.skip();
        Ok(())
    }

    fn summary(&mut self, scanner: Resource<Scanner>) -> wasmtime::Result<wit::WalkSummary> {
        Ok(self.table.get(&scanner)?.summary().into())
    }

    fn drop(&mut self, scanner: Resource<Scanner>) -> wasmtime::Result<()> {
        self.table.delete(scanner)?;
        Ok(())
    }
}
