"""The shells complete the program's words with the script it prints, and start no program to do so."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from dragoman.cli import COMMANDS, cli
from dragoman.cli.client_settings import CLIENTS
from dragoman.cli.completion_scripts import SHELLS
from dragoman.codecs import CODECS
from dragoman.dialects import DIALECTS
from dragoman.providers.rows import PROVIDERS

CASES: list[tuple[list[str], set[str]]] = [
    ([""], set(COMMANDS)),
    (["con"], {"convert", "connect"}),
    (["mcp", ""], {"serve", "list"}),
    (["parse", "--dialect", "herm"], {name for name in DIALECTS if name.startswith("herm")}),
    (["parse", "--strict", "--dialect", "qwen"], {name for name in DIALECTS if name.startswith("qwen")}),
    (["convert", "--from", "openai_chat", "--to", "anthropic"], {name for name in CODECS if name.startswith("anthropic")}),
    (["convert", "--kind", "re"], {"request", "response"}),
    (["serve", "--upstream", "open"], {name for name in PROVIDERS if name.startswith("open")}),
    (["run", "--model", "ollama"], {"ollama/", "ollama-generate/"}),
    (["chat", "-m", "mistr"], {"mistral/"}),
    (["connect", "c"], {name for name in CLIENTS if name.startswith("c")}),
    (["completion", ""], {"bash", "zsh", "fish"}),
    (["list", "d"], {"dialects"}),
    (["parse", "--expl"], {"--explain"}),
    (["check", "drag"], {"dragoman.toml"}),
    (["run", "--model", "list", "--approve", "w"], {"writes"}),
]
IDS = [" ".join(words) for words, _ in CASES]
ZSH_HOST = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PROMPT=; PS2=; autoload -Uz compinit && compinit -u -D; source {script}'
zpty -w shell 'compadd() {{ if [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)* ]]; then builtin compadd "$@"; return; fi; typeset -a got; builtin compadd -O got "$@"; print -l -- "<"${{^got}}">"; builtin compadd "$@" }}'
zpty -w shell "zstyle ':completion:*' list-prompt ''; print REA''DY"
zpty -r shell said '*READY*'
zpty -w -n shell {typed}$'\\t'$'\\t'
sleep 1
zpty -w shell $'\\x15'"print DO''NE"
while zpty -r shell said; do print -r -- $said; [[ $said == *DONE* ]] && break; done
zpty -d shell
"""


@cache
def script(shell: str) -> str:
    made = CliRunner().invoke(cli, ["completion", shell], prog_name="dragoman")
    assert made.exit_code == 0
    return made.output


def needed(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for shell in SHELLS:
        (tmp_path / f"script.{shell}").write_text(script(shell), encoding="utf-8")
    (tmp_path / "dragoman.toml").touch()
    return tmp_path


def answered(place: Path, *command: str) -> str:
    """What a shell wrote that could start no program; it may not complain."""
    environ = {"PATH": "/nowhere", "HOME": str(place), "TERM": "dumb", "LANG": os.environ.get("LANG", "C.UTF-8")}
    ran = subprocess.run(command, cwd=place, env=environ, capture_output=True, text=True, check=True, timeout=60)
    assert ran.stderr == ""
    return ran.stdout


def in_bash(place: Path, words: list[str]) -> set[str]:
    line = f"source script.bash; COMP_WORDS=(dragoman {shlex.join(words)}); COMP_CWORD={len(words)}; _dragoman"
    return {*answered(place, needed("bash"), "-c", line + "; printf '%s\\n' \"${COMPREPLY[@]}\"").split("\n")} - {""}


@pytest.mark.parametrize(("words", "offered"), CASES, ids=IDS)
def test_bash_completes(place: Path, words: list[str], offered: set[str]) -> None:
    assert in_bash(place, words) == offered


def test_bash_completes_a_value_behind_an_equals_sign(place: Path) -> None:
    assert in_bash(place, ["parse", "--doubt", "=", ""]) == {"ask", "run", "text"}
    assert in_bash(place, ["parse", "--doubt", "="]) == {"ask", "run", "text"}
    assert in_bash(place, ["parse", "--doubt", "=", "te"]) == {"text"}


@pytest.mark.parametrize(("words", "offered"), CASES, ids=IDS)
def test_fish_completes(place: Path, words: list[str], offered: set[str]) -> None:
    line = f"source script.fish; complete -C {shlex.quote('dragoman ' + ' '.join(words))}"
    shown = answered(place, needed("fish"), "--no-config", "-c", line)
    found = {each.partition("\t")[0] for each in shown.splitlines()}
    assert {each for each in found if each.startswith(words[-1])} == offered


@pytest.mark.slow
@pytest.mark.parametrize(("words", "offered"), [CASES[1], CASES[3], CASES[10]], ids=[IDS[1], IDS[3], IDS[10]])
def test_zsh_completes(place: Path, words: list[str], offered: set[str]) -> None:
    typed = shlex.quote("dragoman " + " ".join(words))
    host = ZSH_HOST.format(script=place / "script.zsh", typed=typed)
    ran = subprocess.run(
        [needed("zsh"), "-f", "-c", host], cwd=place, capture_output=True, text=True, check=False, timeout=60
    )
    assert offered <= {*re.findall(r"<([\w./-]+)>", ran.stdout)}, ran.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_one_the_shell_reads(place: Path, shell: str) -> None:
    answered(place, needed(shell), "-n", f"script.{shell}")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_says_where_to_put_it(shell: str) -> None:
    assert f"dragoman completion {shell} >" in script(shell)


def test_every_command_and_option_is_in_every_script() -> None:
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        names = [each for option in command.params if isinstance(option, click.Option) for each in option.opts]
        for shell in SHELLS:
            assert [each for each in (name, *names) if each.lstrip("-") not in script(shell)] == []
