;; Structures that the engine collects: off.
(core module $gc (type $node (struct (field i64))) (func (drop (struct.new $node (i64.const 1)))))
