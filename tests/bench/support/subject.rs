//! The engine under test, as `serve` would build it.

#![allow(dead_code, reason = "no bench uses all of it")]

use std::sync::Arc;

use tripnote::config::Config;
use tripnote::domain::breaker::policy::BreakerPolicy;
use tripnote::domain::breaker::routes::Routes;
use tripnote::domain::ids::{HashKey, TargetName};
use tripnote::engine::clock::Clock;
use tripnote::engine::{
    Arguments, AskedAs, Call, CallId, Engine, EngineSettings, Identity, Limits, Reading, SessionSettings,
};

/// An engine with fixed keys, so that two runs touch the same places.
pub(crate) fn engine(config: Config, clock: Arc<dyn Clock>) -> Engine {
    let contract = config.settings.contract.clone();
    let routes = Routes::new(1, &config.default_policy, &config.breakers, contract.escalation_tool.as_ref()).unwrap();
    let (permit_for_ms, limits) = (config.settings.permit_for_ms, config.settings.limits);
    let identity = Identity { incarnation: 1, names: HashKey([7; 16]), permits: HashKey([9; 16]) };
    Engine::new(
        EngineSettings {
            routes,
            contract,
            permit_for_ms,
            limits,
            reading: Reading::default(),
            session: SessionSettings::default(),
            failure: config.failure,
        },
        identity,
        clock,
    )
    .unwrap()
}

/// The defaults with another policy for targets that no breaker names, and room for them.
pub(crate) fn config(default_policy: BreakerPolicy, targets: usize) -> Config {
    let mut config = Config { default_policy, ..Config::default() };
    let room = targets + 1_000;
    config.settings.limits = Limits { targets: room, targets_per_caller: room, ..config.settings.limits };
    config
}

/// A target whose name makes a breaker of its own.
pub(crate) fn target(number: usize) -> TargetName {
    TargetName::parse(&format!("mcp:server{number}/query_prometheus")).unwrap()
}

/// A call of which only the target is known.
pub(crate) fn call(target: &TargetName) -> Call<'_> {
    Call {
        target,
        target_is_tool: false,
        asked_as: AskedAs::default(),
        id: CallId { attempt: 1, ..CallId::default() },
        arguments: Arguments::Unknown,
        arguments_bytes: None,
        credential: "",
    }
}
