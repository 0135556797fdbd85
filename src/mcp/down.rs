//! From the server to the client: every line passes as it is, but the answer to a tool call waits until it is reported,
//! and a list of tools until it is known what of it can be called.

use super::answer::{Edit, SERVER_LOST, appended, edited, error, list_changed};
use super::asks::Ask;
use super::call::{Call, Seen};
use super::line::{LINE_BYTES_MAX, Line, TooLong};
use super::link::{Ended, Failed, FromServer};
use super::message::{Id, Message, document, offset, read};
use super::proxy::{Pending, Proxy};
use super::service::{Shut, Unanswered};
use super::tools::without;
use super::up::parts;
use crate::domain::document::Value;
use crate::wire::pb;

/// What is known of the tools that were looked at, by name.
type Looked = Result<Vec<(String, Option<Shut>)>, Unanswered>;

/// What a line is to the proxy.
enum Sort {
    /// Nothing.
    Plain,
    /// The answer to a request that is remembered.
    Answer(Id),
    /// A batch with such an answer that is not to pass as it is.
    Apart(Vec<Vec<u8>>),
}

impl Proxy {
    /// Something came from the server; its end, where it has ended.
    pub(super) fn hear_server(&mut self, said: Option<FromServer>) -> Option<Ended> {
        match said {
            Some(FromServer::Line(line)) => self.server_line(line),
            Some(FromServer::TooLong(line)) => self.too_long(line),
            Some(FromServer::Failed(failed)) => self.failed(failed),
            Some(FromServer::Ended(ended)) => return Some(ended),
            None => return Some(Ended { how: "it left no word".to_owned(), status: 1 }),
        }
        None
    }

    fn server_line(&mut self, line: Line) {
        if self.pending.is_empty() {
            return self.to_client(line);
        }
        let sort = match line.text().and_then(document) {
            Some(document) => self.sort(document.root()),
            None => Sort::Plain,
        };
        match sort {
            Sort::Plain => self.to_client(line),
            Sort::Answer(id) => self.answer(&id, line),
            Sort::Apart(parts) => parts.into_iter().for_each(|part| self.server_line(line.instead(part))),
        }
    }

    fn sort(&mut self, root: Value<'_>) -> Sort {
        match read(root) {
            Message::Response { id } if self.pending.contains_key(&id.key) => Sort::Answer(id),
            Message::Batch => {
                let answered = |part: Value<'_>| match read(part) {
                    Message::Response { id } => Some(id),
                    Message::Request { .. } | Message::Notification { .. } | Message::Batch | Message::Other => None,
                };
                let ids: Vec<Id> = root.items().filter_map(answered).collect();
                let is_other = |id: &Id| matches!(self.pending.get(&id.key), Some(Pending::Other(_)) | None);
                if !ids.iter().all(is_other) {
                    return Sort::Apart(parts(root));
                }
                ids.iter().for_each(|id| drop(self.pending.remove(&id.key)));
                Sort::Plain
            }
            Message::Response { .. } | Message::Request { .. } | Message::Notification { .. } | Message::Other => {
                Sort::Plain
            }
        }
    }

    fn answer(&mut self, id: &Id, line: Line) {
        self.starts.bear_fruit();
        match self.pending.remove(&id.key) {
            Some(Pending::Sent(call, Some(permit), notices)) => {
                self.asks.push(Ask::Report { call, permit, notices, seen: Seen::Answer(line) });
            }
            Some(Pending::Sent(call, None, _)) => {
                self.runs.answered(&call.session);
                self.to_client(line);
            }
            Some(Pending::List(_, is_first)) => {
                let names = self.tools.learn(line.text().unwrap_or_default());
                if self.settings.hides_open {
                    let targets = names.iter().map(|name| self.runs.target(name)).collect();
                    self.asks.push(Ask::List { line, is_first, targets });
                } else {
                    self.to_client(line);
                }
            }
            Some(Pending::Initialize(_)) if self.settings.hides_open => {
                let declared = line.text().and_then(declaring_changes).map(|bytes| line.instead(bytes));
                self.to_client(declared.unwrap_or(line));
            }
            Some(asking @ Pending::Asking(..)) => {
                self.pending.insert(id.key.clone(), asking); // an answer to what was not asked
                self.to_client(line);
            }
            Some(Pending::Initialize(_) | Pending::Other(_)) | None => self.to_client(line),
        }
    }

    fn too_long(&mut self, line: TooLong) {
        let message = format!("the answer is longer than {LINE_BYTES_MAX} bytes, which is the most that passes");
        let id = line.id.filter(|_| !line.has_method).and_then(|raw| Id::read(&raw));
        let Some(id) = id else { return (self.settings.say)(&format!("from the server: {message}")) };
        let pending = self.pending.remove(&id.key);
        self.to_client(Line::of_ours(error(&id.raw, SERVER_LOST, &message)));
        if let Some(Pending::Sent(call, permit, _)) = pending {
            self.runs.answered(&call.session);
            self.report_nothing(call, permit, None); // the bound is ours
        }
    }

    fn failed(&mut self, failed: Failed) {
        let Failed { id, facts, message } = failed;
        let Some(id) = id.and_then(|raw| Id::read(&raw)) else { return (self.settings.say)(&message) };
        let error = Line::of_ours(error(&id.raw, SERVER_LOST, &message));
        match self.pending.remove(&id.key) {
            Some(Pending::Sent(call, Some(permit), notices)) => {
                self.asks.push(Ask::Report { call, permit, notices, seen: Seen::Lost { facts, error } });
            }
            Some(
                Pending::Sent(..)
                | Pending::Asking(..)
                | Pending::List(..)
                | Pending::Initialize(_)
                | Pending::Other(_),
            ) => self.to_client(error),
            None => {} // it was given up
        }
    }

    /// The service has heard how a call ended.
    pub(super) fn reported(
        &mut self,
        call: &Call,
        notices: &[String],
        seen: Seen,
        answer: Result<Box<pb::ReportAck>, Unanswered>,
    ) {
        self.heard(answer.as_ref().err());
        let ack = answer.ok();
        let told = ack.as_ref().and_then(|ack| call.told(&seen, notices, ack));
        match seen {
            Seen::Answer(line) | Seen::Lost { error: line, .. } => {
                self.runs.answered(&call.session);
                let told = told.map(|bytes| line.instead(bytes));
                self.to_client(told.unwrap_or(line));
            }
            Seen::Nothing { .. } => {}
        }
        if ack.is_some_and(|ack| ack.trip.is_some()) {
            self.look();
        }
    }

    /// It is known what of a list can be called.
    pub(super) fn listed(&mut self, line: Line, is_first: bool, looked: Looked) {
        self.heard(looked.as_ref().err());
        let shut = self.hidden.listed(is_first, looked.as_deref().unwrap_or_default());
        if looked.is_err() {
            self.hidden.missed();
        }
        let left = line.text().and_then(|text| without(text, &shut)).map(|bytes| line.instead(bytes));
        self.to_client(left.unwrap_or(line));
    }

    /// It is known which tools can be called.
    pub(super) fn looked(&mut self, looked: Looked) {
        self.heard(looked.as_ref().err());
        match looked {
            Ok(looked) => {
                if self.hidden.looked(&looked) {
                    let subscription = self.subscription.as_ref().map(|id| id.raw.as_str());
                    self.to_client(Line::of_ours(list_changed(subscription)));
                }
            }
            Err(_) => self.hidden.missed(),
        }
    }
}

/// The answer to `initialize` in which the server's tools may change; none where it has no tools, or says so already.
fn declaring_changes(line: &str) -> Option<Vec<u8>> {
    let document = document(line)?;
    let tools = document.root().path(&["result", "capabilities", "tools"]).filter(|tools| tools.is_object())?;
    let edit = match tools.get("listChanged") {
        None => appended(line, tools, r#""listChanged":true"#),
        Some(said) if said.as_bool() == Some(true) => return None,
        Some(said) => Edit { at: offset(line, said.raw()), len: said.raw().len(), text: "true".to_owned() },
    };
    Some(edited(line, vec![edit]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_with_tools_is_declared_to_change_them() {
        let line = |tools: &str| format!(r#"{{"id":1,"result":{{"capabilities":{{{tools}}},"x":1}}}}"#);
        let table = [
            (r#""tools":{}"#, Some(r#""tools":{"listChanged":true}"#)),
            (r#""tools":{"a":1}"#, Some(r#""tools":{"a":1,"listChanged":true}"#)),
            (r#""tools":{"listChanged": false ,"a":1}"#, Some(r#""tools":{"listChanged": true ,"a":1}"#)),
            (r#""tools":{"listChanged":true}"#, None),
            (r#""prompts":{}"#, None),
        ];
        for (tools, want) in table {
            let got = declaring_changes(&line(tools)).map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(got, want.map(line), "{tools}");
        }
    }
}
