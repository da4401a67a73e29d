//! `wasi:filesystem` as it is, without the standard library between: a guest is free to say what no library would.

wit_bindgen::generate!({
    inline: r#"
        package test:guest;

        world raw {
            import wasi:filesystem/types@0.2.1;
            import wasi:filesystem/preopens@0.2.1;
        }

        package wasi:clocks@0.2.1 {
            interface wall-clock {
                record datetime { seconds: u64, nanoseconds: u32 }
            }
        }

        package wasi:filesystem@0.2.1 {
            interface types {
                use wasi:clocks/wall-clock@0.2.1.{datetime};
                type filesize = u64;
                enum descriptor-type {
                    unknown, block-device, character-device, directory, fifo, symbolic-link, regular-file, socket,
                }
                flags descriptor-flags {
                    read, write, file-integrity-sync, data-integrity-sync, requested-write-sync, mutate-directory,
                }
                flags path-flags { symlink-follow }
                flags open-flags { create, directory, exclusive, truncate }
                variant new-timestamp { no-change, now, timestamp(datetime) }
                record directory-entry { %type: descriptor-type, name: string }
                enum error-code {
                    access, would-block, already, bad-descriptor, busy, deadlock, quota, exist, file-too-large,
                    illegal-byte-sequence, in-progress, interrupted, invalid, io, is-directory, loop, too-many-links,
                    message-size, name-too-long, no-device, no-entry, no-lock, insufficient-memory,
                    insufficient-space, not-directory, not-empty, not-recoverable, unsupported, no-tty,
                    no-such-device, overflow, not-permitted, pipe, read-only, invalid-seek, text-file-busy,
                    cross-device,
                }
                resource directory-entry-stream {
                    read-directory-entry: func() -> result<option<directory-entry>, error-code>;
                }
                resource descriptor {
                    read: func(length: filesize, offset: filesize) -> result<tuple<list<u8>, bool>, error-code>;
                    write: func(buffer: list<u8>, offset: filesize) -> result<filesize, error-code>;
                    set-size: func(size: filesize) -> result<_, error-code>;
                    set-times: func(
                        data-access-timestamp: new-timestamp, data-modification-timestamp: new-timestamp,
                    ) -> result<_, error-code>;
                    read-directory: func() -> result<directory-entry-stream, error-code>;
                    set-times-at: func(
                        path-flags: path-flags, path: string, data-access-timestamp: new-timestamp,
                        data-modification-timestamp: new-timestamp,
                    ) -> result<_, error-code>;
                    create-directory-at: func(path: string) -> result<_, error-code>;
                    link-at: func(
                        old-path-flags: path-flags, old-path: string, new-descriptor: borrow<descriptor>,
                        new-path: string,
                    ) -> result<_, error-code>;
                    open-at: func(
                        path-flags: path-flags, path: string, open-flags: open-flags, %flags: descriptor-flags,
                    ) -> result<descriptor, error-code>;
                    readlink-at: func(path: string) -> result<string, error-code>;
                    rename-at: func(
                        old-path: string, new-descriptor: borrow<descriptor>, new-path: string,
                    ) -> result<_, error-code>;
                    symlink-at: func(old-path: string, new-path: string) -> result<_, error-code>;
                    unlink-file-at: func(path: string) -> result<_, error-code>;
                }
            }

            interface preopens {
                use types.{descriptor};
                get-directories: func() -> list<tuple<descriptor, string>>;
            }
        }
    "#,
    generate_all,
});

pub use wasi::clocks::wall_clock::Datetime;
pub use wasi::filesystem::preopens::get_directories;
pub use wasi::filesystem::types::{
    Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
};

/// What a guest does with a path below the first directory that it was given.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// Names the directories that it was given.
    Given,
    /// Opens for reading, and reads.
    Read,
    /// Lists.
    List,
    /// Lists the given directory by its own handle, whatever the path.
    ListGiven,
    /// Says where a link leads.
    Link,
    /// Opens with nothing but the wish to truncate.
    TruncateOnly,
    /// Opens with nothing but the wish to create.
    CreateOnly,
    /// Opens a directory with the right to change it.
    MutateDirectory,
    /// Opens for reading, and writes by the handle.
    WriteByReadHandle,
    /// Opens for reading, and cuts by the handle.
    CutByReadHandle,
    /// Opens for reading, and sets the times by the handle.
    TimesByReadHandle,
    /// Opens for writing, and writes.
    Write,
    /// Opens for writing what may be a link, following it, and writes.
    WriteFollowing,
    /// Sets the times.
    Times,
    /// Makes a second name `stolen`.
    HardLink,
    /// Renames to `stolen`.
    Rename,
    /// Makes a directory.
    MakeDirectory,
    /// Removes.
    Unlink,
}

/// Does it, and says what came of it.
///
/// # Errors
/// The host's refusal.
pub fn act(act: Act, path: &str) -> Result<String, ErrorCode> {
    let given = get_directories();
    let Some((root, _)) = given.first() else {
        return Err(ErrorCode::NoDevice);
    };
    match act {
        Act::Given => {
            let names: Vec<&str> = given.iter().map(|(_, name)| name.as_str()).collect();
            Ok(names.join("\n"))
        }
        Act::Read => read(&open(
            root,
            path,
            OpenFlags::empty(),
            DescriptorFlags::READ,
        )?),
        Act::List => list(&open(
            root,
            path,
            OpenFlags::DIRECTORY,
            DescriptorFlags::READ,
        )?),
        Act::ListGiven => list(root),
        Act::Link => root.readlink_at(path),
        _ => change(act, root, path).map(|()| "changed".to_owned()),
    }
}

fn change(act: Act, root: &Descriptor, path: &str) -> Result<(), ErrorCode> {
    let reading = || open(root, path, OpenFlags::empty(), DescriptorFlags::READ);
    let when = NewTimestamp::Timestamp(Datetime {
        seconds: 1,
        nanoseconds: 0,
    });
    match act {
        Act::TruncateOnly => {
            open(root, path, OpenFlags::TRUNCATE, DescriptorFlags::empty()).map(drop)
        }
        Act::CreateOnly => open(root, path, OpenFlags::CREATE, DescriptorFlags::empty()).map(drop),
        Act::MutateDirectory => {
            let flags = DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY;
            open(root, path, OpenFlags::DIRECTORY, flags)?.create_directory_at("stolen")
        }
        Act::WriteByReadHandle => reading()?.write(b"new", 0).map(drop),
        Act::CutByReadHandle => reading()?.set_size(0),
        Act::TimesByReadHandle => reading()?.set_times(when, when),
        Act::Write => open(root, path, OpenFlags::empty(), DescriptorFlags::WRITE)?
            .write(b"new", 0)
            .map(drop),
        Act::WriteFollowing => root
            .open_at(
                PathFlags::SYMLINK_FOLLOW,
                path,
                OpenFlags::empty(),
                DescriptorFlags::WRITE,
            )?
            .write(b"new", 0)
            .map(drop),
        Act::Times => root.set_times_at(PathFlags::SYMLINK_FOLLOW, path, when, when),
        Act::HardLink => root.link_at(PathFlags::empty(), path, root, "stolen"),
        Act::Rename => root.rename_at(path, root, "stolen"),
        Act::MakeDirectory => root.create_directory_at(path),
        Act::Unlink => root.unlink_file_at(path),
        Act::Given | Act::Read | Act::List | Act::ListGiven | Act::Link => Err(ErrorCode::Invalid),
    }
}

/// Opens with every set of flags, and tries to change something by each handle that is given. Says how many handles
/// took a change.
pub fn change_by_every_open(path: &str) -> usize {
    let given = get_directories();
    let Some((root, _)) = given.first() else {
        return 0;
    };
    let all = |bits: u8| 0..=bits;
    let mut changed = 0;
    for how in all(OpenFlags::all().bits()) {
        for rights in all(DescriptorFlags::all().bits()) {
            for follow in [PathFlags::empty(), PathFlags::SYMLINK_FOLLOW] {
                let how = OpenFlags::from_bits_truncate(how);
                let rights = DescriptorFlags::from_bits_truncate(rights);
                if let Ok(file) = root.open_at(follow, path, how, rights) {
                    changed += usize::from(takes_a_change(&file));
                }
            }
        }
    }
    changed
}

fn takes_a_change(file: &Descriptor) -> bool {
    let when = NewTimestamp::Timestamp(Datetime {
        seconds: 1,
        nanoseconds: 0,
    });
    let tries = [
        file.write(b"new", 0).is_ok(),
        file.set_size(1).is_ok(),
        file.set_times(when, when).is_ok(),
        file.set_times(NewTimestamp::Now, NewTimestamp::Now).is_ok(),
    ];
    tries.contains(&true)
}

fn open(
    root: &Descriptor,
    path: &str,
    how: OpenFlags,
    rights: DescriptorFlags,
) -> Result<Descriptor, ErrorCode> {
    let follow = if rights.contains(DescriptorFlags::READ) {
        PathFlags::SYMLINK_FOLLOW
    } else {
        PathFlags::empty()
    };
    root.open_at(follow, path, how, rights)
}

fn read(file: &Descriptor) -> Result<String, ErrorCode> {
    let (bytes, _) = file.read(1 << 20, 0)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn list(directory: &Descriptor) -> Result<String, ErrorCode> {
    let entries = directory.read_directory()?;
    let mut names = Vec::new();
    while let Some(entry) = entries.read_directory_entry()? {
        names.push(entry.name);
    }
    Ok(names.join("\n"))
}
