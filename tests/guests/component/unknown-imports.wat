;; Imports unsupported versions of sockets, a store, a clock and the contract, an incoming HTTP handler, and invented
;; names.
(import "wasi:sockets/tcp@0.3.0" (instance $sockets))
(import "wasi:http/incoming-handler@0.2.12" (instance $http))
(import "wasi:keyvalue/store@0.2.0-draft2" (instance $store))
(import "wasi:clocks/monotonic-clock@0.3.0" (instance $clock))
(import "acme:spy/listen@1.0.0" (instance $spy))
(import "portcullis:tool/context@0.3.0" (instance $future))
(import "plain" (instance $plain))
