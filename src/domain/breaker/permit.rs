//! The right to make one call: opaque, authenticated bytes that the caller hands back with its report.
//!
//! A permit says under which generation each circuit let it through, so that staleness is judged per circuit. Circuits
//! at generation 0, which is where all begin, are not listed.

use std::sync::Arc;

use crate::domain::ids::HashKey;
use crate::domain::signal::CircuitKind;
use crate::domain::time::Timestamp;

/// A circuit of one call, among all circuits that the call has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircuitRef {
    /// What it watches.
    pub kind: CircuitKind,
    /// Whether it is the caller's own, opened for one sick caller alone.
    pub is_personal: bool,
}

/// The content of a permit. Names are keyed hashes; 0 stands for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    /// The life of the process that issued it.
    pub incarnation: u64,
    /// Its number, unique in the incarnation; also the probe's id.
    pub seq: u64,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// The breaker.
    pub breaker: u64,
    /// The target.
    pub target: u64,
    /// The caller.
    pub caller: u64,
    /// The credential.
    pub credential: u64,
    /// The arguments, where they tell scopes apart.
    pub arguments: u64,
    /// The session, whose gates hear of the report; it also decides who is in shadow.
    pub session: u64,
    /// The call's own name, where it has one.
    pub call: u64,
    /// The size of the arguments, where it is of use.
    pub arguments_bytes: Option<u32>,
    /// Whether it holds a lease.
    pub is_probe: bool,
    /// Circuits that were not at generation 0.
    pub listed: Vec<Listed>,
}

/// A circuit as the permit found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Which.
    pub circuit: CircuitRef,
    /// The generation under which it let the call through.
    pub generation: u32,
    /// Whether the permit holds a lease there.
    pub is_probe: bool,
}

const VERSION: u8 = 1;
const MAC_BYTES: usize = 8;
const PROBE: u8 = 1;
const WITH_CALLER: u8 = 2;
const WITH_CREDENTIAL: u8 = 4;
const WITH_ARGUMENTS: u8 = 8;
const WITH_SIZE: u8 = 16;
const WITH_SESSION: u8 = 32;
const WITH_CALL: u8 = 64;
const PERSONAL: u8 = 8;
const PROBE_HERE: u8 = 16;

/// The longest permit in bytes.
pub const PERMIT_BYTES_MAX: usize = 176;

impl Permit {
    /// A circuit as the permit found it.
    #[must_use]
    pub fn of(&self, circuit: CircuitRef) -> Listed {
        let listed = self.listed.iter().find(|listed| listed.circuit == circuit);
        listed.copied().unwrap_or(Listed { circuit, generation: 0, is_probe: false })
    }

    /// The bytes, sealed with a MAC.
    #[must_use]
    pub fn seal(&self, key: &HashKey) -> Arc<[u8]> {
        let optional = [
            (self.caller, WITH_CALLER),
            (self.credential, WITH_CREDENTIAL),
            (self.arguments, WITH_ARGUMENTS),
            (self.session, WITH_SESSION),
            (self.call, WITH_CALL),
        ];
        let is_given = |(number, flag): &(u64, u8)| if *number == 0 { 0 } else { *flag };
        let probe = if self.is_probe { PROBE } else { 0 };
        let size = if self.arguments_bytes.is_some() { WITH_SIZE } else { 0 };
        let flags = optional.iter().map(is_given).fold(probe | size, |flags, flag| flags | flag);
        let mut out = Writer { bytes: [0; PERMIT_BYTES_MAX], len: 0 };
        out.put([VERSION, flags]);
        for number in [self.incarnation, self.seq, self.issued_at.0, self.breaker, self.target] {
            out.put(number.to_le_bytes());
        }
        for (number, _) in optional.iter().filter(|(number, _)| *number != 0) {
            out.put(number.to_le_bytes());
        }
        if let Some(bytes) = self.arguments_bytes {
            out.put(bytes.to_le_bytes());
        }
        for Listed { circuit, generation, is_probe } in &self.listed {
            let personal = if circuit.is_personal { PERSONAL } else { 0 };
            let probe = if *is_probe { PROBE_HERE } else { 0 };
            out.put([circuit.kind as u8 | personal | probe]);
            out.put(generation.to_le_bytes());
        }
        let mac = key.mac(out.written());
        out.put(mac.to_le_bytes());
        out.written().into()
    }

    /// Reads what [`Permit::seal`] wrote; none where a byte was changed, added or lost.
    #[must_use]
    pub fn open(sealed: &[u8], key: &HashKey) -> Option<Self> {
        if sealed.len() > PERMIT_BYTES_MAX {
            return None;
        }
        let (body, mac) = sealed.split_at_checked(sealed.len().checked_sub(MAC_BYTES)?)?;
        if key.mac(body).to_le_bytes() != mac {
            return None;
        }
        let mut reader = Reader(body);
        if reader.byte()? != VERSION {
            return None;
        }
        let flags = reader.byte()?;
        let incarnation = reader.u64()?;
        let seq = reader.u64()?;
        let issued_at = Timestamp(reader.u64()?);
        let breaker = reader.u64()?;
        let target = reader.u64()?;
        let mut optional = |flag| if flags & flag == 0 { Some(0) } else { reader.u64() };
        let caller = optional(WITH_CALLER)?;
        let credential = optional(WITH_CREDENTIAL)?;
        let arguments = optional(WITH_ARGUMENTS)?;
        let session = optional(WITH_SESSION)?;
        let call = optional(WITH_CALL)?;
        let arguments_bytes = if flags & WITH_SIZE == 0 { None } else { Some(reader.u32()?) };
        let mut listed = Vec::new();
        while !reader.0.is_empty() {
            let tag = reader.byte()?;
            let kind = *CircuitKind::ALL.get(usize::from(tag & !(PERSONAL | PROBE_HERE)))?;
            let circuit = CircuitRef { kind, is_personal: tag & PERSONAL != 0 };
            listed.push(Listed { circuit, generation: reader.u32()?, is_probe: tag & PROBE_HERE != 0 });
        }
        let is_probe = flags & PROBE != 0;
        Some(Self {
            incarnation,
            seq,
            issued_at,
            breaker,
            target,
            caller,
            credential,
            arguments,
            session,
            call,
            arguments_bytes,
            is_probe,
            listed,
        })
    }
}

/// Bytes on the stack until their number is known.
struct Writer {
    bytes: [u8; PERMIT_BYTES_MAX],
    len: usize,
}

impl Writer {
    /// INVARIANT: all fields of a permit fit (a test seals the longest); what did not would fail its proof.
    fn put<const N: usize>(&mut self, part: [u8; N]) {
        if let Some(place) = self.bytes.get_mut(self.len..).and_then(|rest| rest.first_chunk_mut::<N>()) {
            *place = part;
            self.len += N;
        }
    }

    fn written(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests;
