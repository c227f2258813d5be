// An empty file of assembly lets this package declare functions without a body.
