//! The protobuf codec of messages.

use prost::Message;
use std::marker::PhantomData;
use tonic::Status;
use tonic::codec::{self, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Encodes `T`, decodes `U`. A message that cannot be decoded is an invalid argument.
pub(crate) struct Codec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for Codec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: Message + 'static, U: Message + Default + 'static> codec::Codec for Codec<T, U> {
    type Encode = T;
    type Decode = U;
    type Encoder = ProtoEncoder<T>;
    type Decoder = ProtoDecoder<U>;

    fn encoder(&mut self) -> ProtoEncoder<T> {
        ProtoEncoder(PhantomData)
    }

    fn decoder(&mut self) -> ProtoDecoder<U> {
        ProtoDecoder(PhantomData)
    }
}

/// Encodes.
pub(crate) struct ProtoEncoder<T>(PhantomData<T>);

impl<T: Message> Encoder for ProtoEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, item: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(buffer)
            .map_err(|error| Status::internal(error.to_string()))
    }
}

/// Decodes.
pub(crate) struct ProtoDecoder<U>(PhantomData<U>);

impl<U: Message + Default> Decoder for ProtoDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        let item = U::decode(buffer).map_err(|error| {
            Status::invalid_argument(format!(
                "the message is not what sledsim.v1 has for this call: {error}"
            ))
        })?;
        Ok(Some(item))
    }
}
