"""What `--tools demo` offers: three small tools that need no network, so that anybody can watch a model call one.

Names and descriptions are those with which the little local model chooses best. The weather is made up.
"""

from __future__ import annotations

import datetime as dt
import zlib
from typing import TypedDict

from onion.loop import Tool, tool

_SKIES = ("sunny", "cloudy", "rainy", "windy")
_COLDEST_CELSIUS, _DEGREES = 5, 25


class Weather(TypedDict):
    """A made-up weather."""

    city: str
    sky: str
    celsius: int


@tool
def get_time() -> str:
    """Get the current time and date."""
    return dt.datetime.now().astimezone().isoformat(timespec="seconds")


@tool
def get_weather(city: str) -> Weather:
    """Get the current weather in a city."""
    number = zlib.crc32(city.strip().lower().encode())
    return Weather(city=city, sky=_SKIES[number % len(_SKIES)], celsius=_COLDEST_CELSIUS + number % _DEGREES)


@tool
def calculate_product(a: float, b: float) -> float:
    """Calculate the product of two numbers."""
    return a * b


tools: tuple[Tool, Tool, Tool] = (get_time, get_weather, calculate_product)
