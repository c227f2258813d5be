//! Where the ledger of a site is: in its state directory, or in a database of its own. The tests of approvals,
//! outputs and stores run once with each.

use portcullis::state::{PostgresAddress, StatePlace};
use portcullis_tests_postgres as postgres;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::sync::Mutex;

/// The variable with the port of the server, if ledgers are in databases.
const PORT: &str = "PORTCULLIS_TEST_LEDGERS";

/// The databases that this process knows to exist.
static CREATED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The variable with the state directory, the address and the key of one of several hosts, separated by spaces.
pub const PLACE: &str = "PORTCULLIS_TEST_PLACE";

/// Returns the place of a state directory, with its ledger where the variables say.
pub fn place(state: impl AsRef<Path>) -> StatePlace {
    if let Ok(given) = env::var(PLACE) {
        let [state, address, key] = given.split(' ').collect::<Vec<_>>()[..] else { panic!("{given}") };
        return StatePlace::from(state).ledger_in(PostgresAddress::new(address.to_owned())).ledger_key(key.into());
    }
    let place = StatePlace::from(state.as_ref());
    match ledger_address(state.as_ref()) {
        Some(address) => place.ledger_in(PostgresAddress::new(address)),
        None => place,
    }
}

/// Runs a statement on the ledger of a state directory, and returns the number in the first column of its first row.
pub fn ledger_number(state: &Path, statement: &str) -> i64 {
    match ledger_address(state) {
        Some(address) => {
            let (port, database) = address.rsplit_once(':').unwrap().1.split_once('/').unwrap();
            let answer = postgres::query_ledger(port.parse().unwrap(), database, statement).unwrap();
            answer.lines().next().unwrap().trim().parse().unwrap()
        }
        None => {
            let ledger = rusqlite::Connection::open(state.join("ledger.sqlite")).unwrap();
            let mut statement = ledger.prepare(statement).unwrap();
            let numbers = statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
            numbers[0]
        }
    }
}

/// Returns the ids of the outputs of a state directory's ledger, sorted, if it is in a database.
pub fn outputs_in_database(state: &Path) -> Option<Vec<String>> {
    let address = ledger_address(state)?;
    let (port, database) = address.rsplit_once(':').unwrap().1.split_once('/').unwrap();
    let statement = "SELECT id FROM portcullis.output ORDER BY id";
    let ids = postgres::query(port.parse().unwrap(), database, statement).unwrap();
    Some(ids.lines().map(str::to_owned).collect())
}

/// Returns the address of a state directory's ledger, if it is in a database.
pub(crate) fn ledger_address(state: &Path) -> Option<String> {
    let port = env::var(PORT).ok()?.parse().unwrap();
    let digest = Sha256::digest(state.as_os_str().as_encoded_bytes());
    let database: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    let database = format!("ledger_{database}");
    let mut created = CREATED.lock().unwrap();
    if created.insert(database.clone())
        && let Err(error) = postgres::create(port, &database)
    {
        // Another process of the same test was first.
        assert!(error.to_string().contains("already exists"), "{error:?}");
    }
    Some(postgres::address_at(port, &database))
}
