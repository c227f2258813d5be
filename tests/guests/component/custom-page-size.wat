;; Memory in pages of one byte: not enabled.
(core module $custom-page-size (memory 1 (pagesize 1)))
