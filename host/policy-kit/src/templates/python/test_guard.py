"""Tests of `guard.py`; run `python3 -m unittest` in this folder."""

import dataclasses
import unittest

from guard import told


@dataclasses.dataclass
class Text:
    text: str
    used: list[str]


class Failure(Exception):
    pass


@told(Failure)
def stage(value) -> Text | None:
    if value == "broken":
        return int("many")
    if value == "refused":
        raise Failure("as the contract says")
    return value


class Guard(unittest.TestCase):
    def test_what_fits_passes(self):
        self.assertEqual(stage(Text("a", ["b"])), Text("a", ["b"]))
        self.assertIsNone(stage(None))

    def test_an_exception_is_told_with_its_place(self):
        with self.assertRaisesRegex(Failure, r"ValueError: invalid literal .*\n  at test_guard\.py, line \d+, in stage"):
            stage("broken")
        with self.assertRaisesRegex(Failure, "^as the contract says$"):
            stage("refused")

    def test_a_wrong_type_is_told_with_its_field(self):
        for value, wrong in [
            ("text", "the result is a str, not "),
            (Text(5, []), r"the result\.text is a int, not str"),
            (Text("a", ["b", None]), r"the result\.used\[1\] is a NoneType, not str"),
        ]:
            with self.assertRaisesRegex(Failure, "TypeError: stage returned a wrong type: " + wrong):
                stage(value)


if __name__ == "__main__":
    unittest.main()
