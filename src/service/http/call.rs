//! One way into the services: a message by its descriptor goes through the very code that answers gRPC, and the answer
//! comes back by its descriptor. Reads and decides nothing.

use prost::Message as _;
use prost_reflect::{DynamicMessage, MethodDescriptor};
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder, Streaming};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::service::Routes;
use tonic::{Request, Status};

/// The answers of our own services need no bound of size: they are in memory already.
const ANSWER_BYTES_MAX: usize = usize::MAX;

/// Asks for one answer.
pub(super) async fn unary(
    routes: Routes,
    method: &MethodDescriptor,
    request: Request<DynamicMessage>,
) -> Result<DynamicMessage, Status> {
    let mut client = tonic::client::Grpc::new(routes).max_decoding_message_size(ANSWER_BYTES_MAX);
    client.ready().await.map_err(|_| not_there())?;
    Ok(client.unary(request, path(method)?, ByDescriptor(method.clone())).await?.into_inner())
}

/// Asks for a stream of answers.
pub(super) async fn stream(
    routes: Routes,
    method: &MethodDescriptor,
    request: Request<DynamicMessage>,
) -> Result<Streaming<DynamicMessage>, Status> {
    let mut client = tonic::client::Grpc::new(routes).max_decoding_message_size(ANSWER_BYTES_MAX);
    client.ready().await.map_err(|_| not_there())?;
    Ok(client.server_streaming(request, path(method)?, ByDescriptor(method.clone())).await?.into_inner())
}

fn path(method: &MethodDescriptor) -> Result<PathAndQuery, Status> {
    let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
    path.parse().map_err(|_| not_there())
}

/// What has no way to happen in one process.
fn not_there() -> Status {
    Status::internal("the service could not be asked: see the log")
}

/// Encodes and decodes by descriptor.
#[derive(Clone, Debug)]
struct ByDescriptor(MethodDescriptor);

impl Codec for ByDescriptor {
    type Encode = DynamicMessage;
    type Decode = DynamicMessage;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        self.clone()
    }

    fn decoder(&mut self) -> Self {
        self.clone()
    }
}

impl Encoder for ByDescriptor {
    type Item = DynamicMessage;
    type Error = Status;

    fn encode(&mut self, message: DynamicMessage, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        message.encode(to).map_err(|_| not_there())
    }
}

impl Decoder for ByDescriptor {
    type Item = DynamicMessage;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<DynamicMessage>, Status> {
        DynamicMessage::decode(self.0.output(), from).map(Some).map_err(|_| not_there())
    }
}
