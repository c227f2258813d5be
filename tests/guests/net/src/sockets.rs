//! Calls every WASI socket function that a guest can reach, and reports each result.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Map, Value};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::resolve_addresses;
use wasip2::sockets::network::{
    ErrorCode, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress, Ipv6SocketAddress, Network,
};
use wasip2::sockets::tcp::{ShutdownType, TcpSocket};
use wasip2::sockets::tcp_create_socket::create_tcp_socket;
use wasip2::sockets::udp::{OutgoingDatagram, UdpSocket};
use wasip2::sockets::udp_create_socket::create_udp_socket;

/// Tries all functions, and those of the standard library.
pub(crate) fn try_all(port: u16) -> Value {
    let mut answers = Map::new();
    let mut say = |name: &str, answer: String| drop(answers.insert(name.to_owned(), json!(answer)));
    let network = instance_network();
    for name in ["localhost", "127.0.0.1", "socket.test"] {
        say(
            &format!("resolve-addresses {name}"),
            told(resolve_addresses(&network, name).and_then(|stream| {
                loop {
                    match stream.resolve_next_address() {
                        Err(ErrorCode::WouldBlock) => stream.subscribe().block(),
                        done => return done.map(|address| format!("{address:?}")),
                    }
                }
            })),
        );
    }
    for family in [IpAddressFamily::Ipv4, IpAddressFamily::Ipv6] {
        say(
            &format!("tcp {family:?}"),
            match create_tcp_socket(family) {
                Ok(socket) => format!("created; {}", tcp(&socket, &network, address(family, port))),
                Err(error) => format!("refused: {error:?}"),
            },
        );
        say(
            &format!("udp {family:?}"),
            match create_udp_socket(family) {
                Ok(socket) => format!("created; {}", udp(&socket, &network, address(family, port))),
                Err(error) => format!("refused: {error:?}"),
            },
        );
    }
    say("std tcp connect", told(std::net::TcpStream::connect(("127.0.0.1", port))));
    say("std tcp connect by name", told(std::net::TcpStream::connect(("localhost", port))));
    say("std tcp listen", told(std::net::TcpListener::bind(("127.0.0.1", 0))));
    let sent = std::net::UdpSocket::bind(("127.0.0.1", 0)).and_then(|socket| socket.send_to(b"x", ("127.0.0.1", port)));
    say("std udp", told(sent));
    Value::Object(answers)
}

/// Tries the functions of a TCP socket.
fn tcp(socket: &TcpSocket, network: &Network, to: IpSocketAddress) -> String {
    let any = address(socket.address_family(), 0);
    [
        told(socket.start_bind(network, any).and_then(|()| socket.finish_bind())),
        told(socket.start_listen().and_then(|()| socket.finish_listen())),
        told(socket.start_connect(network, to).and_then(|()| {
            loop {
                match socket.finish_connect() {
                    Err(ErrorCode::WouldBlock) => socket.subscribe().block(),
                    done => return done.map(drop),
                }
            }
        })),
        told(socket.accept().map(drop)),
        told(socket.shutdown(ShutdownType::Both)),
    ]
    .join("; ")
}

/// Tries the functions of a UDP socket.
fn udp(socket: &UdpSocket, network: &Network, to: IpSocketAddress) -> String {
    let any = address(socket.address_family(), 0);
    [
        told(socket.start_bind(network, any).and_then(|()| socket.finish_bind())),
        told(socket.stream(Some(to)).and_then(|(_, outgoing)| {
            outgoing.check_send()?;
            outgoing.send(&[OutgoingDatagram { data: b"x".to_vec(), remote_address: None }])
        })),
        told(socket.stream(None).and_then(|(_, outgoing)| {
            outgoing.check_send()?;
            outgoing.send(&[OutgoingDatagram { data: b"x".to_vec(), remote_address: Some(to) }])
        })),
    ]
    .join("; ")
}

fn address(family: IpAddressFamily, port: u16) -> IpSocketAddress {
    match family {
        IpAddressFamily::Ipv4 => IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address: (127, 0, 0, 1) }),
        IpAddressFamily::Ipv6 => IpSocketAddress::Ipv6(Ipv6SocketAddress {
            port,
            flow_info: 0,
            address: (0, 0, 0, 0, 0, 0, 0, 1),
            scope_id: 0,
        }),
    }
}

fn told<T, E: std::fmt::Debug>(result: Result<T, E>) -> String {
    match result {
        Ok(_) => "done".to_owned(),
        Err(error) => format!("refused: {error:?}"),
    }
}
