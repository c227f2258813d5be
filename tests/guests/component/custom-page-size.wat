;; Memory in pages of one byte: off.
(core module $custom-page-size (memory 1 (pagesize 1)))
