"""Tests of the tools as plain Python: no host, no component."""

import unittest

from app import plugin
from portcullis.testing import Host, call, problems


class Greet(unittest.TestCase):
    def test_greets_by_name(self) -> None:
        answer = call(plugin, "greet", {"name": "Ada"}, Host())
        self.assertEqual(answer.text, "Hello, Ada!")

    def test_a_host_would_load_it(self) -> None:
        self.assertEqual(problems(plugin), [])


if __name__ == "__main__":
    unittest.main()
