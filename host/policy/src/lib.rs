//! May a call run, and with what: names, rules, limits and grants, without any I/O.
