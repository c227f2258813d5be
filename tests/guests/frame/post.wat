;; Has nothing to give back: the store is dropped after the call.
(func $post (param i32))
