//! The kept outputs for embedders. They are rows of the ledger, and files or parts, so every function reads them on a
//! thread that may block.

use crate::ledger::blocking;
use crate::outputs::{KeptOutput, OutputError, OutputKeeper, Reader};

/// The kept outputs of a ledger, which were too large for a reply. Clones share them.
#[derive(Clone, Debug)]
pub struct KeptOutputs(OutputKeeper);

impl KeptOutputs {
    pub(crate) fn new(outputs: OutputKeeper) -> Self {
        Self(outputs)
    }

    /// Returns the outputs that the reader may read, newest first.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub async fn list(&self, reader: Reader<'_>) -> Result<Vec<KeptOutput>, OutputError> {
        self.look(reader, |outputs, reader| outputs.list(reader)).await
    }

    /// Returns one output.
    ///
    /// # Errors
    /// There is none, or the ledger cannot be read.
    pub async fn get(&self, reader: Reader<'_>, id: &str) -> Result<KeptOutput, OutputError> {
        let id = id.to_owned();
        self.look(reader, move |outputs, reader| outputs.get(reader, &id)).await
    }

    /// Reads at most `bytes_max` bytes of an output from `offset` on. Returns no bytes if the output ends before.
    ///
    /// ```no_run
    /// use portcullis::outputs::Reader;
    /// use portcullis::policy::Principal;
    ///
    /// # async fn example(host: &portcullis::Host) -> Result<(), portcullis::outputs::OutputError> {
    /// let reader = Reader { session: "chat-7", principal: &Principal::default() };
    /// for output in host.outputs().list(reader).await? {
    ///     let beginning = host.outputs().read(reader, &output.reference.id, 0, 4096).await?;
    ///     println!("{} begins with {} bytes", output.tool, beginning.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub async fn read(
        &self,
        reader: Reader<'_>,
        id: &str,
        offset: u64,
        bytes_max: usize,
    ) -> Result<Vec<u8>, OutputError> {
        let id = id.to_owned();
        self.look(reader, move |outputs, reader| outputs.read(reader, &id, offset, bytes_max)).await
    }

    async fn look<T: Send + 'static>(
        &self,
        reader: Reader<'_>,
        work: impl FnOnce(&OutputKeeper, Reader<'_>) -> Result<T, OutputError> + Send + 'static,
    ) -> Result<T, OutputError> {
        let (outputs, session, principal) = (self.0.clone(), reader.session.to_owned(), reader.principal.clone());
        blocking(move || work(&outputs, Reader { session: &session, principal: &principal })).await
    }
}
