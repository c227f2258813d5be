;; Wants all there is from the first instruction on.
(memory $memory 65536)
