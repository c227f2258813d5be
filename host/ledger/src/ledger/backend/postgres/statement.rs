//! Statements, values and rows of PostgreSQL.

use crate::ledger::backend::error::{DatabaseFault, Result};
use crate::ledger::backend::row::SqlRow;
use crate::ledger::backend::value::SqlValue;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Error, Row};

/// Rewrites a statement of the ledger in the words of PostgreSQL. No statement has a text with a question mark.
pub(super) fn dialect(sql: &str) -> String {
    sql.replace('?', "$").replace("instr(", "strpos(")
}

impl ToSql for SqlValue<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Truth(value) => value.to_sql(ty, out),
            // Some functions of PostgreSQL take an INT4, and the values of the ledger are 64-bit numbers.
            Self::Integer(value) if *ty == Type::INT4 => i32::try_from(*value)?.to_sql(ty, out),
            Self::Integer(value) => value.to_sql(ty, out),
            Self::Text(value) => value.to_sql(ty, out),
            Self::Bytes(value) => value.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::BOOL, Type::INT4, Type::INT8, Type::TEXT, Type::BYTEA].contains(ty)
    }

    to_sql_checked!();
}

impl SqlRow for Row {
    fn integer(&self, column: usize) -> Result<Option<i64>> {
        let ty = self.columns().get(column).map(tokio_postgres::Column::type_);
        if ty == Some(&Type::INT4) {
            return Ok(self.try_get::<_, Option<i32>>(column)?.map(i64::from));
        }
        typed(self.try_get(column), column)
    }

    fn truth(&self, column: usize) -> Result<Option<bool>> {
        typed(self.try_get(column), column)
    }

    fn text(&self, column: usize) -> Result<Option<String>> {
        typed(self.try_get(column), column)
    }

    fn bytes(&self, column: usize) -> Result<Option<Vec<u8>>> {
        typed(self.try_get(column), column)
    }
}

fn typed<T>(value: std::result::Result<T, Error>, column: usize) -> Result<T> {
    value.map_err(|_| DatabaseFault::ColumnType(column))
}
