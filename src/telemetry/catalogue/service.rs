//! Rows about the process itself: its RPCs, events, configuration, clock and resources.

use super::{Label, Metric, Unit, Values, words};
use crate::domain::signal::closed_words;

closed_words! {
    /// What a reload came to.
    ReloadWord {
        /// Something is different.
        Changed = "changed",
        /// Nothing is.
        Unchanged = "unchanged",
        /// The file has faults: the old configuration stays in force.
        Failed = "failed",
    }
}

closed_words! {
    /// Who reads events.
    EventReader {
        /// The log.
        Log = "log",
        /// A stream of `WatchEvents`.
        Watcher = "watcher",
        /// The audit file.
        Audit = "audit",
    }
}

closed_words! {
    /// Codes of gRPC, in their order, as existing dashboards spell them.
    RpcCode {
        /// 0.
        Ok = "OK",
        /// 1.
        Canceled = "Canceled",
        /// 2.
        Unknown = "Unknown",
        /// 3.
        InvalidArgument = "InvalidArgument",
        /// 4.
        DeadlineExceeded = "DeadlineExceeded",
        /// 5.
        NotFound = "NotFound",
        /// 6.
        AlreadyExists = "AlreadyExists",
        /// 7.
        PermissionDenied = "PermissionDenied",
        /// 8.
        ResourceExhausted = "ResourceExhausted",
        /// 9.
        FailedPrecondition = "FailedPrecondition",
        /// 10.
        Aborted = "Aborted",
        /// 11.
        OutOfRange = "OutOfRange",
        /// 12.
        Unimplemented = "Unimplemented",
        /// 13.
        Internal = "Internal",
        /// 14.
        Unavailable = "Unavailable",
        /// 15.
        DataLoss = "DataLoss",
        /// 16.
        Unauthenticated = "Unauthenticated",
    }
}

closed_words! {
    /// What a request of the HTTP face was for.
    HttpRoute {
        /// Calls: what agents ask around each of them.
        Breakers = "breakers",
        /// Sessions.
        Sessions = "sessions",
        /// Failed steps.
        Failures = "failures",
        /// What operators ask, but for events.
        Operators = "operators",
        /// The stream of events, from its head to its beginning.
        Events = "events",
        /// Hooks of agent programs.
        Hooks = "hooks",
        /// Anything that is not there.
        Other = "other",
    }
}

closed_words! {
    /// The class of an HTTP status.
    HttpClass {
        /// It was answered.
        Answered = "2xx",
        /// The request was at fault, or came when there was no room.
        Refused = "4xx",
        /// The service was at fault, or drains.
        Failed = "5xx",
    }
}

const TYPE: Label = Label { name: "grpc_type", values: Values::Methods };
const SERVICE: Label = Label { name: "grpc_service", values: Values::Methods };
const METHOD: Label = Label { name: "grpc_method", values: Values::Methods };

/// RPCs that began.
pub const RPC_STARTED: Metric =
    Metric::counter("grpc_server_started_total", &[TYPE, SERVICE, METHOD], "RPCs that began");
/// RPCs that ended.
pub const RPC_HANDLED: Metric = Metric::counter(
    "grpc_server_handled_total",
    &[TYPE, SERVICE, METHOD, Label::words("grpc_code", || words!(RpcCode))],
    "RPCs that ended; a code that is rare has no series before it comes",
);
/// How long they took.
pub const RPC_SECONDS: Metric = Metric::histogram(
    "grpc_server_handling_seconds",
    (Unit::Second, &[0.000_25, 0.001, 0.002_5, 0.005, 0.025, 0.25]),
    &[TYPE, SERVICE, METHOD],
    "How long unary RPCs took inside the service, from their head to that of the answer",
);
/// Requests of the HTTP face.
pub const HTTP_REQUESTS: Metric = Metric::counter(
    "tripnote_http_requests_total",
    &[Label::words("route", || words!(HttpRoute)), Label::words("code", || words!(HttpClass))],
    "Requests over HTTP that were answered, by what they were for; none of them is among the RPCs",
);
/// How long they took.
pub const HTTP_SECONDS: Metric = Metric::histogram(
    "tripnote_http_request_duration_seconds",
    (Unit::Second, &[0.001, 0.005, 0.025, 0.25, 2.5]),
    &[],
    "How long requests over HTTP took, from their head to that of the answer, with the coming of their body",
);
/// Events.
pub const EVENTS: Metric = Metric::counter("tripnote_events_total", &[], "Events of this life: the number of the last");
/// Lost events.
pub const EVENTS_LOST: Metric = Metric::counter(
    "tripnote_events_lost_total",
    &[Label::words("reader", || words!(EventReader))],
    "Events that came faster than a reader took them; counters here never miss one",
);
/// Audited events.
pub const AUDITED: Metric =
    Metric::counter("tripnote_audit_events_total", &[], "Events that were written to the audit file");
/// Watchers.
pub const EVENT_WATCHERS: Metric =
    Metric::gauge("tripnote_event_watchers", Unit::Count, &[], "Streams of `WatchEvents` that are open");
/// Reloads.
pub const CONFIG_RELOADS: Metric = Metric::counter(
    "tripnote_config_reloads_total",
    &[Label::words("result", || words!(ReloadWord))],
    "Times that the configuration was read again",
);
/// The last reload.
pub const CONFIG_LAST_RELOAD: Metric = Metric::gauge(
    "tripnote_config_last_reload_successful",
    Unit::Truth,
    &[],
    "Whether the configuration was good when it was read last",
);
/// The last good reload.
pub const CONFIG_LAST_SUCCESS: Metric = Metric::gauge(
    "tripnote_config_last_reload_success_timestamp_seconds",
    Unit::Second,
    &[],
    "When the configuration was read last and was good, as Unix time",
);
/// The configuration.
pub const CONFIG_VERSION: Metric = Metric::gauge(
    "tripnote_config_version",
    Unit::Count,
    &[],
    "The number of the configuration in force; 1 at the start, and one more with each that changes something",
);
/// The clock.
pub const CLOCK_DISTRUSTED: Metric = Metric::gauge(
    "tripnote_clock_distrusted",
    Unit::Truth,
    &[],
    "Whether the wall clock has jumped, so that contracts show no absolute time",
);
/// The program.
pub const BUILD_INFO: Metric = Metric::gauge(
    "tripnote_build_info",
    Unit::Truth,
    &[Label { name: "version", values: Values::Version }],
    "Always 1; the version of the program",
);
/// Time on a processor.
pub const PROCESS_CPU: Metric = Metric {
    unit: Unit::Second,
    ..Metric::counter("process_cpu_seconds_total", &[], "Time on a processor, in user and system mode")
};
/// Memory.
pub const PROCESS_MEMORY: Metric =
    Metric::gauge("process_resident_memory_bytes", Unit::Byte, &[], "Memory that the process holds");
/// Address space.
pub const PROCESS_VIRTUAL: Metric =
    Metric::gauge("process_virtual_memory_bytes", Unit::Byte, &[], "Address space that the process has mapped");
/// The most address space.
pub const PROCESS_VIRTUAL_MAX: Metric =
    Metric::gauge("process_virtual_memory_max_bytes", Unit::Byte, &[], "The most address space it may map");
/// Open files.
pub const PROCESS_FILES: Metric =
    Metric::gauge("process_open_fds", Unit::Count, &[], "File descriptors that are open, connections among them");
/// The most open files.
pub const PROCESS_FILES_MAX: Metric =
    Metric::gauge("process_max_fds", Unit::Count, &[], "The most file descriptors it may open");
/// Threads.
pub const PROCESS_THREADS: Metric = Metric::gauge("process_threads", Unit::Count, &[], "Threads of the process");
/// Its start.
pub const PROCESS_START: Metric =
    Metric::gauge("process_start_time_seconds", Unit::Second, &[], "When the process began, as Unix time");
