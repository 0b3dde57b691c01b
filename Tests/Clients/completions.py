"""Types into bash, zsh and fish, each on a terminal, and presses Tab: commands, settings and names of topics are completed, and
a hostile name of a topic does nothing. Use: completions.py BINARY; a shell that is not installed is said and left out."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

from tocsin import Checks, Server

#: Each would run, spread, split or be an option where a shell reads it as its own words; `sown` is looked for.
HOSTILE = [
    "$(touch sown)", "`touch sown`", "sown;touch sown", "sown words", "-sown", "*sown", "sown'", 'sown"', "~sown", "sown:y", "sown\\",
    "sown\nsownlines", "sown\tcolumn", "${sown}", "<(touch sown)", "sown|touch sown", "sown&", ".sown", "sown!", "{sown,al}", "a\x1b[31msown",
]
#: What is typed before Tab, and what must then stand on the line or below it.
TYPED = [
    ("a command", "tocsin topi", "tocsin topic "),
    ("a topic", "tocsin topic show bill", "tocsin topic show billing"),
    ("a topic after an option", "tocsin incidents --topic bill", "tocsin incidents --topic billing"),
    ("a setting of the server", "tocsin serve --admin-lis", "tocsin serve --admin-listen"),
    ("a setting to check", "tocsin settings check --admin-lis", "tocsin settings check --admin-listen"),
]
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "PS1='> '; bind 'set bell-style none'; . {folder}/bash/tocsin"),
    "zsh": (["zsh", "-f", "-i"], "PS1='> '; unsetopt beep; fpath=({folder}/zsh $fpath); autoload -U compinit; compinit -u -D"),
    "fish": (["fish", "--no-config", "--private", "-i"], "source {folder}/fish/tocsin.fish"),
}


class Shell:
    """A shell on a terminal of its own, in an empty folder, until it is stopped."""

    def __init__(self, name, scripts, environment):
        self.folder = tempfile.mkdtemp(prefix="tocsin-shell-")
        arguments, start = START[name]
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(self.folder)
            # Fish asks a terminal that says more what it can do, and waits for the answer.
            os.execvpe(arguments[0], arguments, {**environment, "HOME": self.folder, "TERM": "dumb", "COLUMNS": "200"})
        self.mark(start.format(folder=scripts))

    def send(self, text):
        os.write(self.terminal, text.encode())

    def until(self, wanted):
        """What is shown until this text is, without what steers the terminal."""
        shown, deadline = b"", time.monotonic() + 60
        while True:
            text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\][^\x07]*\x07", "", shown.decode(errors="replace"))
            text = re.sub(r"\s+", " ", text)
            if wanted in text:
                return text
            assert time.monotonic() < deadline, f"{wanted!r} is not shown: {text[-400:]!r}"
            if select.select([self.terminal], [], [], 1)[0]:
                shown += os.read(self.terminal, 65536)

    def mark(self, command):
        """Runs a command, and returns what was shown until it had run."""
        self.send(command + "; echo ma''rk\r")
        return self.until("mark ")

    def stop(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)
        shutil.rmtree(self.folder, ignore_errors=True)


def typed(name, scripts, environment, line, wanted):
    """The line with one Tab is completed."""
    shell = Shell(name, scripts, environment)
    try:
        shell.send(line + "\t")
        shell.until(wanted)
    finally:
        shell.stop()


def hostile(name, scripts, environment, plain):
    """All topics are asked for: the plain ones are shown, nothing of the others is shown or run."""
    shell = Shell(name, scripts, environment)

    def offered(line, wanted):
        """What is shown after Tab, up to this text and then until the shell has run another line."""
        if name == "fish":
            # Its list has a place of its own on the terminal, where this one does not look.
            return shell.mark(f"complete -C '{line}'")
        shell.send(line + "\t\t")
        shown = shell.until(wanted)
        # The line is taken away, and the shell goes on.
        shell.send("\x15")
        return shown + shell.mark("true")

    try:
        shown = offered("tocsin topic show ", plain[-1])
        missing = [each for each in plain if each not in shown]
        assert not missing, f"{missing} are not shown: {shown!r}"
        assert "sown" not in shown, shown
        # Also where only such a name would fit.
        shown = offered("tocsin topic show sow", "show sow")
        assert "sown" not in shown, shown
        assert not any("sown" in file for file in os.listdir(shell.folder)), os.listdir(shell.folder)
    finally:
        shell.stop()


def main():
    binary, checks, folder = os.path.abspath(sys.argv[1]), Checks(), tempfile.mkdtemp(prefix="tocsin-completions-")
    server = Server(binary)
    try:
        manuals = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "manuals.py")
        subprocess.run([sys.executable, manuals, binary, folder], check=True, capture_output=True, timeout=120)
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(binary, os.path.join(folder, "bin", "tocsin"))
        token = server.add_user("ada")
        plain = ["alerts", "backup-2.db", "billing"]
        for topic in HOSTILE + plain:
            server.create_topic(token, topic)
        environment = {
            "PATH": os.path.join(folder, "bin") + ":" + os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "TOCSIN_URL": server.address,
            "TOCSIN_TOKEN": token,
        }
        for name in START:
            if not shutil.which(name):
                print(f"There is no {name} here; it is left out.", flush=True)
                continue
            scripts = os.path.join(folder, "completions")
            every = [
                (f"{name} completes {what}", lambda line=line, wanted=wanted: typed(name, scripts, environment, line, wanted))
                for what, line, wanted in TYPED
            ]
            every.append((f"{name} shows plain names alone, and runs none", lambda: hostile(name, scripts, environment, plain)))
            for what, check in every:
                try:
                    check()
                    checks.report(what)
                except Exception as error:  # pylint: disable=broad-except
                    checks.report(what, error)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


main()
