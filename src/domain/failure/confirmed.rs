//! What an operator confirmed: spare hosts with the routes they serve, and the narrow route of each route.
//!
//! Nothing here is built in, and the order is that of the configuration.

use super::names::{HostName, RouteName};

/// Hosts that can be confirmed.
pub const HOSTS_MAX: usize = 64;
/// Routes that one host can serve, and routes that can be narrowed.
pub const ROUTES_MAX: usize = 64;

/// A host that work may be moved to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpareHost {
    /// Its name; its circuit is that of the target of this name.
    pub name: HostName,
    /// The routes that it serves, to the byte.
    pub routes: Vec<RouteName>,
}

/// A route and what it may be narrowed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NarrowRoute {
    /// The route.
    pub name: RouteName,
    /// The smaller, read-only route without tools.
    pub narrow: RouteName,
}

/// All that is confirmed. The default confirms nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confirmed {
    hosts: Vec<SpareHost>,
    routes: Vec<NarrowRoute>,
}

/// Why a list of hosts and routes is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidConfirmed {
    /// More hosts than are looked through.
    #[error("{got} hosts are more than {HOSTS_MAX}")]
    TooManyHosts {
        /// How many.
        got: usize,
    },
    /// More routes than are looked through.
    #[error("{got} routes are more than {ROUTES_MAX}")]
    TooManyRoutes {
        /// How many.
        got: usize,
    },
    /// A host with no route, or with too many.
    #[error("host `{name}` serves {got} routes, give 1 to {ROUTES_MAX}")]
    RoutesOfHost {
        /// Which.
        name: HostName,
        /// How many.
        got: usize,
    },
    /// Its place in the order is not clear.
    #[error("host `{name}` stands twice, give it once with all of its routes")]
    HostTwice {
        /// Which.
        name: HostName,
    },
    /// Which narrow route is meant is not clear.
    #[error("route `{name}` stands twice, give it one narrow route")]
    RouteTwice {
        /// Which.
        name: RouteName,
    },
    /// A narrow route leads back to where it started, so one of them is not smaller.
    #[error("route `{name}` is narrowed to itself in the end, give it a smaller one")]
    Circle {
        /// Where it starts.
        name: RouteName,
    },
}

impl Confirmed {
    /// From what stands in the configuration, in its order.
    ///
    /// # Errors
    /// With the first fault.
    pub fn new(hosts: Vec<SpareHost>, routes: Vec<NarrowRoute>) -> Result<Self, InvalidConfirmed> {
        check_hosts(&hosts)?;
        let confirmed = Self { hosts, routes };
        confirmed.check_routes()?;
        Ok(confirmed)
    }

    /// The spare hosts, in order.
    #[must_use]
    pub fn hosts(&self) -> &[SpareHost] {
        &self.hosts
    }

    /// The routes that can be narrowed, in order.
    #[must_use]
    pub fn routes(&self) -> &[NarrowRoute] {
        &self.routes
    }

    /// The narrow route of a route.
    #[must_use]
    pub fn narrow(&self, route: &RouteName) -> Option<&RouteName> {
        self.routes.iter().find(|row| row.name == *route).map(|row| &row.narrow)
    }

    fn check_routes(&self) -> Result<(), InvalidConfirmed> {
        if self.routes.len() > ROUTES_MAX {
            return Err(InvalidConfirmed::TooManyRoutes { got: self.routes.len() });
        }
        for (at, row) in self.routes.iter().enumerate() {
            if self.routes.iter().take(at).any(|earlier| earlier.name == row.name) {
                return Err(InvalidConfirmed::RouteTwice { name: row.name.clone() });
            }
        }
        for row in &self.routes {
            let mut chain = std::iter::successors(Some(&row.narrow), |route| self.narrow(route));
            if chain.by_ref().take(self.routes.len()).any(|route| *route == row.name) {
                return Err(InvalidConfirmed::Circle { name: row.name.clone() });
            }
        }
        Ok(())
    }
}

fn check_hosts(hosts: &[SpareHost]) -> Result<(), InvalidConfirmed> {
    if hosts.len() > HOSTS_MAX {
        return Err(InvalidConfirmed::TooManyHosts { got: hosts.len() });
    }
    for (at, host) in hosts.iter().enumerate() {
        let got = host.routes.len();
        if !(1..=ROUTES_MAX).contains(&got) {
            return Err(InvalidConfirmed::RoutesOfHost { name: host.name.clone(), got });
        }
        if hosts.iter().take(at).any(|earlier| earlier.name == host.name) {
            return Err(InvalidConfirmed::HostTwice { name: host.name.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
