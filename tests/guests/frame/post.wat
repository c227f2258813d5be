;; Frees nothing: the store is dropped after the call.
(func $post (param i32))
