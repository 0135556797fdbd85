//! A server that is started again: the client's beginning is played to it, so that the client need not know.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::line::Line;
use super::link::{Ended, FromServer, Launch, Link};
use super::message::{Id, Message, document, read};
use super::proxy::Proxy;

/// A server that ends so often without having answered anything is given up.
const FRUITLESS_MAX: u32 = 5;
/// How long the answer to `initialize` may take.
const BEGIN_WITHIN: Duration = Duration::from_secs(30);

/// How the client began, and how often the server was started for nothing.
#[derive(Debug, Default)]
pub(super) struct Starts {
    /// The line of `initialize`, and its id.
    pub(super) initialize: Option<(Vec<u8>, Id)>,
    /// The line of `notifications/initialized`.
    pub(super) initialized: Option<Vec<u8>>,
    fruitless: u32,
}

impl Starts {
    /// The server has answered something: it works.
    pub(super) const fn bear_fruit(&mut self) {
        self.fruitless = 0;
    }

    /// How long to wait before the next start; none where there is none.
    fn next(&mut self) -> Option<Duration> {
        let wait = Duration::from_secs(u64::from(self.fruitless));
        self.fruitless += 1;
        (self.fruitless <= FRUITLESS_MAX).then_some(wait)
    }
}

/// Starts the server again, after a while where it has just been started. Its last end where it is given up.
pub(super) async fn again(proxy: &mut Proxy, launch: &mut impl Launch, mut ended: Ended) -> Result<Link, Ended> {
    while let Some(wait) = proxy.starts.next() {
        sleep(wait).await;
        (proxy.settings.say)(&format!("the server ended ({}): starting it again", ended.how));
        let mut link = match launch.launch().await {
            Ok(link) => link,
            Err(error) => {
                ended.how = format!("it cannot be started: {error}");
                continue;
            }
        };
        match timeout(BEGIN_WITHIN, begin(proxy, &mut link)).await {
            Ok(Ok(())) => {
                proxy.server = link.to.take();
                return Ok(link);
            }
            Ok(Err(again)) => ended = again,
            Err(_elapsed) => ended.how = "it does not answer `initialize`".to_owned(),
        }
    }
    Err(ended)
}

/// Plays the client's beginning, swallows the answer that the client has already, and passes on all else.
async fn begin(proxy: &mut Proxy, link: &mut Link) -> Result<(), Ended> {
    let (Some((initialize, id)), Some(to)) = (&proxy.starts.initialize, &link.to) else { return Ok(()) };
    let _ = to.send(Line::of_ours(initialize.clone())); // a server that is gone is heard of below
    loop {
        match link.from.recv().await {
            Some(FromServer::Line(line)) if answers(&line, id) => break,
            Some(FromServer::Line(line)) => proxy.to_client(line),
            Some(FromServer::TooLong(_)) => {}
            Some(FromServer::Failed(failed)) => return Err(Ended { how: failed.message, status: 1 }),
            Some(FromServer::Ended(ended)) => return Err(ended),
            None => return Err(Ended { how: "it left no word".to_owned(), status: 1 }),
        }
    }
    if let Some(initialized) = &proxy.starts.initialized {
        let _ = to.send(Line::of_ours(initialized.clone())); // as above
    }
    Ok(())
}

fn answers(line: &Line, id: &Id) -> bool {
    let Some(document) = line.text().and_then(document) else { return false };
    matches!(read(document.root()), Message::Response { id: answered } if answered.key == id.key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_never_answers_is_started_ever_later_and_then_given_up() {
        let mut starts = Starts::default();
        let waits: Vec<_> = std::iter::from_fn(|| starts.next().map(|wait| wait.as_secs())).collect();
        assert_eq!(waits, [0, 1, 2, 3, 4]);
        let mut starts = Starts { fruitless: 3, ..Starts::default() };
        starts.bear_fruit();
        assert_eq!(starts.next(), Some(Duration::ZERO));
    }
}
