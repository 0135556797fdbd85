//! Who calls: the name that a caller gives itself, else the user at the other end of a Unix socket.

use tonic::Request;
use tonic::transport::server::UdsConnectInfo;

use crate::wire::pb;

/// A message that says who calls.
pub(super) trait SaysCaller {
    /// Shows every place where it is said.
    fn callers(&mut self, show: &mut dyn FnMut(&mut String));
}

/// The user at the other end of a Unix socket, as the kernel tells; none over TCP.
#[derive(Clone, Copy, Debug)]
pub(super) struct User(Option<u32>);

impl User {
    /// The user behind a request.
    pub(super) fn of<T>(request: &Request<T>) -> Self {
        let info = request.extensions().get::<UdsConnectInfo>();
        Self(info.and_then(|info| info.peer_cred.as_ref()).map(tokio::net::unix::UCred::uid))
    }

    /// The message with nobody nameless in it who came over a Unix socket: where no name is given, it is `uid:` and the
    /// number of the user. A name that is given stands, and may be that of another.
    pub(super) fn known<T: SaysCaller>(self, mut message: T) -> T {
        if let Self(Some(uid)) = self {
            message.callers(&mut |caller| {
                if caller.is_empty() {
                    *caller = format!("uid:{uid}");
                }
            });
        }
        message
    }
}

/// The message of a request, with nobody nameless in it who has a [`User`].
pub(super) fn known<T: SaysCaller>(request: Request<T>) -> T {
    User::of(&request).known(request.into_inner())
}

impl SaysCaller for pb::Outcome {
    fn callers(&mut self, show: &mut dyn FnMut(&mut String)) {
        if let Some(pb::outcome::Call::CallRef(call)) = &mut self.call {
            show(&mut call.caller);
        }
    }
}

impl SaysCaller for pb::AdmitRequest {
    fn callers(&mut self, show: &mut dyn FnMut(&mut String)) {
        show(&mut self.caller);
        self.reports.iter_mut().for_each(|outcome| outcome.callers(show));
    }
}

impl SaysCaller for pb::AdmitWaveRequest {
    fn callers(&mut self, show: &mut dyn FnMut(&mut String)) {
        self.calls.iter_mut().for_each(|call| call.callers(show));
        self.reports.iter_mut().for_each(|outcome| outcome.callers(show));
    }
}

impl SaysCaller for pb::ReportRequest {
    fn callers(&mut self, show: &mut dyn FnMut(&mut String)) {
        self.outcomes.iter_mut().for_each(|outcome| outcome.callers(show));
    }
}

impl SaysCaller for pb::PeekRequest {
    fn callers(&mut self, show: &mut dyn FnMut(&mut String)) {
        self.targets.iter_mut().for_each(|target| show(&mut target.caller));
    }
}

/// Messages with one `caller`.
macro_rules! of_a_caller {
    ($($message:ident)*) => {$(
        impl SaysCaller for pb::$message {
            fn callers(&mut self, show: &mut dyn FnMut(&mut String)) {
                show(&mut self.caller);
            }
        }
    )*};
}

of_a_caller! { DecideRequest ListAttemptsRequest AcceptSketchRequest }

/// Messages about one session.
macro_rules! of_a_session {
    ($($message:ident)*) => {$(
        impl SaysCaller for pb::$message {
            fn callers(&mut self, show: &mut dyn FnMut(&mut String)) {
                self.session.iter_mut().for_each(|session| show(&mut session.caller));
            }
        }
    )*};
}

of_a_session! {
    OpenSessionRequest CloseSessionRequest AdvanceContextEpochRequest GetSessionRequest GetEvidenceRequest
    ReviewAnswerRequest ReleaseEffectRequest BeginTaskRequest EndWaveRequest
}
