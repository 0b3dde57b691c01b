#!/usr/bin/env python3
"""Writes the manual pages and completions of a built tocsin: manuals.py BINARY FOLDER

man/tocsin.1           the program and its commands
man/tocsin-NAME.1      one page a command, with its subcommands
man/tocsin.toml.5      the settings
man/tocsin-errors.7    the error codes, from schema/errors.md
man/tocsin-metrics.7   the metrics, from the page metrics of docs/, where it is there
completions/           for bash, zsh and fish

Everything comes from the binary itself (--experimental-dump-help, --generate-completion-script, `settings manual`) and
from the two pages. SOURCE_DATE_EPOCH dates the pages; without it they carry the binary's own version alone.
"""
import json
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def ask(binary, *arguments):
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ}
    done = subprocess.run([binary, *arguments], capture_output=True, text=True, env=environment, timeout=60)
    if done.returncode != 0:
        sys.exit(f"manuals.py: {binary} {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def roff(text):
    """Text in which roff sees no commands; what Markdown quotes stands in bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("–", "\\(en").replace("…", "...")
    text = text.replace("“", '"').replace("”", '"').replace("→", "\\(->")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def paragraphs(text):
    """A discussion: paragraphs, headings in capitals, and indented lines as they stand."""
    lines, is_plain = [], False
    for line in text.rstrip().split("\n"):
        is_indented = line.startswith("  ") or (is_plain and not line.strip())
        if is_indented != is_plain:
            lines.append(".nf" if is_indented else ".fi")
            is_plain = is_indented
        if re.fullmatch(r"[A-Z][A-Z ]+", line):
            lines.append(f".PP\n.B {roff(line)}\n.br")
        elif not line.strip():
            lines.append(".PP" if not is_plain else "")
        else:
            lines.append(roff(line))
    if is_plain:
        lines.append(".fi")
    text = "\n".join(lines)
    text = text.replace(".nf\n", ".PP\n.nf\n")
    return re.sub(r"(\.PP\n)+", ".PP\n", re.sub(r"\n{2,}", "\n.sp\n", text))


class Pages:
    def __init__(self, folder, version):
        self.folder, self.version, self.names = folder, version, []
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        self.date = time.strftime("%Y-%m-%d", time.gmtime(int(epoch))) if epoch else ""

    def write(self, name, section, what, body, see=()):
        title = name.upper().replace("-", "\\-")
        parts = [
            f'.TH "{title}" {section} "{self.date}" "tocsin {self.version}" "Tocsin"',
            f".SH NAME\n{roff(name)} \\- {roff(what.rstrip('.'))}",
            body.rstrip("\n"),
        ]
        others = [other for other in see if other != (name, section)]
        if others:
            parts.append(".SH SEE ALSO\n" + ",\n".join(f".BR {roff(other)} ({number})" for other, number in others))
        with open(f"{self.folder}/{name}.{section}", "w", encoding="utf-8") as file:
            file.write("\n".join(parts).replace(") ,", "),").replace("),\n", "),\n") + "\n")
        self.names.append((name, section))


def spelled(names):
    return [("--" if name["kind"] == "long" else "-") + name["name"] for name in names]


def shown(command):
    return [argument for argument in command.get("arguments", []) if argument.get("shouldDisplay", True)]


def own(command):
    """The arguments without those that every command has."""
    return [argument for argument in shown(command) if argument["valueName"] not in ("help", "version")]


def synopsis(path, command):
    words = ["\\fB" + roff(" ".join(path)) + "\\fR"]
    for argument in own(command):
        value = "\\fI" + roff(argument["valueName"]) + "\\fR"
        if argument["kind"] == "positional":
            word = value
        else:
            name = argument["preferredName"]
            word = "\\fB" + roff(spelled([name])[0]) + "\\fR"
            word += " " + value if argument["kind"] == "option" else ""
        word += " ..." if argument.get("isRepeating") else ""
        words.append(f"[{word}]" if argument.get("isOptional") else word)
    if subcommands(command):
        words.append("\\fIsubcommand\\fR")
    return " ".join(words)


def subcommands(command):
    return [
        each for each in command.get("subcommands", []) if each["commandName"] != "help" and each.get("shouldDisplay", True)
    ]


def options(command):
    lines = []
    for argument in shown(command):
        value = "\\fI" + roff(argument["valueName"]) + "\\fR"
        if argument["kind"] == "positional":
            head = value
        else:
            head = ", ".join("\\fB" + roff(name) + "\\fR" for name in spelled(argument["names"]))
            head += " " + value if argument["kind"] == "option" else ""
        default = f" Default: {argument['defaultValue']}." if argument.get("defaultValue") else ""
        lines.append(f".TP\n{head}\n{roff(argument.get('abstract', '') + default)}")
    return "\n".join(lines)


def described(path, command, level):
    """A subcommand and those below it."""
    text = [f".{level} {roff(' '.join(path))}", roff(command.get("abstract", "")), ".PP", synopsis(path, command)]
    if command.get("discussion"):
        text += [".PP", paragraphs(command["discussion"])]
    text.append(options(command))
    for each in subcommands(command):
        text.append(described(path + [each["commandName"]], each, "SS"))
    return "\n".join(text)


def command_page(pages, command):
    name = command["commandName"]
    path = ["tocsin", name]
    body = [".SH SYNOPSIS", synopsis(path, command)]
    below = subcommands(command)
    for each in below:
        body += [".br", synopsis(path + [each["commandName"]], each)]
    if command.get("discussion"):
        body += [".SH DESCRIPTION", paragraphs(command["discussion"])]
    body += [".SH OPTIONS", options(command)]
    if below:
        body.append(".SH SUBCOMMANDS")
        body += [described(path + [each["commandName"]], each, "SS") for each in below]
    if name == "serve" or any("TOCSIN_CONFIG" in argument.get("abstract", "") for argument in shown(command)):
        body.append(".SH FILES\n.TP\n.I /etc/tocsin/tocsin.toml\nThe settings of the packaged service; see tocsin.toml(5).")
    pages.write(f"tocsin-{name}", 1, command.get("abstract", ""), "\n".join(body), [("tocsin", 1), ("tocsin.toml", 5)])


def main_page(pages, command):
    body = [".SH SYNOPSIS", "\\fBtocsin\\fR \\fIcommand\\fR [\\fIoptions\\fR]", ".SH DESCRIPTION"]
    body += [paragraphs(command.get("discussion", "")), ".SH COMMANDS"]
    for each in subcommands(command):
        name = each["commandName"]
        body.append(f".TP\n.BR {roff('tocsin-' + name)} (1)\n{roff(each.get('abstract', ''))}")
    body += [".SH OPTIONS", options(command), ".SH EXIT STATUS", "0: done. 1: it failed. 2: it was asked wrongly."]
    pages.write("tocsin", 1, command.get("abstract", ""), "\n".join(body), [("tocsin.toml", 5), ("tocsin-errors", 7)])


def settings_page(pages, binary):
    body = (
        ".SH DESCRIPTION\nA settings file is TOML, or JSON if its name ends in .json or its text begins with a brace.\n"
        "It is named by \\fB\\-\\-config\\fR or \\fBTOCSIN_CONFIG\\fR. Each setting below has a key of the file, a flag of\n"
        "\\fBtocsin serve\\fR and an environment variable. A flag wins over the environment, the environment over the\n"
        "file. An empty value counts as not set. A table joins its name to those of its members:\n\\fBkey\\-id\\fR under\n"
        "\\fB[apns]\\fR is \\fBapns\\-key\\-id\\fR.\n.PP\n\\fBtocsin settings check\\fR reports every problem of a file at\n"
        "once. \\fBtocsin settings example\\fR prints a file with every setting commented out.\n"
    ) + ask(binary, "settings", "manual")
    pages.write("tocsin.toml", 5, "settings of the Tocsin notification server", body, [("tocsin", 1), ("tocsin-serve", 1)])


def unlinked(text):
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def page_of_markdown(pages, path, name, what):
    """A page with paragraphs, lists and tables; each row of a table is an item under its first cell."""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    body, heads, is_code, is_text = [".SH DESCRIPTION"], None, False, False
    for line in lines:
        if line.startswith("```"):
            body.append(".fi" if is_code else ".PP\n.nf")
            is_code, is_text = not is_code, False
        elif is_code:
            body.append(roff(line) or ".sp")
        elif line.startswith("|"):
            cells = [unlinked(cell.strip().replace("\0", "|")) for cell in line.replace("\\|", "\0").strip("|").split("|")]
            if heads is None:
                heads = cells
            elif not re.fullmatch(r"[|:\- ]+", line):
                body.append(f".TP\n\\fB{roff(cells[0].replace('`', ''))}\\fR")
                body += [
                    f"{roff(head)}: {roff(cell)}.\n.br" for head, cell in zip(heads[1:], cells[1:]) if cell not in ("", "–")
                ]
            is_text = False
        else:
            heads = None
            if line.startswith("# "):
                pass
            elif line.startswith("#"):
                body.append(f".SH {roff(unlinked(line.lstrip('# ')).replace('`', '').upper())}")
                is_text = False
            elif not line.strip():
                is_text = False
            elif line.startswith("- "):
                body.append(f".IP \\(bu 2\n{roff(unlinked(line[2:]))}")
                is_text = True
            else:
                body += ([] if is_text else [".PP"]) + [roff(unlinked(line.strip()))]
                is_text = True
    pages.write(name, 7, what, "\n".join(body), [("tocsin", 1)])


def completions(binary, folder):
    for shell, name in (("bash", "tocsin"), ("zsh", "_tocsin"), ("fish", "tocsin.fish")):
        os.makedirs(f"{folder}/{shell}", exist_ok=True)
        with open(f"{folder}/{shell}/{name}", "w", encoding="utf-8") as file:
            script = ask(binary, "--generate-completion-script", shell)
            # It is read by the shell, not run.
            file.write(script.removeprefix("#!/bin/bash\n"))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    binary, folder = sys.argv[1:]
    os.makedirs(f"{folder}/man", exist_ok=True)
    pages = Pages(f"{folder}/man", ask(binary, "--version").split()[0])
    program = json.loads(ask(binary, "--experimental-dump-help"))["command"]
    main_page(pages, program)
    for command in subcommands(program):
        command_page(pages, command)
    settings_page(pages, binary)
    page_of_markdown(pages, f"{ROOT}/schema/errors.md", "tocsin-errors", "error codes that clients of Tocsin see")
    metrics = f"{ROOT}/docs/metrics" + ".md"
    if os.path.exists(metrics):
        page_of_markdown(pages, metrics, "tocsin-metrics", "metrics of the Tocsin notification server")
    completions(binary, f"{folder}/completions")
    print(f"{len(pages.names)} manual pages and completions for 3 shells are in {folder}.")


if __name__ == "__main__":
    main()
