;; Never returns from its start function.
(func $start (loop $for-ever (br $for-ever)))
(start $start)
