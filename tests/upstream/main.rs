//! Foreign MCP servers as tools: servers that do well or badly, in front of the host's public door and of its program.

mod binary;
mod fixture;
mod http;
mod life;
mod lists;
mod registry;
mod replies;
mod surroundings;
mod trust;
