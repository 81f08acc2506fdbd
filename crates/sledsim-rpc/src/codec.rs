//! The protobuf codec of messages.

use bytes::Buf;
use prost::encoding::{DecodeContext, decode_key, skip_field};
use prost::{DecodeError, Message};
use std::marker::PhantomData;
use tonic::Status;
use tonic::codec::{self, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// The most commands of a batch: as many blocks as the largest batch has.
const COMMANDS_MAXIMUM: usize = 1 << 16;

/// The most fields of a message: the commands of a batch, or their results, and the others,
/// each more than once perhaps. A field of 2 bytes takes some 50 once it is decoded.
const FIELDS_MAXIMUM: usize = COMMANDS_MAXIMUM + 64;

/// Counts the fields of a message, without decoding them.
fn count_fields(mut message: impl Buf) -> Result<usize, DecodeError> {
    let mut count = 0;
    while message.has_remaining() {
        let (tag, kind) = decode_key(&mut message)?;
        skip_field(kind, tag, &mut message, DecodeContext::default())?;
        count += 1;
    }
    Ok(count)
}

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
        item.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }
}

/// Decodes.
pub(crate) struct ProtoDecoder<U>(PhantomData<U>);

impl<U: Message + Default> Decoder for ProtoDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        let wrong = |error: &dyn std::fmt::Display| {
            let text = "the message is not what sledsim.v1 has for this call";
            Status::invalid_argument(format!("{text}: {error}"))
        };
        if buffer.remaining() > FIELDS_MAXIMUM {
            let bytes = buffer.copy_to_bytes(buffer.remaining());
            let fields = count_fields(bytes.clone()).map_err(|error| wrong(&error))?;
            if fields > FIELDS_MAXIMUM {
                return Err(Status::resource_exhausted(format!(
                    "commands: more than {COMMANDS_MAXIMUM}: a batch may have at most so many"
                )));
            }
            return U::decode(bytes).map(Some).map_err(|error| wrong(&error));
        }
        U::decode(buffer).map(Some).map_err(|error| wrong(&error))
    }
}
