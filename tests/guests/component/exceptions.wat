;; Exceptions: off.
(core module $exceptions (tag $tag) (func (throw $tag)))
