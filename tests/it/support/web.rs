//! HTTP/1.1 by hand, so that a test says what is on the wire.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The value of a header, in lower case; empty for none.
    pub(crate) fn header(&self, name: &str) -> String {
        let prefix = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_default().to_owned()
    }
}

/// Sends the lines of a head and reads until the service ends the connection.
pub(crate) async fn send(address: &str, head: &[&str]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("{}\r\n\r\n", head.join("\r\n"));
    stream.write_all(request.as_bytes()).await.unwrap();
    read(&mut stream).await
}

/// Reads an answer until the connection ends.
pub(crate) async fn read(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> Answer {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let head = head.replace("\r\n", "\n").to_lowercase();
    Answer { status, head, body: body.to_owned() }
}

/// Asks as a plain client does.
pub(crate) async fn ask(address: &str, method: &str, path: &str) -> Answer {
    let (line, host) = (format!("{method} {path} HTTP/1.1"), format!("host: {address}"));
    send(address, &[&line, &host, "connection: close"]).await
}

/// Posts JSON as a plain client does.
pub(crate) async fn post(address: &str, path: &str, json: &str) -> Answer {
    post_as(address, path, &["content-type: application/json"], json.as_bytes()).await
}

/// Posts a body under headers of one's own.
pub(crate) async fn post_as(address: &str, path: &str, headers: &[&str], body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut head = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    headers.iter().for_each(|header| head += &format!("{header}\r\n"));
    head += &format!("content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    let _ = stream.write_all(body).await; // the service may have refused it by its head
    read(&mut stream).await
}
