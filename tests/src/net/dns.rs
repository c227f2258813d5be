//! A DNS server with the answers of a test, which records its queries.

use super::{RUNTIME, locked};
use hickory_proto::op::{Message, OpCode, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// The answer for one name.
#[derive(Clone, Debug)]
pub enum Zone {
    /// Addresses: each answer has the next of these, and the last is repeated.
    Each(Vec<Vec<IpAddr>>),
    /// An alias.
    Alias(String),
    /// An alias and its address in one answer.
    AliasAt(String, IpAddr),
    /// An address of another name, which the query did not ask for.
    Unasked(String, IpAddr),
    /// This many addresses.
    Many(u16, Ipv4Addr),
    /// An IPv4 address, and no answer to a query of any other type.
    OnlyV4(Ipv4Addr),
    /// No answer.
    Hang,
    /// The name does not exist.
    None,
    /// The server failed.
    Fail,
    /// An invalid answer.
    Garbage,
    /// A truncated answer. The rest would be available through TCP, where no server listens.
    Truncated,
}

/// A DNS server on the loopback address. Unknown names do not exist.
#[derive(Debug)]
pub struct Dns {
    address: SocketAddr,
    world: Arc<Mutex<World>>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct World {
    zones: BTreeMap<String, Zone>,
    asked: Vec<String>,
    times: BTreeMap<(String, RecordType), usize>,
}

impl Dns {
    /// Starts a server without any names.
    pub fn start() -> Self {
        let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_nonblocking(true).unwrap();
        let address = socket.local_addr().unwrap();
        let world = Arc::default();
        let task = RUNTIME.spawn(serve(socket, Arc::clone(&world)));
        Self { address, world, task }
    }

    /// Returns the server's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the answer for a name.
    pub fn set(&self, name: &str, zone: Zone) {
        locked(&self.world).zones.insert(name.to_owned(), zone);
    }

    /// Sets the addresses of a name.
    pub fn point(&self, name: &str, addresses: &[&str]) {
        self.points(name, &[addresses]);
    }

    /// Sets the addresses of a name for the next query, and for later ones.
    pub fn points(&self, name: &str, times: &[&[&str]]) {
        let addresses = |time: &&[&str]| time.iter().map(|address| address.parse().unwrap()).collect();
        self.set(name, Zone::Each(times.iter().map(addresses).collect()));
    }

    /// Returns every queried name, in lower case and without the final dot.
    pub fn asked(&self) -> Vec<String> {
        locked(&self.world).asked.clone()
    }

    /// Returns the number of queries for one type of address of a name.
    pub fn times(&self, name: &str, kind: RecordType) -> usize {
        locked(&self.world).times.get(&(name.to_owned(), kind)).copied().unwrap_or_default()
    }

    /// Returns the number of queries for the IPv4 addresses of a name.
    pub fn times_v4(&self, name: &str) -> usize {
        self.times(name, RecordType::A)
    }
}

impl Drop for Dns {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(socket: std::net::UdpSocket, world: Arc<Mutex<World>>) {
    let socket = UdpSocket::from_std(socket).unwrap();
    let mut buffer = [0; 4096];
    while let Ok((count, from)) = socket.recv_from(&mut buffer).await {
        let answer = locked(&world).answer(&buffer[..count]);
        if let Some(answer) = answer {
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

impl World {
    fn answer(&mut self, question: &[u8]) -> Option<Vec<u8>> {
        let question = Message::from_vec(question).ok()?;
        let query = question.queries.first()?.clone();
        let name = query.name().to_ascii().trim_end_matches('.').to_ascii_lowercase();
        let kind = query.query_type();
        self.asked.push(name.clone());
        let time = self.times.entry((name.clone(), kind)).or_default();
        *time += 1;
        let mut message = Message::response(question.metadata.id, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.metadata.recursion_available = true;
        message.add_query(query.clone());
        let owner = query.name().clone();
        match self.zones.get(&name) {
            None | Some(Zone::None) => message.metadata.response_code = ResponseCode::NXDomain,
            Some(Zone::Fail) => message.metadata.response_code = ResponseCode::ServFail,
            Some(Zone::Hang) => return None,
            Some(Zone::OnlyV4(_)) if kind != RecordType::A => return None,
            Some(Zone::OnlyV4(address)) => drop(message.add_answers(record(&owner, kind, (*address).into()))),
            Some(Zone::Truncated) => message.metadata.truncation = true,
            Some(Zone::Garbage) => return Some(b"\x00\x01garbage".to_vec()),
            Some(Zone::Alias(target)) => drop(message.add_answer(alias(owner, target))),
            Some(Zone::AliasAt(target, address)) => {
                message.add_answer(alias(owner, target));
                message.add_answers(record(&full(target), kind, *address));
            }
            Some(Zone::Unasked(target, address)) => drop(message.add_answers(record(&full(target), kind, *address))),
            Some(Zone::Many(count, first)) => {
                let address = |index: u16| Ipv4Addr::from(u32::from(*first).wrapping_add(index.into()));
                message.add_answers((0..*count).filter_map(|index| record(&owner, kind, address(index).into())));
            }
            Some(Zone::Each(times)) => {
                let now = times.get(*time - 1).or(times.last()).cloned().unwrap_or_default();
                message.add_answers(now.into_iter().filter_map(|address| record(&owner, kind, address)));
            }
        }
        message.to_vec().ok()
    }
}

fn full(name: &str) -> Name {
    let mut name = Name::from_ascii(name).unwrap();
    name.set_fqdn(true);
    name
}

fn alias(owner: Name, target: &str) -> Record {
    Record::from_rdata(owner, 0, RData::CNAME(CNAME(full(target))))
}

/// Returns an address as an answer, if it has the type of the query.
fn record(owner: &Name, kind: RecordType, address: IpAddr) -> Option<Record> {
    let data = match (kind, address) {
        (RecordType::A, IpAddr::V4(address)) => RData::A(A(address)),
        (RecordType::AAAA, IpAddr::V6(address)) => RData::AAAA(AAAA(address)),
        _ => return None,
    };
    Some(Record::from_rdata(owner.clone(), 0, data))
}
