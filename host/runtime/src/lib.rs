//! Host for tools that nobody has to trust: catalog, the way of a call, approvals and records.
