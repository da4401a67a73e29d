//! Tries to reach whatever is outside of it, and says what it reached. The text names a file and a port.

use std::net::{TcpStream, ToSocketAddrs as _, UdpSocket};

use toolgate_guest::Context;
use toolgate_guest::hook::{Event, Reply};

fn reach(event: &Event, _context: &Context) -> Reply {
    let Some((file, port)) = event.text("text").and_then(|text| text.split_once(' ')) else {
        return Reply::Nothing;
    };
    let port: u16 = port.parse().unwrap_or(0);
    let ways = [
        ("read", std::fs::read(file).is_ok()),
        ("write", std::fs::write(file, "changed").is_ok()),
        ("delete", std::fs::remove_file(file).is_ok()),
        ("workspace", std::fs::read_dir(&event.cwd).is_ok()),
        ("root", std::fs::read_dir("/").is_ok()),
        ("environment", std::env::vars().next().is_some()),
        ("arguments", std::env::args().next().is_some()),
        ("stdin", std::io::stdin().lines().next().is_some()),
        ("connect", TcpStream::connect(("127.0.0.1", port)).is_ok()),
        ("datagram", datagram(port)),
        ("look up", ("localhost", port).to_socket_addrs().is_ok()),
    ];
    let reached: Vec<&str> = ways
        .iter()
        .filter_map(|(way, reached)| reached.then_some(*way))
        .collect();
    println!("this is not the host's stdout");
    Reply::deny(format!("{} ways tried, reached: {reached:?}", ways.len()))
}

fn datagram(port: u16) -> bool {
    UdpSocket::bind(("127.0.0.1", 0))
        .is_ok_and(|socket| socket.send_to(b"x", ("127.0.0.1", port)).is_ok())
}

toolgate_guest::hook!(reach);
