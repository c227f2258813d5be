;; Wants the network, the web, another version of a clock, and something made up.
(import "wasi:sockets/tcp@0.2.12" (instance $sockets))
(import "wasi:http/outgoing-handler@0.2.12" (instance $http))
(import "wasi:clocks/monotonic-clock@0.3.0" (instance $clock))
(import "acme:spy/listen@1.0.0" (instance $spy))
(import "portcullis:tool/context@0.2.0" (instance $future))
(import "plain" (instance $plain))
