//! A server behind streamable HTTP: each message of the client is a request of its own, and what comes back is one message,
//! or a stream of events that hold messages.
//!
//! A message is sent as it came. What comes back is the text of the server, but for line ends between its tokens.

mod events;
mod exchange;
mod head;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use hyper::{Request, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};

use super::line::{Line, Room};
use super::link::{Ended, FromServer, Launch, Link};
use head::Head;

/// Requests that run at once; further ones wait.
const RUNNING_MAX: usize = 256;

type Http = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// A server at a URL.
#[derive(Debug)]
pub struct Remote {
    uri: Uri,
    authorization: Option<HeaderValue>,
    http: Http,
}

/// Why a server cannot be reached in this way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRemote {
    /// The URL is none of HTTP.
    #[error("`{0}` is no place of a server: a URL such as `https://host/mcp` is due")]
    Url(String),
    /// The authorization cannot stand in a header.
    #[error("the authorization is no header value: one line such as `Bearer …` is due")]
    Authorization,
    /// The system's certificates cannot be read.
    #[error("the certificates that this system trusts cannot be read: {0}")]
    Certificates(String),
}

impl Remote {
    /// A server at a URL, asked with this `Authorization`.
    ///
    /// # Errors
    /// Where one of them cannot be used.
    pub fn new(url: &str, authorization: Option<&str>) -> Result<Self, InvalidRemote> {
        let uri = url.parse::<Uri>().ok().filter(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
        });
        let uri = uri.ok_or_else(|| InvalidRemote::Url(url.to_owned()))?;
        let authorization = authorization.map(|text| {
            let mut value = HeaderValue::from_str(text.trim()).map_err(|_| InvalidRemote::Authorization)?;
            value.set_sensitive(true);
            Ok(value)
        });
        let connector = if uri.scheme_str() == Some("http") {
            // Nobody's certificate is asked for: the system need not have any.
            HttpsConnectorBuilder::new().with_tls_config(trusting_nobody()?)
        } else {
            let builder = HttpsConnectorBuilder::new().with_provider_and_native_roots(ring::default_provider());
            builder.map_err(|error| InvalidRemote::Certificates(error.to_string()))?
        };
        let connector = connector.https_or_http().enable_http1().build();
        let http = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { uri, authorization: authorization.transpose()?, http })
    }
}

fn trusting_nobody() -> Result<ClientConfig, InvalidRemote> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| InvalidRemote::Certificates(error.to_string()))?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

impl Launch for Remote {
    async fn launch(&mut self) -> io::Result<Link> {
        let (to, lines) = mpsc::unbounded_channel();
        let (says, from) = mpsc::channel(1);
        let (stop, stopped) = oneshot::channel();
        let talk = Talk {
            uri: self.uri.clone(),
            authorization: self.authorization.clone(),
            http: self.http.clone(),
            session: OnceLock::new(),
            version: OnceLock::new(),
            room: Room::new(),
            says,
        };
        tokio::spawn(converse(Arc::new(talk), lines, stopped));
        Ok(Link { to: Some(to), from, stop })
    }
}

/// One life of the server, as far as this client is concerned.
struct Talk {
    uri: Uri,
    authorization: Option<HeaderValue>,
    http: Http,
    /// Set by the answer to `initialize`.
    session: OnceLock<HeaderValue>,
    /// Likewise.
    version: OnceLock<String>,
    room: Room,
    says: mpsc::Sender<FromServer>,
}

impl fmt::Display for Talk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the MCP server at {}", self.uri.authority().map_or("nowhere", |authority| authority.as_str()))
    }
}

impl Talk {
    /// A request with what every one says.
    fn request(&self, method: &str, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.uri_mut() = self.uri.clone();
        *request.method_mut() = method.parse().unwrap_or_default();
        let headers = request.headers_mut();
        if let Some(authorization) = &self.authorization {
            headers.insert(hyper::header::AUTHORIZATION, authorization.clone());
        }
        if let Some(session) = self.session.get() {
            headers.insert(head::SESSION, session.clone());
        }
        if let Some(version) = self.version.get().and_then(|version| HeaderValue::from_str(version).ok()) {
            headers.insert(head::VERSION, version);
        }
        request
    }

    /// Hands on a message; false where nobody listens any more.
    async fn hand_on(&self, text: &[u8]) -> bool {
        let mut line: Vec<u8> =
            text.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
        line.push(b'\n');
        match self.room.line(line).await {
            Ok(line) => self.says.send(FromServer::Line(line)).await.is_ok(),
            Err(_) => false,
        }
    }
}

async fn converse(talk: Arc<Talk>, mut lines: mpsc::UnboundedReceiver<Line>, mut stopped: oneshot::Receiver<()>) {
    let mut running = JoinSet::new();
    // Of messages that need no session, the end of the request is the cancellation.
    let mut modern: BTreeMap<String, AbortHandle> = BTreeMap::new();
    let mut listener: Option<AbortHandle> = None;
    let mut is_stopped = false;
    loop {
        let is_full = running.len() >= RUNNING_MAX;
        tokio::select! {
            line = lines.recv(), if !is_full => {
                let Some(line) = line else { break };
                let head = Head::of(line.text().unwrap_or_default());
                if let Some(cancelled) = head.cancels.as_ref().and_then(|id| modern.remove(&id.key)) {
                    cancelled.abort();
                    continue;
                }
                if head.method == "notifications/initialized" && listener.is_none() {
                    listener = Some(tokio::spawn(exchange::listen(Arc::clone(&talk))).abort_handle());
                }
                let key = head.id.as_ref().filter(|_| head.version.is_some()).map(|id| id.key.clone());
                let handle = running.spawn(exchange::send(Arc::clone(&talk), head, line));
                modern.retain(|_, handle| !handle.is_finished());
                key.into_iter().for_each(|key| drop(modern.insert(key, handle.clone())));
            }
            Some(_) = running.join_next() => {}
            _ = &mut stopped => {
                is_stopped = true;
                break;
            }
        }
    }
    if !is_stopped {
        tokio::select! {
            () = async { while running.join_next().await.is_some() {} } => {}
            _ = &mut stopped => {}
        }
    }
    running.abort_all();
    listener.iter().for_each(AbortHandle::abort);
    exchange::leave(&talk).await;
    let _ = talk.says.send(FromServer::Ended(Ended { how: "it was left".to_owned(), status: 0 })).await;
}
