//! One attempt record: what the tree reads of a failed attempt, parsed once. A bit that nobody gave is never guessed.

use std::fmt;

use super::FailureClass;

/// What the tree reads of one failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AttemptRecord {
    /// Why it failed; none where the class was empty or is an unheard-of word.
    pub failure_class: Option<FailureClass>,
    /// Which try of its binding it was, from 1; 0 is no try and is never tried again.
    pub attempt: u32,
    /// The step may write.
    pub writes: bool,
    /// The step may call tools.
    pub tools_enabled: bool,
    /// The input is still the one that the first attempt had.
    pub snapshot_same: bool,
    /// The reply was lost after dispatch: what was asked for may have happened.
    pub effect_unknown: bool,
    /// A second dispatch of the same call is recognised by the target.
    pub has_idempotency_key: bool,
    /// A policy forbids the step, wherever it would run.
    pub policy_denied: bool,
}

impl AttemptRecord {
    /// Whether a second dispatch could do a second time what was to be done once.
    #[must_use]
    pub const fn is_ambiguous(&self) -> bool {
        self.effect_unknown && self.writes && !self.has_idempotency_key
    }
}

/// An attempt record as it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawRecord<'a> {
    /// The word of a class; empty where none was given.
    pub failure_class: &'a str,
    /// As [`AttemptRecord::attempt`].
    pub attempt: u32,
    /// Required.
    pub writes: Option<bool>,
    /// Required.
    pub tools_enabled: Option<bool>,
    /// Required.
    pub snapshot_same: Option<bool>,
    /// Not given, the table stands as it is.
    pub effect_unknown: bool,
    /// Not given, there is none.
    pub has_idempotency_key: bool,
    /// Not given, nothing is denied.
    pub policy_denied: bool,
}

/// Which required bits were not given; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingBits {
    fields: Vec<&'static str>, // at most three
}

impl MissingBits {
    /// The names of the fields, in the order of the record.
    #[must_use]
    pub fn fields(&self) -> &[&'static str] {
        &self.fields
    }
}

impl fmt::Display for MissingBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<_> = self.fields.iter().map(|field| format!("`{field}`")).collect();
        let are = if named.len() == 1 { "is" } else { "are" };
        write!(f, "{} {are} missing: give true or false, a missing bit is not false", named.join(", "))
    }
}

impl std::error::Error for MissingBits {}

impl RawRecord<'_> {
    /// Parses what a caller sent.
    ///
    /// # Errors
    /// With every required bit that is missing.
    pub fn parse(&self) -> Result<AttemptRecord, MissingBits> {
        let (Some(writes), Some(tools_enabled), Some(snapshot_same)) =
            (self.writes, self.tools_enabled, self.snapshot_same)
        else {
            return Err(self.missing());
        };
        Ok(AttemptRecord {
            failure_class: FailureClass::from_word(self.failure_class),
            attempt: self.attempt,
            writes,
            tools_enabled,
            snapshot_same,
            effect_unknown: self.effect_unknown,
            has_idempotency_key: self.has_idempotency_key,
            policy_denied: self.policy_denied,
        })
    }

    fn missing(&self) -> MissingBits {
        let bits =
            [("writes", self.writes), ("tools_enabled", self.tools_enabled), ("snapshot_same", self.snapshot_same)];
        MissingBits { fields: bits.into_iter().filter(|(_, bit)| bit.is_none()).map(|(field, _)| field).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: RawRecord<'_> = RawRecord {
        failure_class: "transport",
        attempt: 2,
        writes: Some(false),
        tools_enabled: Some(true),
        snapshot_same: Some(true),
        effect_unknown: false,
        has_idempotency_key: false,
        policy_denied: false,
    };

    #[test]
    fn a_missing_bit_is_not_false_and_is_named() {
        let fault = |raw: RawRecord<'_>| raw.parse().unwrap_err();
        let one = fault(RawRecord { tools_enabled: None, ..WHOLE });
        assert_eq!(one.fields(), ["tools_enabled"]);
        assert_eq!(one.to_string(), "`tools_enabled` is missing: give true or false, a missing bit is not false");
        let two = fault(RawRecord { writes: None, snapshot_same: None, ..WHOLE });
        assert_eq!(
            two.to_string(),
            "`writes`, `snapshot_same` are missing: give true or false, a missing bit is not false"
        );
        assert_eq!(fault(RawRecord::default()).fields(), ["writes", "tools_enabled", "snapshot_same"]);
        let denied = RawRecord { policy_denied: true, ..RawRecord::default() };
        assert_eq!(denied.parse().unwrap_err().fields().len(), 3, "a denial does not excuse them");
    }

    #[test]
    fn what_was_given_is_what_is_read() {
        let record = WHOLE.parse().unwrap();
        assert_eq!(record.failure_class, Some(FailureClass::Transport));
        assert_eq!((record.attempt, record.writes, record.tools_enabled), (2, false, true));
    }

    #[test]
    fn an_unheard_of_class_is_none() {
        for word in ["", "Transport", " transport", "timeout"] {
            assert_eq!(RawRecord { failure_class: word, ..WHOLE }.parse().unwrap().failure_class, None, "{word:?}");
        }
        for class in FailureClass::ALL {
            let raw = RawRecord { failure_class: class.word(), ..WHOLE };
            assert_eq!(raw.parse().unwrap().failure_class, Some(*class));
        }
    }
}
