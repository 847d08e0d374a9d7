"""Presets: they fit the processors, and they differ in what they are for."""

from __future__ import annotations

from importlib import import_module
from math import inf, nan

import pytest
from pydantic import ValidationError

from processors import NAMES, PROCESSORS
from processors.activation import ActivationParams, activation
from processors.consolidation import ConsolidationParams, traces
from processors.forgetting import ForgettingParams, forgotten, retention
from streams.core.events import DAY
from streams.core.presets import PRESETS as NAMED
from streams.core.presets import preset
from streams.core.text.kinds import MemoryType

PRESETS = {name: preset(PROCESSORS, name) for name in NAMED}
DYNAMICS = ("activation", "association", "consolidation", "forgetting")
PARAMS = {name: import_module(f"processors.{name}").PROCESSOR.params for name in {*NAMES, *DYNAMICS}}
TYPES: tuple[MemoryType, ...] = ("episodic", "semantic", "procedural")
SLOWEST_FIRST = ["researcher", "chatbot", "personal-assistant", "task-agent"]


def forgetting(name: str) -> ForgettingParams:
    return ForgettingParams(**PRESETS[name].get("forgetting", {}))


def test_there_is_a_preset_for_each_use() -> None:
    assert sorted(PRESETS) == sorted(SLOWEST_FIRST)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_fits_the_parameters_of_its_processors(name: str) -> None:
    for processor, values in PRESETS[name].items():
        params = PARAMS[processor](**values)
        assert {key: getattr(params, key) for key in values} == values


@pytest.mark.parametrize("name", sorted(PARAMS))
def test_no_parameter_takes_a_number_that_is_not_finite(name: str) -> None:
    for parameter, field in PARAMS[name].model_fields.items():
        for number in (inf, -inf, nan):
            given = dict.fromkeys(field.default, number) if isinstance(field.default, dict) else number
            with pytest.raises(ValidationError):
                PARAMS[name](**{parameter: given})


@pytest.mark.parametrize(
    "setting", ["consolidation.important", "consolidation.pinned", "consolidation.reward", "working_memory.fade"]
)
def test_no_parameter_is_so_great_that_nothing_can_be_computed_of_it(setting: str) -> None:
    name, _, parameter = setting.partition(".")
    with pytest.raises(ValidationError):
        PARAMS[name](**{parameter: 1e305})


@pytest.mark.parametrize("type", TYPES)
def test_after_thirty_days_a_researcher_retains_most_and_a_task_agent_least(type: MemoryType) -> None:
    left = {name: retention(forgetting(name), None, type, 0, 30 * DAY) for name in PRESETS}
    assert sorted(left, key=lambda name: -left[name]) == SLOWEST_FIRST
    assert len(set(left.values())) == len(left)


def test_a_task_agent_keeps_how_longest_and_a_chatbot_what_its_user_is_like() -> None:
    def longest(name: str) -> str:
        return max(TYPES, key=lambda type: retention(forgetting(name), None, type, 0, 30 * DAY))

    assert longest("task-agent") == "procedural"
    assert longest("chatbot") == "semantic"


def test_a_researcher_forgets_nothing_and_a_task_agent_what_happened_last_week() -> None:
    assert not forgotten(forgetting("researcher"), None, "episodic", 0, 3650 * DAY)
    assert forgotten(forgetting("task-agent"), None, "episodic", 0, 7 * DAY)


def test_old_memories_are_more_present_and_better_consolidated_the_slower_the_preset() -> None:
    def lasting(name: str) -> tuple[float, float]:
        values = PRESETS[name]
        present = activation(ActivationParams(**values.get("activation", {})), None, 0, 30 * DAY)
        return present, sum(traces(ConsolidationParams(**values.get("consolidation", {})), None, 0, 90 * DAY))

    found = [lasting(name) for name in SLOWEST_FIRST]
    assert found == sorted(found, reverse=True)
    assert [one[1] for one in found] == sorted((one[1] for one in found), reverse=True)
