//! Does to a directory whatever it is told to, and says what came of it.
