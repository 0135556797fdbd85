//! How machines are written down where the plain form of a field would not do: maps whose keys are no text, long arrays,
//! globs. Names no format.

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

/// A map as a list of pairs.
pub(crate) mod pairs {
    use std::collections::BTreeMap;

    use super::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes it.
    pub(crate) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        out.collect_seq(map)
    }

    /// Reads it; of two equal keys the last counts.
    pub(crate) fn deserialize<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(from)?.into_iter().collect())
    }
}

/// An array of any length as a list.
pub(crate) mod array {
    use super::{Deserialize, Deserializer, Error, Serializer};

    /// Writes it.
    pub(crate) fn serialize<S: Serializer, const N: usize>(array: &[u64; N], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(array)
    }

    /// Reads it; a list of another length is none.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(from: D) -> Result<[u64; N], D::Error> {
        let list = Vec::<u64>::deserialize(from)?;
        let len = list.len();
        list.try_into().map_err(|_| D::Error::invalid_length(len, &"as many numbers as there are places"))
    }
}

/// A few numbers in a place of fixed size; what is too many is left out.
pub(crate) mod few {
    use arrayvec::ArrayVec;

    use super::{Deserialize, Deserializer, Serializer};

    /// Writes it.
    pub(crate) fn serialize<S: Serializer, const N: usize>(few: &ArrayVec<u64, N>, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(few)
    }

    /// Reads it.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        from: D,
    ) -> Result<ArrayVec<u64, N>, D::Error> {
        Ok(Vec::<u64>::deserialize(from)?.into_iter().take(N).collect())
    }
}

/// Globs as they were written by whoever gave them.
pub(crate) mod globs {
    use globset::GlobMatcher;

    use super::{Deserialize, Deserializer, Error, Serializer};
    use crate::domain::breaker::routes::target_glob;

    /// Writes them.
    pub(crate) fn serialize<S: Serializer>(globs: &[GlobMatcher], out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(globs.iter().map(|glob| glob.glob().glob()))
    }

    /// Reads them.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<GlobMatcher>, D::Error> {
        let compile = |text: Box<str>| target_glob(&text).map(|glob| glob.compile_matcher()).map_err(D::Error::custom);
        Vec::<Box<str>>::deserialize(from)?.into_iter().map(compile).collect()
    }
}
