"""A real client of the Model Context Protocol: from an OOM's logdir to the patched line."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from recordings.recording import LOGDIR

SCRIPT = Path(__file__).parent / "scripts/train.py"
LIMIT_MIB = "100"
COMMAND = Path(sys.executable).with_name("oom-forensics")


@pytest.fixture(scope="module")
def logdir(record: Any) -> Path:
    recording = record(
        SCRIPT,
        exit_code=1,
        says="did not get it",
        OOM_FORENSICS_LOGDIR=LOGDIR,
        TF_CPU_BFC_MEM_LIMIT_IN_MB=LIMIT_MIB,
    )
    return Path(recording.logdir)


def results_of(*calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Starts the server, calls tools one after the other, and returns their results."""

    async def ask() -> list[Any]:
        server = StdioServerParameters(command=str(COMMAND), args=["mcp"])
        async with Client(server, read_timeout_seconds=60) as client:
            return [await client.call_tool(tool, arguments) for tool, arguments in calls]

    return asyncio.run(ask())


def answers_of(*calls: tuple[str, dict[str, Any]]) -> list[Any]:
    results = results_of(*calls)
    assert not any(each.is_error for each in results), results
    return [each.structured_content for each in results]


def test_the_story_leads_to_the_line_and_its_patch_trains_to_the_end(
    logdir: Path, run_python: Any, tmp_path: Path
) -> None:
    runs, story = answers_of(
        ("list_runs", {"logdir": str(logdir)}), ("story", {"run": str(logdir)})
    )
    (run,) = runs["runs"]
    assert Path(run["run"]).is_relative_to(logdir)
    (oom,) = story["out_of_memories"]
    assert oom["verdict"]["kind"] == "CAPACITY"
    remedy = next(each for each in oom["remedies"] if each["kind"] == "smaller_batch")
    assert remedy["sufficiency"] == "ENOUGH_ALONE"

    # What an agent does with it: it edits the line that was named.
    place = oom["request"]["source"]["called"]
    assert Path(place["file"]).name == SCRIPT.name
    lines = SCRIPT.read_text().splitlines()
    before, after = remedy["values"]["batch_size_before"], remedy["values"]["batch_size"]
    assert f"batch_size={before}" in lines[place["line"] - 1]
    lines[place["line"] - 1] = lines[place["line"] - 1].replace(
        f"batch_size={before}", f"batch_size={after}"
    )
    patched = tmp_path / SCRIPT.name
    patched.write_text("\n".join(lines))
    done = run_python(
        patched, OOM_FORENSICS_LOGDIR=str(tmp_path), TF_CPU_BFC_MEM_LIMIT_IN_MB=LIMIT_MIB
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "trained to the end" in done.stdout


def test_every_answer_fits_a_prompt(logdir: Path) -> None:
    run = str(logdir)
    answers = answers_of(
        ("list_runs", {"logdir": run}),
        ("story", {"run": run}),
        ("holders", {"run": run, "by": "site"}),
        ("what_if", {"run": run, "limit": "1GiB"}),
        ("forecast", {"run": run}),
        ("compare", {"run": run, "baseline": run}),
    )
    assert all(len(json.dumps(each)) < 20_000 for each in answers)


def test_the_numbers_are_those_of_the_datasets(logdir: Path, dataset: Any) -> None:
    (oom,) = dataset(logdir, "oom_window")["ooms"]
    (story,) = answers_of(("story", {"run": str(logdir)}))
    (told,) = story["out_of_memories"]
    assert told["in_use_bytes"] == int(oom["inUseBytes"])
    assert [each["kind"] for each in told["remedies"]] == [each["kind"] for each in oom["remedies"]]


def test_what_cannot_be_answered_is_one_sentence(logdir: Path) -> None:
    run = str(logdir)
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "There is no /missing.": ("story", {"run": "/missing"}),
        "There is no folder /missing.": ("list_runs", {"logdir": "/missing"}),
        "'weather' is nothing to group by": ("holders", {"run": run, "by": "weather"}),
        "'noon' is no moment": ("holders", {"run": run, "at": "noon"}),
        "'much' is not a size": ("what_if", {"run": run, "limit": "much"}),
    }
    for sentence, result in zip(calls, results_of(*calls.values()), strict=True):
        assert result.is_error
        assert sentence in result.content[0].text


def test_the_tools_say_that_they_change_nothing() -> None:
    async def ask() -> Any:
        async with Client(StdioServerParameters(command=str(COMMAND), args=["mcp"])) as client:
            return (await client.list_tools()).tools

    tools = asyncio.run(ask())
    assert {tool.name for tool in tools} >= {"story", "holders", "what_if", "forecast", "compare"}
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert all(tool.description for tool in tools)


def test_the_skill_names_tools_and_codes_that_there_are() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import oom_forensics.agent as a; print(a.__path__[0])"],
        capture_output=True,
        text=True,
        check=True,
    )
    skill = (Path(done.stdout.strip()) / "SKILL.md").read_text()
    assert skill.startswith("---\nname: oom-forensics\ndescription: ")
    datasets = Path(__file__).parents[2] / "proto/datasets"
    # A library's failure is no verdict of a refused request: it is told with the host.
    verdicts = (datasets / "verdict.proto").read_text() + (datasets / "info.proto").read_text()
    told = [line.split("`")[1] for line in skill.splitlines() if line.startswith("| `")]
    assert told
    assert all(kind in verdicts for kind in told)
