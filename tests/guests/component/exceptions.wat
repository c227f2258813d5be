;; Exceptions: not enabled.
(core module $exceptions (tag $tag) (func (throw $tag)))
