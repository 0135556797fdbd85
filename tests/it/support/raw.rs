//! HTTP/2 by hand (RFC 9113), for what no client would send.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// What opens a connection.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&len[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A header that no table holds (RFC 7541, 6.2.2); shorter than 127 bytes each.
fn header(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    [&[0], &text(name)[..], &text(value)].concat()
}

/// A message as gRPC frames it.
pub(crate) fn grpc_message(message: &[u8]) -> Vec<u8> {
    [&[0][..], &u32::try_from(message.len()).unwrap().to_be_bytes(), message].concat()
}

/// A whole connection with one gRPC request; the body is at most one frame of 16 KiB.
pub(crate) fn request(path: &str, body: &[u8]) -> Vec<u8> {
    let headers = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];
    let block: Vec<u8> = headers.iter().flat_map(|(name, value)| header(name, value)).collect();
    [PREFACE, &frame(SETTINGS, 0, 0, &[]), &frame(HEADERS, END_HEADERS, 1, &block), &frame(DATA, END_STREAM, 1, body)]
        .concat()
}

/// Sends bytes on a connection of their own and reads until the server ends it.
pub(crate) async fn throw(endpoint: &str, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(endpoint).await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.write_all(bytes).await; // the server may have hung up
    let _ = stream.shutdown().await;
    let _ = stream.read_to_end(&mut answer).await;
    answer
}

/// Even bytes from a seed (splitmix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.roll().to_le_bytes()[0]).collect()
    }
}
