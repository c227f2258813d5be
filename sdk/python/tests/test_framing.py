"""Requests of HTTP clients, put together from their pieces."""

import time
import unittest

from portcullis.framing import Reader, Request

CHUNKED = b"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
# What is linear takes far less, and what is not takes minutes.
SECONDS_MAX = 10


class Framing(unittest.TestCase):
    def test_a_request_is_whole_when_its_body_is(self) -> None:
        reader = Reader()
        for piece in (b"PUT /x HTTP/1.1\r\nContent-", b"Length: 5\r\n\r\n", b"ab", b"c"):
            self.assertIsNone(reader.feed(piece))
        self.assertEqual(reader.feed(b"de"), Request("PUT", "/x", [("content-length", b"5")], b"abcde"))

    def test_a_request_may_have_no_body(self) -> None:
        whole = Reader().feed(b"GET /x?y=1 HTTP/1.1\r\nA: b\r\n\r\n")
        self.assertEqual(whole, Request("GET", "/x?y=1", [("a", b"b")], b""))

    def test_chunks_are_put_together(self) -> None:
        expected = [("host", b"h"), ("transfer-encoding", b"chunked"), ("content-length", b"7")]
        sent = CHUNKED + b"3;x=1\r\na\r\n\r\n4\r\nbcde\r\n0\r\n\r\n"
        for size in (1, 2, 5, len(sent)):
            reader, whole = Reader(), None
            for start in range(0, len(sent), size):
                whole = whole or reader.feed(sent[start : start + size])
            self.assertEqual(whole, Request("POST", "/x", expected, b"a\r\nbcde"), size)

    def test_many_pieces_take_no_longer_than_few(self) -> None:
        piece, count = b"x" * 1024, 20_000
        length = len(piece) * count
        for head, sent, last in [
            (CHUNKED, b"400\r\n" + piece + b"\r\n", b"0\r\n\r\n"),
            (b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (length + 1), piece, b"x"),
        ]:
            begin = time.perf_counter()
            reader = Reader()
            reader.feed(head)
            for _ in range(count):
                reader.feed(sent)
            whole = reader.feed(last)
            assert whole is not None
            self.assertGreaterEqual(len(whole.body), length)
            self.assertLess(time.perf_counter() - begin, SECONDS_MAX)


if __name__ == "__main__":
    unittest.main()
