"""Run `python3 -m unittest` in this folder. No WebAssembly is needed."""

import json
import random
import unittest

import trailers
from trailers import Fold, commit_of

WANTED = ["Decision", "Rejected", "Constraint", "Ticket"]
MESSAGE = """Cache tokens in Redis

They were read from disk at every request.

Decision: keep tokens in Redis, not in process memory
Rejected: one cache per worker
Ticket: AUTH-12

Co-Authored-By: An Agent <agent@example.com>"""


def use(command, use_id="t1", **more):
    block = {"type": "tool_use", "id": use_id, "name": "Bash", "input": {"command": command}, **more}
    record = {"type": "assistant", "uuid": f"u-{use_id}", "timestamp": "2026-02-23T10:00:00.500Z"}
    return json.dumps({**record, "message": {"role": "assistant", "content": [block]}}, ensure_ascii=False)


def result(content, use_id="t1", is_error=False):
    block = {"type": "tool_result", "tool_use_id": use_id, "content": content, "is_error": is_error}
    return json.dumps({"type": "user", "message": {"role": "user", "content": [block]}})


def heredoc(message):
    return f"git add -A && git commit -m \"$(cat <<'EOF'\n{message}\nEOF\n)\" && git status"


def fold(lines, wanted=WANTED, calls=1):
    """Runs the lines in several calls, each with the state of the previous one, as the host does."""
    state, drafts, size = None, {}, max(1, -(-len(lines) // calls))
    for at in range(0, len(lines), size):
        one = Fold(state, wanted)
        for line in lines[at : at + size]:
            one.line(line)
        drafts.update(one.drafts)
        for key in one.retracted:
            drafts.pop(key, None)
        state = one.state()
    return drafts, json.loads(state or "{}")


class Commands(unittest.TestCase):
    def test_messages_as_agents_write_them(self):
        wanted = ("Fix it", [("Decision", "do x")])
        for command in (
            "git commit -m 'Fix it\n\nDecision: do x'",
            'git commit -m "Fix it" -m "Decision: do x"',
            'cd a && GIT_EDITOR=true git -C b commit -qam "Fix it\n\nDecision: do x" && git push',
            heredoc("Fix it\n\nDecision: do x"),
            "git commit -F - <<'EOF'\nFix it\n\nDecision: do x\nEOF\n",
            "git commit --file=- <<EOF && git push\nFix it\n\nDecision: do x\nEOF",
            "git commit --message='Fix it\n\nDecision: do x'",
            "git commit \\\n  -m 'Fix it' \\\n  -m 'Decision: do x'",
        ):
            with self.subTest(command):
                commit = commit_of(command)
                self.assertEqual((commit.subject, commit.trailers), wanted)

    def test_quotes_and_apostrophes_inside_of_messages(self):
        commit = commit_of(heredoc('Don\'t say "no"\n\nDecision: it\'s "yes"'))
        self.assertEqual(commit.subject, 'Don\'t say "no"')
        self.assertEqual(commit.trailers, [("Decision", 'it\'s "yes"')])
        self.assertEqual(commit_of('git commit -m "a \\"b\\" c"').subject, 'a "b" c')

    def test_what_is_no_commit(self):
        for command in (
            "echo 'git commit -m x'",
            "git log --grep commit -m x",
            "git commit --amend --no-edit",
            "git commit --dry-run -m 'x\n\nDecision: y'",
            "git commit-tree -m 'x\n\nDecision: y'",
            "git commit",
            "git commit -m",
        ):
            with self.subTest(command):
                self.assertIsNone(commit_of(command))

    def test_trailers_stand_in_paragraphs_of_their_own(self):
        found = trailers.trailers_of(MESSAGE)
        self.assertEqual([name for name, _ in found], ["Decision", "Rejected", "Ticket", "Co-Authored-By"])
        self.assertEqual(trailers.trailers_of("s\n\nDecision: a\n  and b"), [("Decision", "a and b")])
        self.assertEqual(trailers.trailers_of("s\n\nWe said:\nDecision: a"), [])
        self.assertEqual(trailers.trailers_of("Decision: a"), [])


class Folding(unittest.TestCase):
    def test_a_commit_that_came_about(self):
        drafts, state = fold([use(heredoc(MESSAGE)), result("[main 1a2b3c4] Cache tokens in Redis\n 1 file changed")])
        (draft,) = drafts.values()
        self.assertEqual(draft.kind, "decision")
        self.assertEqual(draft.title, "keep tokens in Redis, not in process memory")
        self.assertIn("Rejected: one cache per worker", draft.content)
        self.assertIn("Commit: Cache tokens in Redis", draft.content)
        self.assertEqual(draft.keywords, ["AUTH-12"])
        self.assertEqual((draft.uuid, draft.at), ("u-t1", 1771840800500))
        self.assertEqual(draft.attributes, [("commit", "1a2b3c4"), ("ticket", "AUTH-12")])
        self.assertEqual(state["notes"][0][3], ["one cache per worker"])
        self.assertEqual(state["pending"], {})

    def test_a_commit_that_did_not(self):
        for answer in (
            result("husky - pre-commit hook failed", is_error=True),
            result("On branch main\nnothing to commit, working tree clean"),
            result("fatal: not a git repository"),
            result("[main 1a2b3c4] x", use_id="another"),
        ):
            self.assertEqual(fold([use(heredoc(MESSAGE)), answer])[0], {})

    def test_results_in_blocks_and_silent_ones(self):
        for content in ([{"type": "text", "text": "[main 1a2b3c4] x"}], "", None):
            self.assertEqual(len(fold([use(heredoc(MESSAGE)), result(content)])[0]), 1)

    def test_kinds_by_trailer(self):
        message = "s\n\nConstraint: the API allows 10 calls a second\nRejected: polling"
        drafts, _ = fold([use(heredoc(message)), result("")])
        kinds = {draft.kind: draft.title for draft in drafts.values()}
        self.assertEqual(kinds, {"decision": "s", "learning": "Constraint: the API allows 10 calls a second"})

    def test_settings_say_which_trailers_count(self):
        lines = [use(heredoc("s\n\nLesson: never again\ndecision: x")), result("")]
        self.assertEqual([d.title for d in fold(lines, ["Lesson"])[0].values()], ["Lesson: never again"])
        self.assertEqual([d.title for d in fold(lines, ["Decision"])[0].values()], ["x"])
        self.assertEqual(fold(lines, [])[0], {})

    def test_an_amended_commit_takes_back(self):
        lines = [
            use(heredoc("s\n\nDecision: a\nConstraint: c"), "t1"),
            result("", "t1"),
            use("git commit --amend -m 's\n\nDecision: b\nConstraint: c'", "t2"),
            result("", "t2"),
        ]
        for calls in (1, 2, 4):
            drafts, state = fold(lines, calls=calls)
            self.assertEqual(sorted(draft.title for draft in drafts.values()), ["Constraint: c", "b"])
            self.assertEqual(len(state["notes"]), 2)

    def test_one_call_or_ten(self):
        lines = []
        for n in range(30):
            lines.append(use(heredoc(f"s{n}\n\nDecision: d{n % 20}\nTicket: T-{n}"), f"t{n}"))
            lines.append(result("nothing to commit" if n % 7 == 0 else "", f"t{n}"))
        whole = fold(lines)
        for calls in (2, 10, 60):
            self.assertEqual(fold(lines, calls=calls), whole)

    def test_two_records_on_a_line_and_lines_that_are_none(self):
        one = Fold(None, WANTED)
        one.line("\0\0" + use(heredoc(MESSAGE)) + " " + result(""))
        for text in ("// a comment", '{"type":', use(heredoc(MESSAGE))[:-1], "[1, 2]", "7", ""):
            one.line(text)
        self.assertEqual((len(one.drafts), one.malformed), (1, 3))

    def test_any_json_is_survived(self):
        random.seed(7)
        leaves = [None, True, 7, 1e300, "", "Decision: x", "git commit -m 'a\n\nDecision: b'", [], {}, "tool_use", "Bash"]
        keys = ["message", "content", "type", "name", "input", "command", "id", "tool_use_id", "is_error", "timestamp", "uuid"]

        def value(depth):
            pick = random.random()
            if depth == 0 or pick < 0.3:
                return random.choice(leaves)
            if pick < 0.6:
                return [value(depth - 1) for _ in range(random.randrange(4))]
            return {random.choice(keys): value(depth - 1) for _ in range(random.randrange(6))}

        for _ in range(5_000):
            one = Fold(json.dumps(value(3)), ["Decision", value(1)])
            one._read(json.dumps(value(6)))
            one.state()
        one = Fold(None, WANTED)
        one._read("[" * 100_000)
        self.assertEqual(one.malformed, 1)

    def test_the_state_stays_small(self):
        one = Fold(None, WANTED)
        for n in range(400):
            message = f"s{n}\n\n" + "\n".join(f"Decision: {k} {n} " + "한" * 400 for k in range(5))
            one.line(use(heredoc(message), f"t{n}"))
            if n % 2:
                one.line(result("", f"t{n}"))
        state = one.state()
        self.assertLess(len(state.encode()), 256 << 10)
        self.assertEqual(Fold(state, WANTED).state(), state)


if __name__ == "__main__":
    unittest.main()
