//! Replies of hooks, without what runs them.

#[path = "../../src/hooks/reply.rs"]
mod reply;

pub(crate) use reply::in_both_formats;
