//! The generation of the ledger: a sealed number that increases with each change of a sealed row. If the audit log
//! names a newer generation, the file is an older copy, and its rows do not count.

use super::anchors::{self, AnchoredChain};
use super::backend::{self, SqlTransaction, params};
use super::database::LedgerChange;
use super::error::LedgerError;
use super::live_hosts::{self, PoliciesInForce};
use super::seal::Seal;
use crate::state_directory::HostDirectories;
use std::io;

/// The table's name in its seals.
const TABLE: &str = "generation";

/// The generation of a ledger in which no sealed row was ever written.
pub const FIRST_GENERATION: u64 = 1;

/// The content of a ledger whose rows no longer count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Remembered approvals that were revoked.
    pub approvals: usize,
    /// Requests that were withdrawn.
    pub requests: usize,
    /// Trusted identities that were removed.
    pub trusted: usize,
}

impl LedgerChange<'_> {
    /// Returns the generation. It is zero if this host did not seal the row.
    pub fn generation(&self) -> Result<u64, LedgerError> {
        read(self.transaction, self.seal)
    }

    /// Fails if the ledger is older than the newest generation that this process has seen, because the file was
    /// replaced while it was open.
    pub(super) fn check_generation(&self, seen: u64) -> Result<(), LedgerError> {
        let found = self.generation()?;
        if found < seen { Err(LedgerError::RolledBack { found, seen }) } else { Ok(()) }
    }

    /// Starts the next generation, and returns it.
    pub(super) fn advance(&self) -> Result<u64, LedgerError> {
        let next = self.generation()?.saturating_add(1);
        self.set_generation(next)?;
        Ok(next)
    }

    /// Sets the generation.
    pub(super) fn set_generation(&self, number: u64) -> Result<(), LedgerError> {
        let seal = self.seal.of(TABLE, &[&number.to_string()]);
        let insert = "INSERT INTO generation (id, number, seal) VALUES (1, ?1, ?2) \
                      ON CONFLICT (id) DO UPDATE SET number = ?1, seal = ?2";
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.transaction.execute(insert, params![number, seal.as_slice()])?;
        Ok(())
    }

    /// Revokes every remembered approval, withdraws every request that has not begun, and removes trusted identities
    /// and posted entries. The generation is then the one after `newest`.
    pub fn forget(&self, newest: u64) -> Result<Forgotten, LedgerError> {
        let now = self.now();
        // A row without a valid seal gives no right, so it can stay.
        let (mut answers, _) = self.answers(now, true)?;
        answers.retain(|row| row.revoked_at.is_none());
        let approvals = answers.len();
        answers.into_iter().try_for_each(|row| self.revoke(row, now))?;
        let requests = self.withdraw_all("the ledger was replaced by an older copy")?;
        let trusted = self.transaction.execute("DELETE FROM trusted", params![])?;
        // The audit log may already have the entries that wait in the older copy.
        self.transaction.execute("DELETE FROM outbox", params![])?;
        // The end of the change advances the generation once more, because a sealed row was written.
        self.set_generation(newest)?;
        self.sealed.set(true);
        Ok(Forgotten { approvals, requests, trusted: usize::try_from(trusted).unwrap_or(usize::MAX) })
    }
}

/// Reads a state directory's ledger without opening it as a host does.
pub struct LedgerPeek {
    state: HostDirectories,
    seal: Seal,
}

impl LedgerPeek {
    /// Returns a peek at the ledger of a state directory. The ledger need not exist.
    ///
    /// # Errors
    /// The directory cannot be used.
    pub fn of(state: &HostDirectories) -> io::Result<Self> {
        Ok(Self { state: state.try_clone()?, seal: Seal::new(&state.ledger_key) })
    }

    /// Returns the generation. `None` if there is no ledger.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn generation(&self) -> Result<Option<u64>, LedgerError> {
        // A ledger of an earlier version has no such table, and then counts as one without sealed rows.
        let mut generation = Ok(FIRST_GENERATION);
        let found = backend::peek(&self.state, &self.seal, TABLE, &mut |transaction| {
            generation = read(transaction, &self.seal)
        })?;
        if found { generation.map(Some) } else { Ok(None) }
    }
}

impl LedgerPeek {
    /// Returns the anchors of all audit logs. There are none without a ledger. `None` if the ledger is not shared.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn anchors(&self) -> Result<Option<Vec<AnchoredChain>>, LedgerError> {
        self.shared(anchors::all)
    }

    /// Returns the policies of the hosts that run now. `None` if the ledger is not shared.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn policies(&self) -> Result<Option<PoliciesInForce>, LedgerError> {
        self.shared(|transaction, _| live_hosts::policies(transaction))
    }

    fn shared<T: Default>(
        &self,
        read: impl Fn(&dyn SqlTransaction, &Seal) -> Result<T, LedgerError>,
    ) -> Result<Option<T>, LedgerError> {
        if !self.state.shares_ledger() {
            return Ok(None);
        }
        // What stays if there is no ledger, or one of an earlier version.
        let mut found = Ok(T::default());
        backend::peek(&self.state, &self.seal, TABLE, &mut |transaction| found = read(transaction, &self.seal))?;
        found.map(Some)
    }
}

fn read(transaction: &dyn SqlTransaction, seal: &Seal) -> Result<u64, LedgerError> {
    let found: Option<(i64, Vec<u8>)> =
        transaction.row("SELECT number, seal FROM generation", params![], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Some((number, sealed)) = found else { return Ok(FIRST_GENERATION) };
    let number = u64::try_from(number).unwrap_or(0);
    // Zero is older than any generation that the audit log names. So a forged number reads as an older copy.
    Ok(if seal.holds(TABLE, &[&number.to_string()], &sealed) { number } else { 0 })
}
