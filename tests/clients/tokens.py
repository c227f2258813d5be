"""How many tokens texts have, by the newest of the tokenizers that mistral-common carries inside of its wheel.

`texts` names a JSON file with an array of texts. What is printed is a JSON array of their counts, in their order."""

import json
import pathlib
import sys

from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from mistral_common.tokens.tokenizers.utils import __file__ as inside

TOLD = json.loads(sys.argv[1])


def tokenizer():
    """The vocabularies carry the day they were made in their names."""
    data = pathlib.Path(inside).parents[2] / "data"
    return Tekkenizer.from_file(max(data.glob("tekken_*.json"), key=lambda path: path.name))


def main():
    texts = json.loads(pathlib.Path(TOLD["texts"]).read_text(encoding="utf-8"))
    assert isinstance(texts, list) and texts, "no texts"
    model = tokenizer()
    print(json.dumps([len(model.encode(text, bos=False, eos=False)) for text in texts]))


main()
