"""Completion scripts of bash, zsh and fish, written from the levels of a program's commands.

Knows what the three shells ask of a script; nothing of our commands.
Contract: a script runs no program, and what it holds is quoted as its shell quotes; words have no white space in them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

PROGRAM = "dragoman"


class Files(Enum):
    """What of the file system a value may name."""

    NONE = "none"
    FOLDERS = "folders"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What may stand for an option's value or an argument; words that end in "/" are only begun."""

    words: tuple[str, ...] = ()
    files: Files = Files.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option: its names (`--model`, `-m`), what it is for, and its values; None for a flag."""

    names: tuple[str, ...]
    says: str
    values: Values | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A command: where it stands (`("mcp", "serve")`), the commands below it with their help, options, arguments."""

    path: tuple[str, ...]
    commands: Mapping[str, str]
    options: tuple[Option, ...]
    takes: tuple[Values, ...]

    @property
    def name(self) -> str:
        """As a part of a function's name, and as the scripts count where they are."""
        return "_".join((PROGRAM, *self.path))


def _short(text: str) -> str:
    """The first sentence, in one line."""
    return " ".join(text.split()).partition(". ")[0].rstrip(".")


# ── bash ─────────────────────────────────────────────────────────────────────

BASH = """\
# Completion of `dragoman` for bash; load it lazily (with the package bash-completion):
#   mkdir -p ~/.local/share/bash-completion/completions
#   dragoman completion bash > ~/.local/share/bash-completion/completions/dragoman
# or put it beside your settings and write `source FILE` into ~/.bashrc.  Print it again after an upgrade.
_dragoman() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="" at=dragoman word last=$((COMP_CWORD - 1))
    # `--name=value` comes in three words.
    if [[ $cur == "=" ]]; then cur=""; elif [[ ${COMP_WORDS[last]} == "=" ]]; then last=$((last - 1)); fi
    if (( last >= 1 )); then prev="${COMP_WORDS[last]}"; fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case "$at $word" in
@BELOW@
        esac
    done
    COMPREPLY=()
    case "$at $prev" in
@VALUES@
    esac
    case "$at $cur" in
@OPTIONS@
    esac
    case "$at" in
@TAKES@
    esac
}
_dragoman_words() { mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1"); }
_dragoman_files() {
    compopt -o filenames 2>/dev/null
    local found
    mapfile -t found < <(compgen "$2" -- "$1")
    COMPREPLY+=("${found[@]}")
}
complete -F _dragoman dragoman
"""


def bash(levels: Sequence[Level]) -> str:
    """The script for bash 4 and later."""
    below = (f'            "{each.name} {name}") at={each.name}_{name} ;;' for each in levels for name in each.commands)
    return _filled(
        BASH,
        BELOW=below,
        VALUES=(line for each in levels for line in _bash_values(each)),
        OPTIONS=(f'        "{each.name} -"*) _dragoman_words "$cur" "{_names(each)}"; return ;;' for each in levels),
        TAKES=(line for each in levels for line in _bash_takes(each)),
    )


def _bash_values(level: Level) -> Iterator[str]:
    for option in level.options:
        if option.values is not None:
            names = "|".join(f'"{level.name} {name}"' for name in option.names)
            yield f"        {names}) {_bash_fill(option.values)}return ;;"


def _bash_takes(level: Level) -> Iterator[str]:
    values = Values(words=tuple(level.commands)) if level.commands else _joined(level.takes)
    fill = _bash_fill(values)
    if fill:
        yield f"        {level.name}) {fill};;"


def _bash_fill(values: Values) -> str:
    words = f'_dragoman_words "$cur" "{" ".join(values.words)}"; ' if values.words else ""
    begun = "compopt -o nospace 2>/dev/null; " if any(word.endswith("/") for word in values.words) else ""
    flag = {Files.NONE: "", Files.FOLDERS: "-d", Files.ALL: "-f"}[values.files]
    return words + begun + (f'_dragoman_files "$cur" {flag}; ' if flag else "")


def _names(level: Level) -> str:
    return " ".join(name for option in level.options for name in option.names)


def _joined(several: Sequence[Values]) -> Values:
    """What any of several arguments may be, for a shell that does not count them."""
    words = tuple(dict.fromkeys(word for values in several for word in values.words))
    files = {values.files for values in several} - {Files.NONE}
    return Values(words=words, files=Files.ALL if Files.ALL in files else next(iter(files), Files.NONE))


def _filled(script: str, **parts: Iterable[str]) -> str:
    for name, lines in parts.items():
        script = script.replace(f"@{name}@", "\n".join(lines))
    return script


# ── zsh ──────────────────────────────────────────────────────────────────────

ZSH = """\
#compdef dragoman
# Completion of `dragoman` for zsh; put it into a folder of your $fpath, before compinit runs:
#   mkdir -p ~/.zfunc && dragoman completion zsh > ~/.zfunc/_dragoman
#   ~/.zshrc: fpath+=~/.zfunc; autoload -Uz compinit && compinit
# Print it again after an upgrade.
@LEVELS@
if [[ ${funcstack[1]} == _dragoman ]]; then _dragoman "$@"; else compdef _dragoman dragoman; fi
"""


def zsh(levels: Sequence[Level]) -> str:
    """The script for zsh."""
    return _filled(ZSH, LEVELS=(line for each in levels for line in _zsh_level(each)))


def _zsh_level(level: Level) -> Iterator[str]:
    """The function that completes one command."""
    yield f"_{level.name}() {{"
    specs = [_zsh_option(name, each) for each in level.options for name in each.names]
    if not level.commands:
        specs += [shlex.quote(f"*:value:{_zsh_values(_joined(level.takes))}")] if level.takes else []
        yield "    _arguments " + " \\\n        ".join(specs)
        yield "}"
        return
    yield "    local curcontext=$curcontext state line"
    yield "    local -a below"
    yield "    _arguments -C " + " \\\n        ".join([*specs, "'1: :->below'", "'*:: :->rest'"])
    yield "    case $state in"
    yield "        below) below=("
    yield from (f"            {shlex.quote(f'{name}:{_short(says)}')}" for name, says in level.commands.items())
    yield "        ); _describe command below ;;"
    yield "        rest) case $words[1] in"
    yield from (f"            {name}) _{level.name}_{name} ;;" for name in level.commands)
    yield "        esac ;;"
    yield "    esac"
    yield "}"


PLAIN = str.maketrans("[]", "()")
"""Square brackets end what `_arguments` shows of an option."""


def _zsh_option(name: str, option: Option) -> str:
    says = _short(option.says).translate(PLAIN)
    values = "" if option.values is None else f":value:{_zsh_values(option.values)}"
    return shlex.quote(f"*{name}[{says}]{values}")


def _zsh_values(values: Values) -> str:
    words = " ".join(values.words)
    if any(word.endswith("/") for word in values.words):
        return f"{{compadd -S '' -- {words}}}"
    if not values.words:
        return {Files.NONE: " ", Files.FOLDERS: "_files -/", Files.ALL: "_files"}[values.files]
    return f"({words})" if values.files is Files.NONE else f"{{compadd -- {words}; _files}}"


# ── fish ─────────────────────────────────────────────────────────────────────

FISH = """\
# Completion of `dragoman` for fish:
#   dragoman completion fish > ~/.config/fish/completions/dragoman.fish
# Print it again after an upgrade.
function __dragoman_at
    set -l at dragoman
    for word in (commandline -opc)[2..]
        switch "$at $word"
@BELOW@
        end
    end
    test $at = $argv[1]
end
complete -c dragoman -f
@LINES@
"""


def fish(levels: Sequence[Level]) -> str:
    """The script for fish."""
    below = (
        f"            case '{each.name} {name}'\n                set at {each.name}_{name}"
        for each in levels
        for name in each.commands
    )
    return _filled(FISH, BELOW=below, LINES=(line for each in levels for line in _fish_level(each)))


def _fish_level(level: Level) -> Iterator[str]:
    here = f"complete -c {PROGRAM} -n '__dragoman_at {level.name}'"
    for name, says in level.commands.items():
        yield f"{here} -a {name} -d {_fish_quoted(_short(says))}"
    for option in level.options:
        names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
        values = "" if option.values is None else f" -r{_fish_values(option.values)}"
        yield f"{here} {names}{values} -d {_fish_quoted(_short(option.says))}"
    if level.takes and not level.commands:
        yield f"{here}{_fish_values(_joined(level.takes))}"


def _fish_values(values: Values) -> str:
    words = [f"-a {_fish_quoted(' '.join(values.words))}"] if values.words else []
    folders = ["-a '(__fish_complete_directories)'"] if values.files is Files.FOLDERS else []
    force = "-F" if values.files is Files.ALL else "-f"
    return " " + " ".join([force, *words, *folders])


def _fish_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


SHELLS: Mapping[str, Callable[[Sequence[Level]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
