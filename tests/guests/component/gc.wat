;; Garbage-collected structures: not enabled.
(core module $gc (type $node (struct (field i64))) (func (drop (struct.new $node (i64.const 1)))))
