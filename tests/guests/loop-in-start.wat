;; Never comes back from being instantiated.
(func $start (loop $for-ever (br $for-ever)))
(start $start)
