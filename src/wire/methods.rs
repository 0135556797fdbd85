//! The methods of our services and of the health service, as their protos name them.

use prost::Message as _;
use prost_types::FileDescriptorSet;

use super::pb;

/// A method of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcMethod {
    /// The service with its package.
    pub service: String,
    /// The method.
    pub name: String,
    /// The caller sends many messages.
    pub is_client_stream: bool,
    /// The service sends many messages.
    pub is_server_stream: bool,
}

/// All of them; none where the descriptors cannot be read, which a test excludes.
#[must_use]
pub fn methods() -> Vec<RpcMethod> {
    let sets = [pb::DESCRIPTORS, tonic_health::pb::FILE_DESCRIPTOR_SET];
    let files = sets.into_iter().filter_map(|set| FileDescriptorSet::decode(set).ok()).flat_map(|set| set.file);
    let mut methods = vec![];
    for file in files {
        for service in &file.service {
            methods.extend(service.method.iter().map(|method| RpcMethod {
                service: format!("{}.{}", file.package(), service.name()),
                name: method.name().to_owned(),
                is_client_stream: method.client_streaming(),
                is_server_stream: method.server_streaming(),
            }));
        }
    }
    methods
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_those_of_the_protos() {
        let all = methods();
        let named = |service: &str, name: &str| all.iter().find(|m| m.service == service && m.name == name).unwrap();
        assert!(!named("tripnote.v1.BreakerService", "Admit").is_server_stream);
        assert!(named("tripnote.v1.OperatorService", "WatchEvents").is_server_stream);
        assert!(named("grpc.health.v1.Health", "Watch").is_server_stream);
        let streams = |name: &str| all.iter().filter(|m| m.is_client_stream).all(|m| m.name == name);
        assert!(streams("Guard") && named("tripnote.v1.BreakerService", "Guard").is_server_stream);
    }
}
