"""groundplan.toml, the environment and the command line say which models may be asked, and none holds a key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.contracts.roles import Role, Roles
from groundplan.errors import UsageError
from groundplan.settings import FILE, Endpoint, load_models, load_settings, trust_folder

TWO = """
model = "small"
[models.small]
url = "http://127.0.0.1:8080/v1"
model = "qwen2.5-coder"
[models.large]
url = "https://models.example/v1"
model = "large-1"
api_key_env = "LARGE_KEY"
"""
SMALL = Endpoint(name="small", url="http://127.0.0.1:8080/v1", model="qwen2.5-coder")
LARGE = Endpoint(name="large", url="https://models.example/v1", model="large-1", api_key_env="LARGE_KEY")
ADDRESS = "http://127.0.0.1:11434/v1"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GROUNDPLAN_MODEL", raising=False)
    (tmp_path / FILE).write_text(TWO)
    trust_folder(tmp_path)
    return tmp_path


@pytest.mark.requirement("R28")
@pytest.mark.parametrize(
    ("named", "models"),
    [
        (None, (SMALL,)),
        ("large", (LARGE,)),
        ("small,large", (SMALL, LARGE)),
        (" small , large ", (SMALL, LARGE)),
        ("none", ()),
        (ADDRESS, (Endpoint(name="model", url=ADDRESS, model=""),)),
        (f"small,{ADDRESS}", (SMALL, Endpoint(name="model", url=ADDRESS, model=""))),
    ],
)
def test_models_are_picked_by_name_or_address_the_smallest_first(
    named: str | None, models: tuple[Endpoint, ...], folder: Path
) -> None:
    assert load_models(folder, named) == models


def test_a_list_in_the_file_is_a_cascade(folder: Path) -> None:
    (folder / FILE).write_text(TWO.replace('model = "small"', 'model = ["small", "large"]', 1))
    trust_folder(folder)
    assert load_models(folder) == (SMALL, LARGE)


@pytest.mark.parametrize(
    ("variable", "named", "models"), [("large", None, (LARGE,)), ("large", "small", (SMALL,)), ("", None, (SMALL,))]
)
def test_the_environment_wins_over_the_file_and_the_command_line_over_both(
    variable: str, named: str | None, models: tuple[Endpoint, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDPLAN_MODEL", variable)
    assert load_models(folder, named) == models


def test_without_a_file_there_is_no_model_and_an_address_needs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GROUNDPLAN_MODEL", raising=False)
    assert load_models(tmp_path) == ()
    assert [model.url for model in load_models(tmp_path, ADDRESS)] == [ADDRESS]


def test_the_file_of_a_key_is_relative_to_the_toml(folder: Path) -> None:
    (folder / FILE).write_text(TWO.replace('api_key_env = "LARGE_KEY"', 'api_key_file = "large.key"'))
    trust_folder(folder)
    (large,) = load_models(folder, "large")
    assert large.api_key_file == str(folder / "large.key")


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("smal", ["'smal'", FILE, "did you mean 'small'?", "[models.smal]"]),
        ("gpt", ["'gpt'", FILE, "[models.gpt]", "url =", "--model http"]),
        ("small,", ["there is no model ''"]),
        ("none,small", ["'none'"]),
        ("127.0.0.1:8080/v1", ["'127.0.0.1:8080/v1'", "--model http"]),
        ("http://me:hunter22@127.0.0.1/v1", ["api_key_env"]),
        ("http://", ["use a URL such as http"]),
        ("http://[", ["Invalid IPv6 URL"]),
    ],
)
def test_a_name_that_is_no_model_says_what_to_write(named: str, says: list[str], folder: Path) -> None:
    with pytest.raises(UsageError) as raised:
        load_models(folder, named)
    assert [word for word in says if word not in str(raised.value)] == []
    assert "hunter22" not in str(raised.value)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("[models.q]\nurl = 'http://h/v1'", ["models.q.model: Field required", 'model = "…"']),
        ("[models.q]\nmodel = 'm'", ["models.q.url: Field required", 'url = "http']),
        ("[models.q]\nmodel = 'm'\nurl = 'h:8080'", ["models.q.url", "use a URL such as http"]),
        ("models = 5", ["models: ", "[models.NAME]"]),
        ("model = 5", ["model: ", 'model = "qwen"', '["qwen", "large"]']),
        ("[model]\nurl = 'http://h/v1'", ["model: ", 'model = "qwen"']),
        (
            "modle = 'q'",
            [
                "modle: ",
                "the settings are source, tools, timezone, embeddings, model, roles, trace_questions, sources",
            ],
        ),
    ],
)
def test_a_wrong_setting_is_named_with_its_file_and_what_to_write(
    written: str, says: list[str], tmp_path: Path
) -> None:
    (tmp_path / FILE).write_text(written)
    with pytest.raises(UsageError) as raised:
        load_settings(tmp_path)
    assert [word for word in [str(tmp_path / FILE), *says] if word not in str(raised.value)] == []


ROLES = """
model = ["small", "large"]
[roles]
reader = "model"
[roles.read]
model = "large"
temperature = 0.2
[roles.write]
model = ["large", "small"]
"""


def test_each_role_has_its_models_and_limits_and_the_rest_are_defaults(folder: Path) -> None:
    (folder / FILE).write_text(ROLES + TWO.replace('model = "small"', "", 1))
    trust_folder(folder)
    settings = load_settings(folder)
    roles = settings.roles_of([SMALL, LARGE])
    assert (roles.reader, roles.read.model, roles.read.temperature, roles.read.attempts) == (
        "model",
        ("large",),
        0.2,
        3,
    )
    assert (roles.write.model, roles.write.seconds) == (("large", "small"), 30.0)
    assert roles.plan == Role()


def test_a_role_of_earlier_versions_is_passed_over(folder: Path) -> None:
    (folder / FILE).write_text("[roles.build]\nseconds = 60")
    trust_folder(folder)
    assert load_settings(folder).roles == Roles()


def test_a_role_uses_the_models_that_a_command_names_instead(folder: Path) -> None:
    (folder / FILE).write_text(ROLES + TWO.replace('model = "small"', "", 1))
    trust_folder(folder)
    roles = load_settings(folder).roles_of([SMALL])
    assert (roles.read.model, roles.write.model) == ((), ("small",))


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("[roles.read]\nmodel = 'huge'", ["roles.read.model", "'huge'", "(none)"]),
        (
            "[roles.raed]\nmodel = 'huge'",
            ["roles.raed", "reader, accept, share_values, writer, analyst, confidence, seconds, read, plan, write"],
        ),
        ("[roles.read]\ntemprature = 1", ["roles.read.temprature", "model, temperature, tokens, seconds, attempts"]),
        ("[roles.plan]\nattempts = 0", ["roles.plan.attempts", "greater than or equal to 1"]),
        ("reader = 'model'", ["reader: ", "roles"]),
    ],
)
def test_a_wrong_role_is_named(written: str, says: list[str], tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(written)
    with pytest.raises(UsageError) as raised:
        load_settings(tmp_path)
    assert [word for word in [str(tmp_path / FILE), *says] if word not in str(raised.value)] == []


@pytest.mark.parametrize("field", ["api_key", "key", "token", "password"])
def test_the_value_of_a_key_is_refused_and_not_repeated(field: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(f'[models.q]\nurl = "http://h/v1"\nmodel = "m"\n{field} = "sk-hunter22"\n')
    with pytest.raises(UsageError) as raised:
        load_settings(tmp_path)
    assert f"models.q.{field}: " in str(raised.value)
    assert "api_key_env" in str(raised.value)
    assert "hunter22" not in f"{raised.value!r} {raised.value.__cause__!r}"


@given(st.text(max_size=40) | st.text("h[]:@/?#1.", max_size=12).map("http://".__add__))
def test_any_name_is_a_model_or_a_usage_error(named: str) -> None:
    folder = Path(__file__).parent / "nowhere"
    try:
        models = load_models(folder, named)
    except UsageError:
        return
    assert named.strip() == "none" or models
