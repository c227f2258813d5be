"""SQLite as a component has it: without the locks of a system, and without losing what others wrote."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from portcullis import Context, Failed, Plugin
from portcullis.context import Call
from portcullis.testing import Host, call

plugin = Plugin("databases", version="1.0.0", description="Uses databases.")
plugin.directory("data", "the databases")
# What a connection that outlives its tool is kept in.
kept: list[sqlite3.Connection] = []


def run(context: Context, statements: list[str], keep: bool) -> list[object]:
    connection = sqlite3.connect(context.directory("data") / "a.db", timeout=0.2)
    if keep:
        kept.append(connection)
    rows: list[object] = []
    for statement in statements:
        if statement == "commit":
            connection.commit()
        elif statement.startswith("! "):
            native(*statement[2:].split(" ", 1))
        elif statement == "ask":
            context.ask("write", "a.db", "to test")
        else:
            rows += [list(row) for row in connection.execute(statement)]
    return rows


@plugin.tool(requires=["read"])
def look(context: Context, statements: list[str]) -> list[object]:
    """Reads."""
    return run(context, statements, keep=False)


@plugin.tool(requires=["read", "write"])
def change(context: Context, statements: list[str], keep: bool = False) -> list[object]:
    """Reads and writes."""
    return run(context, statements, keep)


@plugin.tool(requires=["read", "write"])
def twice(context: Context) -> list[object]:
    """Opens the database twice."""
    path = context.directory("data") / "a.db"
    first, second = sqlite3.connect(path), sqlite3.connect(str(path))
    first.execute("insert into t values (1)")
    try:
        second.execute("insert into t values (2)")
    except sqlite3.OperationalError as error:
        first.commit()
        with second:
            second.execute("insert into t values (3)")
        return [str(error), [row[0] for row in first.execute("select a from t order by a")]]
    return []


@plugin.tool(requires=["read", "write"])
def again(context: Context, other: str) -> list[object]:
    """Runs a transaction a second time."""
    # With this there is a transaction at every time, and nothing begins a statement outside of one.
    options: dict[str, Any] = {"autocommit": False} if sys.version_info >= (3, 12) else {}
    connection = sqlite3.connect(context.directory("data") / "a.db", **options)
    connection.execute("insert into t values (1)")
    native(other, "insert into t values (7)")
    try:
        connection.commit()
    except sqlite3.OperationalError as error:
        connection.execute("insert into t values (2)")
        connection.commit()
        return [str(error)[:23], [row[0] for row in connection.execute("select a from t")]]
    return []


def native(path: str, statement: str) -> None:
    """Does something in a program that knows nothing of components."""
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit(); c.close()"
    subprocess.run([sys.executable, "-c", code, path, statement], check=True)


class Databases(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(os.path.realpath(folder.name))
        self.file = self.folder / "a.db"
        native(str(self.file), "create table t (a)")

    def host(self, session: str = "one") -> Host:
        return Host(directories={"data": self.folder}, who=Call("call", session))

    def run_in(self, host: Host, tool: str, *statements: str) -> object:
        return call(plugin, tool, {"statements": list(statements)}, host).json

    def others(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path != self.file)

    def test_a_tool_that_may_only_read_reads(self) -> None:
        native(str(self.file), "insert into t values (1)")
        self.assertEqual(self.run_in(self.host(), "look", "select a from t"), [[1]])
        with self.assertRaisesRegex(Failed, "attempt to write a readonly database"):
            self.run_in(self.host(), "look", "insert into t values (2)")
        self.assertEqual(self.others(), [])

    def test_one_writer_leaves_nothing_but_what_it_wrote(self) -> None:
        host = self.host()
        self.assertEqual(self.run_in(host, "change", "insert into t values (1)", "commit", "select a from t"), [[1]])
        call(plugin, "change", {"statements": ["insert into t values (2)"], "keep": True}, host)
        self.assertEqual(self.others(), [], "what was left open is closed at the end of the call")
        self.assertEqual(self.run_in(host, "look", "select a from t"), [[1]], "and was not committed")

    def test_two_connections_of_one_call_do_not_write_at_once(self) -> None:
        words, rows = call(plugin, "twice", {}, self.host()).json
        self.assertIn("another connection of this call is writing", words)
        self.assertEqual(rows, [1, 3])
        self.assertEqual(self.others(), [])

    def test_a_call_that_was_stopped_does_not_keep_others_out(self) -> None:
        (self.folder / "a.db.lock").write_text("'one'\n'stopped'\n")
        with self.assertRaisesRegex(Failed, "database is locked: another call has .*a.db.lock"):
            self.run_in(self.host("two"), "change", "insert into t values (1)", "commit")
        with self.assertRaisesRegex(Failed, "database is locked"):
            self.run_in(self.host("two"), "look", "select a from t")
        self.run_in(self.host(), "change", "insert into t values (2)", "commit")
        self.assertEqual(self.run_in(self.host("two"), "look", "select a from t"), [[2]])
        self.assertEqual(self.others(), [])

    def test_a_lock_that_no_call_can_have_any_more_is_removed(self) -> None:
        (self.folder / "a.db.lock").mkdir()
        os.utime(self.folder / "a.db.lock", (0, 0))
        self.run_in(self.host(), "change", "insert into t values (1)", "commit")
        self.assertEqual(self.others(), [])

    def test_a_call_that_asks_a_person_keeps_its_lock(self) -> None:
        seen: list[object] = []

        class Asked(Host):
            def ask(self, permission: str, resource: str, reason: str) -> None:
                other = Host(directories=self.directories, who=self.who)
                before = dict(_locks)
                _locks.clear()
                try:
                    call(plugin, "change", {"statements": ["select a from t"]}, other)
                except Failed as failed:
                    seen.append(failed.text)
                _locks.update(before)

        from portcullis._sqlite import _locks

        host = Asked(directories={"data": self.folder}, who=Call("call", "one"))
        rows = self.run_in(host, "change", "insert into t values (1)", "ask", "commit", "select a from t")
        self.assertEqual(rows, [[1]])
        self.assertIn("database is locked", str(seen))

    def test_a_row_that_another_program_wrote_meanwhile_is_not_lost(self) -> None:
        other = f"! {self.file} insert into t values (7)"
        with self.assertRaisesRegex(Failed, "another program changed .*: nothing of it was written"):
            self.run_in(self.host(), "change", "insert into t values (1)", other, "commit")
        self.assertEqual(self.run_in(self.host(), "look", "select a from t"), [[7]])
        rows = self.run_in(self.host(), "change", other, "insert into t values (1)", "commit", "select a from t")
        self.assertEqual(rows, [[7], [7], [1]])

    def test_after_a_change_of_another_program_the_transaction_can_be_run_again(self) -> None:
        rows = call(plugin, "again", {"other": str(self.file)}, self.host()).json
        self.assertEqual(rows, ["another program changed", [7, 2]])

    def test_a_database_in_wal_mode_is_refused(self) -> None:
        native(str(self.file), "pragma journal_mode = wal")
        for tool in ("look", "change"):
            with self.assertRaisesRegex(Failed, "WAL mode.*PRAGMA journal_mode=DELETE"):
                self.run_in(self.host(), tool, "select a from t")
        self.assertEqual([name for name in self.others() if name.endswith(".lock")], [])

    def test_the_transaction_of_another_program_is_not_rolled_back(self) -> None:
        journal = self.folder / "a.db-journal"
        for head in (bytes(12) + bytes(range(16)), bytes.fromhex("d9d505f920a163d7") + bytes(20)):
            journal.write_bytes(head + bytes(484))
            for tool in ("look", "change"):
                with self.assertRaisesRegex(Failed, "is not finished: a program is at work in it, or one was stopped"):
                    self.run_in(self.host(), tool, "select a from t")
            self.assertEqual(journal.read_bytes(), head + bytes(484))
        # A call that takes the lock of a stopped one rolls back what that one left.
        (self.folder / "a.db.lock").write_text("'one'\n'stopped'\n")
        self.run_in(self.host(), "change", "select a from t")
        self.assertEqual(self.others(), [])

    def test_a_journal_that_is_only_kept_is_none(self) -> None:
        native(str(self.file), "pragma journal_mode = persist")
        (self.folder / "a.db-journal").write_bytes(bytes(512))
        self.assertEqual(self.run_in(self.host(), "look", "select a from t"), [])

    def test_attach_is_refused(self) -> None:
        with self.assertRaisesRegex(Failed, "ATTACH is not safe"):
            self.run_in(self.host(), "change", f"attach '{self.folder}/b.db' as b")

    def test_outside_of_a_call_nothing_changes(self) -> None:
        connection = sqlite3.connect(self.file)
        self.assertIs(type(connection), sqlite3.Connection)
        connection.close()
        self.assertIs(type(sqlite3.connect(":memory:")), sqlite3.Connection)
