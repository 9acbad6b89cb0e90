"""`dragoman check` and `dragoman doctor`: files and deployments, told right and wrong."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from dragoman.cli import main
from dragoman.gateway.state.stores import StateStores
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim import WeakModel, running

TOML = '[models.small]\nroutes = ["ollama/qwen3:8b", "llamacpp/x"]\n[default]\nroute = "ollama"\n'


def test_a_file_that_is_right_is_shown_model_by_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "dragoman.toml"
    file.write_text(TOML)
    assert main(["check", str(file)]) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["MODEL", "small", "small", "(any"]
    assert "right: 1 model, and any other" in err
    assert main(["check", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["asked"] == "1. ollama/qwen3:8b"


def test_the_shares_of_routes_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "dragoman.toml"
    routes = '["ollama/a", {route = "llamacpp/b", weight = 2.5}]'
    file.write_text(f'[models.small]\nbalance = "weighted"\nroutes = {routes}\n')
    assert main(["check", str(file), "--json"]) == 0
    asked = [row["asked"] for row in json.loads(capsys.readouterr().out)]
    assert asked == ["1. ollama/a, weight 1", "2. llamacpp/b, weight 2.5"]


def test_a_wrong_file_is_refused_with_every_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "dragoman.toml"
    file.write_text('[models.a]\nroute = "no/x"\n[models.b]\nroute = "not/y"\n')
    assert main(["check", str(file)]) == 2
    err = capsys.readouterr().err
    assert "$.models.a" in err
    assert "$.models.b" in err


@pytest.mark.parametrize("command", [("check",), ("serve", "--port", "0", "--config")])
def test_a_file_that_could_not_be_served_is_refused_before_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    file = tmp_path / "dragoman.toml"
    file.write_text('[default]\nroute = "ollama"\n[recordings]\nurl = "mysql://x"\n')
    assert main([*command, str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "line 4: $.recordings.url" in err
    assert "listening" not in err


def test_the_form_is_printed_for_editors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "dragoman.toml"


def test_a_deployment_is_examined_and_the_settings_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(WeakModel()) as url:
        code = main(["doctor", url, "--model", "weak", "--context", "2000", "--write", str(tmp_path / "found.toml")])
    out = capsys.readouterr().out
    assert code == 1, "the scripted model knows no such question, so it calls nothing"
    assert "the server refuses tools" in out
    assert "streaming: an answer came in" in out
    assert '[models."weak"]' in (tmp_path / "found.toml").read_text()


def test_a_deployment_that_is_not_there_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "http://127.0.0.1:9", "--model", "m"]) == 1
    assert "cannot reach" in capsys.readouterr().out


def test_doctor_shows_and_forgets_what_a_gateway_learnt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stores = StateStores(tmp_path)
    place = Route(provider=COMPATIBLE["openai_chat"], base_url="http://127.0.0.1:9/v1").root()
    stores.learned.habits.note("", place, "m", ["hermes:strong:among"])
    asyncio.run(stores.aclose())
    asked = ["doctor", "http://127.0.0.1:9/v1", "--api", "openai_chat", "--model", "m", "--state", str(tmp_path)]
    assert main(asked) == 1  # nobody answers there; what is known is known all the same
    assert "it means calls that it writes so, and is not asked about them: hermes" in capsys.readouterr().out
    assert main([*asked, "--forget"]) == 0
    out, err = capsys.readouterr()
    assert "forgot 1 things about 'm'" in err
    assert "it has confirmed no way of writing calls" in out
    assert main([*asked[:-2], "--forget"]) == 2
    assert "--forget needs --state" in capsys.readouterr().err
