//! Children on a core of their own, and the CPU time that they took.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

/// The core of the servers and that of the client.
pub(crate) const SERVER_CORE: &str = "0";
pub(crate) const CLIENT_CORE: &str = "1";

/// This program again, with other arguments, on the servers' core. It ends when its input is closed, so that it never
/// outlives this process.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    pub(crate) endpoint: String,
}

impl Server {
    /// Starts it and waits for the line that says where it listens.
    pub(crate) fn start(arguments: &[&str], is_pinned: bool) -> Self {
        let this = std::env::current_exe().unwrap();
        let mut command = if is_pinned {
            let mut command = Command::new("taskset");
            command.args(["-c", SERVER_CORE]).arg(this);
            command
        } else {
            Command::new(this)
        };
        let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let mut endpoint = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut endpoint).unwrap();
        assert!(!endpoint.is_empty(), "the server {arguments:?} did not start");
        Self { child, input, endpoint: endpoint.trim().to_owned() }
    }

    /// CPU time so far, in nanoseconds; `taskset` became the server, so that its number is the server's.
    pub(crate) fn cpu_ns(&self) -> u64 {
        cpu_ns(&self.child.id().to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait(); // whatever it says, it is gone
    }
}

/// CPU time of a process over all of its threads, in nanoseconds.
pub(crate) fn cpu_ns(pid: &str) -> u64 {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let of_thread = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path.join("schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0)
    };
    threads.flatten().map(|thread| of_thread(thread.path())).sum()
}

/// CPU time of the whole machine, in nanoseconds, in steps of 10 ms.
pub(crate) fn machine_cpu_ns() -> u64 {
    const TICK_NS: u64 = 10_000_000;
    const IDLE: usize = 3;
    const IOWAIT: usize = 4;
    const STEAL: usize = 7;
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks = text.lines().next().into_iter().flat_map(|line| line.split_whitespace().skip(1).take(STEAL + 1));
    let busy = ticks.enumerate().filter(|(at, _)| ![IDLE, IOWAIT].contains(at));
    busy.filter_map(|(_, ticks)| ticks.parse::<u64>().ok()).sum::<u64>() * TICK_NS
}

/// Puts this process on the client's core; threads to come inherit it. False where there is no second core or no
/// `taskset`: then nothing is pinned.
pub(crate) fn pin_client() -> bool {
    let has_two = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
    let pid = std::process::id().to_string();
    let pinned = Command::new("taskset").args(["-pc", CLIENT_CORE, &pid]).stdout(Stdio::null()).status();
    has_two && pinned.is_ok_and(|status| status.success())
}
