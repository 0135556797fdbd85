//! The store of a service that starts: where it is, whether it can be used, and what to do where it cannot.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::wiring::environment;
use crate::config::{Durability, OnStoreError, StoreKeys};
use crate::engine::keep::{Keeper, Restored};
use crate::engine::ports::{Begun, Journal as _, StoreError, StoreErrorKind};
use crate::engine::{Engine, Identity};
use crate::service::keeping::StoreSettings;
use crate::store::Directory;
use crate::store::redb::RedbJournal;

/// A store that a life has begun with.
pub(crate) struct Durable {
    keys: StoreKeys,
    /// None where it could not be used, and the operator said to go on.
    open: Option<(Directory, RedbJournal, Begun)>,
    /// What went wrong, in one line; empty where nothing did.
    trouble: String,
}

/// What an operator may do about a store that cannot be used.
const WAYS_OUT: &str = "mend it, give another `data_dir`, or begin empty with on_store_error = \"memory\"";

/// Where what outlives a restart is kept: as configured, or where the platform keeps the state of programs.
pub(crate) fn data_dir(keys: &StoreKeys) -> anyhow::Result<PathBuf> {
    if let Some(configured) = &keys.data_dir {
        return Ok(configured.clone());
    }
    let of = |name: &str| environment(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || {
        of("HOME").map(|home| {
            home.join(if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/state" })
        })
    };
    let own = of("STATE_DIRECTORY").filter(|path| path.is_absolute()); // systemd made it for this service alone
    let shared =
        || of("XDG_STATE_HOME").filter(|path| path.is_absolute()).or_else(home).map(|path| path.join("tripnote"));
    own.or_else(shared).context("no directory for what outlives a restart: give `data_dir`, or serve with --ephemeral")
}

impl Durable {
    /// Begins a life of the store in a directory.
    pub(crate) fn open(path: &Path, keys: StoreKeys) -> anyhow::Result<Self> {
        let directory = match Directory::take(path) {
            Ok(directory) => directory,
            Err(error) => return Self::without(keys, None, &error),
        };
        match begin(&directory) {
            Ok((journal, begun)) => Ok(Self { keys, open: Some((directory, journal, begun)), trouble: String::new() }),
            Err(error) => Self::anew(keys, directory, &error),
        }
    }

    /// Goes on without what the store holds, where the operator said so.
    fn anew(keys: StoreKeys, directory: Directory, error: &StoreError) -> anyhow::Result<Self> {
        if error.kind != StoreErrorKind::Damaged {
            return Self::without(keys, Some(directory), error);
        }
        if keys.on_error == OnStoreError::Refuse {
            bail!("`{}` cannot be used: {error}: {WAYS_OUT}", directory.file().display());
        }
        let aside = match directory.set_aside() {
            Ok(aside) => aside.0,
            Err(failed) => return Self::without(keys, Some(directory), &failed),
        };
        let trouble = format!("begun empty: {error}; the file was set aside as `{}`", aside.display());
        tracing::error!(trouble, "the store was damaged");
        match begin(&directory) {
            Ok((journal, begun)) => Ok(Self { keys, open: Some((directory, journal, begun)), trouble }),
            Err(failed) => Self::without(keys, Some(directory), &failed),
        }
    }

    /// Goes on in memory only, where the operator said so. A directory that another process has is never passed over.
    fn without(keys: StoreKeys, directory: Option<Directory>, error: &StoreError) -> anyhow::Result<Self> {
        drop(directory);
        if error.kind == StoreErrorKind::Held {
            bail!("{error}");
        }
        if keys.on_error == OnStoreError::Refuse {
            bail!("the store cannot be used: {error}: {WAYS_OUT}");
        }
        tracing::error!(why = error.message, "degraded: the store cannot be used, what is kept is in memory only");
        Ok(Self { keys, open: None, trouble: error.message.clone() })
    }

    /// How the life has begun; none without a store.
    pub(crate) fn begun(&self) -> Option<Begun> {
        self.open.as_ref().map(|(_, _, begun)| *begun)
    }

    /// Who this life is; none without a store.
    pub(crate) fn identity(&self) -> Option<Identity> {
        let (directory, _, begun) = self.open.as_ref()?;
        Some(Identity { incarnation: begun.incarnation, names: directory.names(), permits: directory.permits() })
    }

    /// Loads what the store holds into an engine that `make` makes for an identity; a second one where the first was
    /// loaded half when the damage came to light.
    pub(crate) fn load(self, make: &dyn Fn(Option<Identity>) -> anyhow::Result<Arc<Engine>>) -> anyhow::Result<Loaded> {
        let identity = self.identity();
        let engine = make(identity)?;
        let Self { keys, open, trouble } = self;
        let Some((directory, journal, _)) = open else {
            return Ok(Loaded {
                engine,
                store: settings(&keys, None, trouble),
                restored: Restored::default(),
                directory: None,
            });
        };
        match Keeper::restore(Arc::clone(&engine), Box::new(journal)) {
            Ok((keeper, restored)) => {
                let store = settings(&keys, Some(keeper), trouble);
                Ok(Loaded { engine, store, restored, directory: Some(directory) })
            }
            Err(error) => Self::anew(keys, directory, &error)?.load(make),
        }
    }
}

/// A service's engine with what outlived the last life.
pub(crate) struct Loaded {
    pub(crate) engine: Arc<Engine>,
    pub(crate) store: StoreSettings,
    pub(crate) restored: Restored,
    /// Held as long as the service runs.
    pub(crate) directory: Option<Directory>,
}

fn settings(keys: &StoreKeys, keeper: Option<Keeper>, trouble: String) -> StoreSettings {
    StoreSettings {
        keeper,
        flush_every: Duration::from_millis(keys.flush_every_ms),
        is_strict: keys.durability == Durability::Strict,
        trouble,
    }
}

fn begin(directory: &Directory) -> Result<(RedbJournal, Begun), StoreError> {
    let mut journal = directory.journal()?;
    let begun = journal.begin()?;
    Ok((journal, begun))
}
