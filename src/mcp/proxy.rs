//! The proxy itself: one task that owns all of its state, between a client and a server.
//!
//! It waits for the next thing to happen, and what it does about it never waits. What goes to the client and to the server
//! is queued on the account of the line that caused it, so that who does not read is not read from.

use std::collections::BTreeMap;
use std::future::Future;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use super::asks::{Answered, Ask, Asks};
use super::call::Call;
use super::hidden::Hidden;
use super::line::{Incoming, Line, LineReader, Sink, write_lines};
use super::link::{Ended, FromServer, Launch, Link};
use super::message::Id;
use super::runs::Runs;
use super::service::{Service, Unanswered, WhenDown};
use super::start::{self, Starts};
use super::tools::Tools;

/// Requests that wait for their answers.
pub(super) const PENDING_MAX: usize = 1_024;

/// How a proxy is to behave.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whom to ask.
    pub service: Service,
    /// What to do where it does not answer.
    pub when_down: WhenDown,
    /// The session; none: one of this connection, which ends with it.
    pub session: Option<String>,
    /// A name that no other connection has, at most 64 bytes.
    pub connection: String,
    /// What stands before the name of a tool in the name of its target.
    pub prefix: String,
    /// Tools that cannot be called now are left out of lists.
    pub hides_open: bool,
    /// A server that ends is started again.
    pub restarts: bool,
    /// Tells the person who runs this, in one line.
    pub say: fn(&str),
}

/// A request of the client that waits for its answer.
#[derive(Debug)]
pub(super) enum Pending {
    /// A tool call that has not gone out yet, by its number.
    Asking(Id, u64),
    /// A tool call that went out, with its permit and what the model is told beside its result.
    Sent(Box<Call>, Option<Vec<u8>>, Vec<String>),
    /// A list of tools; whether it is its first page.
    List(Id, bool),
    /// The beginning.
    Initialize(Id),
    /// Anything else.
    Other(Id),
}

impl Pending {
    /// The id of the request.
    pub(super) const fn id(&self) -> &Id {
        match self {
            Self::Sent(call, ..) => &call.id,
            Self::Asking(id, _) | Self::List(id, _) | Self::Initialize(id) | Self::Other(id) => id,
        }
    }
}

/// The state.
pub(super) struct Proxy {
    pub(super) settings: Settings,
    pub(super) asks: Asks,
    pub(super) runs: Runs,
    pub(super) tools: Tools,
    pub(super) hidden: Hidden,
    pub(super) pending: BTreeMap<String, Pending>,
    pub(super) starts: Starts,
    pub(super) calls: u64,
    /// The listener to changes of lists, by the id of its request (2026-07-28).
    pub(super) subscription: Option<Id>,
    pub(super) client: Sink,
    pub(super) server: Option<Sink>,
    pub(super) is_away: bool,
    pub(super) was_rejected: bool,
}

impl Proxy {
    fn new(settings: Settings, client: Sink) -> Self {
        let runs = Runs::new(settings.connection.clone(), settings.session.clone(), settings.prefix.clone());
        Self {
            asks: Asks::new(settings.service.clone()),
            runs,
            tools: Tools::default(),
            hidden: Hidden::default(),
            pending: BTreeMap::new(),
            starts: Starts::default(),
            calls: 0,
            subscription: None,
            client,
            server: None,
            is_away: false,
            was_rejected: false,
            settings,
        }
    }

    /// Hands a line to the client. One that has left is noticed where its input ends.
    pub(super) fn to_client(&self, line: Line) {
        let _ = self.client.send(line);
    }

    /// Hands a line to the server. One that has ended is noticed where its output ends.
    pub(super) fn to_server(&self, line: Line) {
        if let Some(server) = &self.server {
            let _ = server.send(line);
        }
    }

    /// Says once that the service does not answer, and once that it does again.
    pub(super) fn heard(&mut self, failed: Option<&Unanswered>) {
        let say = self.settings.say;
        let then = match self.settings.when_down {
            WhenDown::GoOn => "calls go on unguarded",
            WhenDown::Refuse => "calls are refused",
            WhenDown::ByEffect => "calls go on unguarded, but for those that change something",
        };
        match failed {
            None if self.is_away => {
                self.is_away = false;
                say("the service answers again");
            }
            None => {}
            Some(Unanswered::Away(why)) => {
                self.asks.rest();
                if !std::mem::replace(&mut self.is_away, true) {
                    say(&format!("the service cannot be reached ({why}): {then}"));
                }
            }
            Some(Unanswered::Rejected(_)) if self.was_rejected => {}
            Some(Unanswered::Rejected(why)) => {
                self.was_rejected = true;
                say(&format!("the service cannot be asked about a call ({why}): {then}"));
            }
        }
    }

    /// Looks at all tools, where the client has a list of them.
    pub(super) fn look(&mut self) {
        if self.settings.hides_open && self.hidden.is_followed() && !self.asks.is_looking() {
            let targets = self.tools.names().iter().map(|name| self.runs.target(name)).collect();
            self.asks.push(Ask::Look { targets });
        }
    }

    fn answered(&mut self, answered: Answered) {
        match answered {
            Answered::Admitted(call, line, answer) => self.admitted(call, line, answer),
            Answered::Reported(call, notices, seen, answer) => self.reported(&call, &notices, seen, answer),
            Answered::Listed(line, is_first, looked) => self.listed(line, is_first, looked),
            Answered::Looked(looked) => self.looked(looked),
        }
    }
}

/// Stands between a client and a server until one of them, or `shutdown`, ends it; the server's end.
///
/// # Errors
/// Where the server cannot be started.
pub async fn run(
    settings: Settings,
    client: (impl AsyncRead + Unpin + Send + 'static, impl AsyncWrite + Unpin + Send + 'static),
    launch: &mut impl Launch,
    shutdown: impl Future<Output = ()>,
) -> std::io::Result<Ended> {
    let (input, output) = client;
    let (sink, lines) = mpsc::unbounded_channel();
    let link = launch.launch().await?;
    let (says, mut says_client) = mpsc::channel(1);
    let reading = tokio::spawn(read(input, says));
    let writing = tokio::spawn(write_lines(output, lines));
    let service = settings.service.clone();
    let mut proxy = Proxy::new(settings, sink);
    tokio::pin!(shutdown);
    let ended = serve(&mut proxy, &mut says_client, link, launch, shutdown).await;
    if let Some(session) = proxy.runs.own() {
        service.close(session).await;
    }
    drop(proxy);
    reading.abort();
    let _ = writing.await; // what it could not write, nobody reads
    ended
}

async fn read(input: impl AsyncRead + Unpin, says: mpsc::Sender<Incoming>) {
    let mut lines = LineReader::new(input);
    while let Ok(Some(incoming)) = lines.next().await {
        if says.send(incoming).await.is_err() {
            return;
        }
    }
}

async fn serve(
    proxy: &mut Proxy,
    client: &mut mpsc::Receiver<Incoming>,
    mut link: Link,
    launch: &mut impl Launch,
    mut shutdown: std::pin::Pin<&mut impl Future<Output = ()>>,
) -> std::io::Result<Ended> {
    proxy.server = link.to.take();
    let mut is_open = true;
    loop {
        let left = proxy.client.clone();
        let ended = tokio::select! {
            incoming = client.recv(), if is_open => {
                match incoming {
                    Some(incoming) => proxy.hear_client(incoming),
                    None => is_open = false,
                }
                None
            }
            said = link.from.recv() => proxy.hear_server(said),
            answered = proxy.asks.next() => {
                proxy.answered(answered);
                None
            }
            () = proxy.hidden.woken() => {
                proxy.look();
                None
            }
            () = left.closed(), if is_open => {
                is_open = false;
                None
            }
            () = &mut shutdown => break stop(proxy, link).await,
        };
        if !is_open && proxy.asks.is_idle() {
            proxy.server = None; // the end of its input tells the server to end
        }
        let Some(ended) = ended else { continue };
        if !(is_open && proxy.settings.restarts) {
            break Ok(settle(proxy, ended).await);
        }
        proxy.lost(&ended, true);
        let again = tokio::select! {
            again = start::again(proxy, launch, ended) => again,
            () = &mut shutdown => break Ok(Ended::default()),
        };
        match again {
            Ok(again) => link = again,
            Err(ended) => break Ok(settle(proxy, ended).await),
        }
    }
}

/// The server is over: its calls are told as lost, and what is still to be asked is asked.
async fn settle(proxy: &mut Proxy, ended: Ended) -> Ended {
    proxy.lost(&ended, false);
    while !proxy.asks.is_idle() {
        let answered = proxy.asks.next().await;
        proxy.answered(answered);
    }
    ended
}

/// Ends the server, and waits until it has ended.
async fn stop(proxy: &mut Proxy, link: Link) -> std::io::Result<Ended> {
    let Link { to, mut from, stop } = link;
    drop((to, proxy.server.take(), stop));
    proxy.given_up();
    while !proxy.asks.is_idle() {
        let answered = proxy.asks.next().await;
        proxy.answered(answered);
    }
    while let Some(said) = from.recv().await {
        if let FromServer::Ended(ended) = said {
            return Ok(ended);
        }
    }
    Ok(Ended::default())
}
