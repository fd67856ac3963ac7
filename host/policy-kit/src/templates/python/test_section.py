"""Tests of `section.py`; run `python3 -m unittest` in this folder."""

import unittest

from section import HEADING, section, units


class Section(unittest.TestCase):
    def test_a_line_for_each_memory(self):
        text, used = section([("1", "Use Redis"), ("2", "No\nretries")], 1000)
        self.assertEqual(text, HEADING + "- Use Redis\n- No retries\n")
        self.assertEqual(used, ["1", "2"])

    def test_the_budget_holds(self):
        memories = [(str(n), "결정 😀 " * n) for n in range(50)]
        for budget in range(0, 2000, 7):
            text, used = section(memories, budget)
            self.assertTrue(not used or units(text) <= budget)


if __name__ == "__main__":
    unittest.main()
