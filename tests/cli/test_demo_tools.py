"""The tools of `--tools demo`."""

import datetime as dt

from onion.cli.demo_tools import calculate_product, get_time, get_weather, tools
from onion.loop.options import ToolOptions
from onion.loop.tools import Tool
from onion.loop.toolset import parse_input

OPTIONS = ToolOptions[object](tool_call_id="1", context=None)


def output(tool: Tool, text: str) -> object:
    """What a tool makes of an input that a model wrote."""
    return tool.start(parse_input(tool, text).value, OPTIONS)


def test_a_city_has_its_weather_however_it_is_written() -> None:
    first = output(get_weather, '{"city": "Paris"}')
    again = output(get_weather, '{"city": " PARIS "}')

    assert first == {"city": "Paris", "sky": "rainy", "celsius": 8}
    assert again == {"city": " PARIS ", "sky": "rainy", "celsius": 8}


def test_numbers_are_multiplied() -> None:
    assert output(calculate_product, '{"a": 6, "b": 7}') == 42


def test_the_time_is_now_and_says_its_zone() -> None:
    told = dt.datetime.fromisoformat(str(output(get_time, "{}")))

    assert abs(told - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=1)


def test_every_tool_says_what_it_is_for() -> None:
    assert [tool.name for tool in tools] == ["get_time", "get_weather", "calculate_product"]
    assert all(tool.description for tool in tools)
