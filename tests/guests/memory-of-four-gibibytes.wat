;; Has the maximum memory from the start.
(memory $memory 65536)
