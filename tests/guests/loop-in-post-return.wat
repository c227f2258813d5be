;; Returns a result, and never returns from the post-return function.
(func $post (param i32) (loop $for-ever (br $for-ever)))
