;; A plugin that behaves: it has nothing to say, so that the frame speaks for it, and answers with its arguments.
