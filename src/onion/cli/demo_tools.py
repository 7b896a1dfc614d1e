"""What `--tools demo` offers: three small tools that need no network, so that anybody can watch a model call one."""

from __future__ import annotations

import datetime as dt
import zlib
from typing import TypedDict

from onion.loop import tool

_SKIES = ("sunny", "cloudy", "rainy", "windy")
_COLDEST_CELSIUS, _DEGREES = 5, 25


class Weather(TypedDict):
    """A made-up weather."""

    city: str
    sky: str
    celsius: int


@tool
def get_weather(city: str) -> Weather:
    """Tell the weather in a city (made up, but always the same for a city).

    Args:
        city: Name of the city, such as Paris.
    """
    number = zlib.crc32(city.strip().lower().encode())
    return Weather(city=city, sky=_SKIES[number % len(_SKIES)], celsius=_COLDEST_CELSIUS + number % _DEGREES)


@tool
def multiply(a: float, b: float) -> float:
    """Multiply two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a * b


@tool
def current_time(utc_offset_hours: int = 0) -> str:
    """Tell the date and time of now.

    Args:
        utc_offset_hours: Hours that the wanted place is ahead of UTC; negative where it is behind.
    """
    zone = dt.timezone(dt.timedelta(hours=utc_offset_hours))
    return dt.datetime.now(zone).isoformat(timespec="seconds")


tools = (get_weather, multiply, current_time)
