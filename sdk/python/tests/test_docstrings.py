"""Docstrings in the three styles that people write."""

import unittest

from portcullis.docstrings import parse

GOOGLE = """Moves a file
    to a place.

    Args:
        source: What is moved,
            as `files` lists it.
        *more (str): Others.

    Returns:
        Nothing.
    """
NUMPY = """Moves a file
    to a place.

    Parameters
    ----------
    source : str
        What is moved,
        as `files` lists it.
    first, second : int, optional
        Numbers.

    Returns
    -------
    str
        Nothing.
    """
SPHINX = """Moves a file
    to a place.

    :param source: What is moved,
        as `files` lists it.
    :type source: str
    :param int count: How many.
    :raises ValueError: Never.
    :returns: Nothing.
    """


class Docstrings(unittest.TestCase):
    def test_styles(self) -> None:
        source = {"source": "What is moved, as `files` lists it."}
        for text, words in [
            (GOOGLE, source | {"more": "Others."}),
            (NUMPY, source | {"first": "Numbers.", "second": "Numbers."}),
            (SPHINX, source | {"count": "How many."}),
        ]:
            with self.subTest(text=text):
                self.assertEqual(parse(text), ("Moves a file to a place.", words))

    def test_words_that_begin_no_section_stay(self) -> None:
        for text in ("Says: yes.", "Parameters matter.", "Title\n---\n\nMore.", ":class:`X` it is."):
            self.assertEqual(parse(text)[1], {})
            self.assertIn(text.split()[-1], parse(text)[0])
        self.assertEqual(parse(None), ("", {}))


if __name__ == "__main__":
    unittest.main()
