//! Tries to reach the network by every way that the standard library has.

use std::net::{TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// A port on the loopback interface where somebody listens.
    port: u32,
}

/// The tool.
#[derive(Debug)]
pub struct NoNetwork;

impl Tool for NoNetwork {
    const DECLARATION: Declaration = Declaration::read_only("NoNetwork", "Tries the network.");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let port =
            u16::try_from(input.port).map_err(|error| ToolError::failed(error.to_string()))?;
        let ways = [
            ("connect", TcpStream::connect(("127.0.0.1", port)).is_ok()),
            ("listen", TcpListener::bind(("127.0.0.1", 0)).is_ok()),
            ("datagram", datagram(port)),
            ("look up", ("localhost", port).to_socket_addrs().is_ok()),
        ];
        let reached: Vec<&str> = ways
            .iter()
            .filter_map(|(way, reached)| reached.then_some(*way))
            .collect();
        Ok(Output::text(format!(
            "{} ways tried, reached: {reached:?}",
            ways.len()
        )))
    }
}

fn datagram(port: u16) -> bool {
    UdpSocket::bind(("127.0.0.1", 0))
        .is_ok_and(|socket| socket.send_to(b"x", ("127.0.0.1", port)).is_ok())
}

toolgate_guest::export!(NoNetwork);
