//! The MCP proxy, between clients and servers that the tests play and the real program with a real process behind it.

mod calls;
mod ends;
mod hiding;
mod passing;
mod remote;
mod stage;
mod ways;
