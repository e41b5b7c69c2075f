"""A floor plan from a file: SVG of which only shapes and letters are kept, with its ids checked against the building.

A plan is shown inside a page, so it could run code there or load from elsewhere. What is kept is listed, and the rest
is left out and named: scripts, event handlers, foreign objects, links, images, styles that reach outside, animations.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from louver.errors import DataError, ParameterError
from louver.source.names import instead_of

if TYPE_CHECKING:
    from louver.sense.building import Building

LARGEST = 8 * 2**20
DEEPEST = 64
SVG = "http://www.w3.org/2000/svg"
_ELEMENTS = re.compile(
    "svg|g|path|rect|circle|ellipse|line|polyline|polygon|text|tspan|title|desc|defs|"
    "linearGradient|radialGradient|stop|clipPath"
)
_LOOKS = re.compile(
    "fill|fill-opacity|fill-rule|stroke|stroke-width|stroke-opacity|stroke-dasharray|stroke-linecap|stroke-linejoin|"
    "stroke-miterlimit|opacity|display|visibility|font-size|font-family|font-weight|font-style|text-anchor|"
    "dominant-baseline|letter-spacing|clip-path|clip-rule|stop-color|stop-opacity|color"
)
_ATTRIBUTES = re.compile(
    "id|d|x|y|x1|y1|x2|y2|dx|dy|cx|cy|r|rx|ry|width|height|points|transform|viewBox|preserveAspectRatio|offset|"
    "gradientUnits|gradientTransform|clipPathUnits|fx|fy|spreadMethod|role|aria-label|style"
)
_REACHES_OUT = re.compile(r"url\s*\((?!\s*['\"]?#)|\\|@|javascript:|expression|data:|https?:|//", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FloorPlan:
    """A plan that is safe to show, and the kinds of things that were left out of it."""

    svg: str
    removed: tuple[str, ...] = ()


def read(path: Path, building: Building) -> FloorPlan:
    """The plan of a building from a file."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise DataError(f"{path} has {size:,} bytes, and a floor plan may have {LARGEST:,}; simplify its paths.")
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"There is no floor plan {path}.") from None
    except OSError as fault:
        raise DataError(f"{path} cannot be read: {fault.strerror or 'the system gave no reason'}.") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not written in UTF-8.") from None
    return checked(text, building, str(path))


def checked(text: str, building: Building, file: str = "The floor plan") -> FloorPlan:
    """What may be shown of an SVG. Each region must be in it by its id, or all of its rooms by theirs."""
    root = _parsed(text, file)
    removed: dict[str, None] = {}
    _clean(root, removed)
    found = _ids(root, file)
    _check_places(found, building, file, tuple(removed))
    root.set("xmlns", SVG)
    return FloorPlan(ET.tostring(root, encoding="unicode"), tuple(removed))


def _parsed(text: str, file: str) -> ET.Element:
    # Without a document type no entity can be declared, so none can grow or read a file.
    if re.search(r"<!(DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise DataError(f"{file} has a document type or entities; save it as plain SVG without them.")
    try:
        root = ET.fromstring(text)  # noqa: S314 no entity can be declared
    except (ET.ParseError, ValueError, RecursionError) as fault:
        line = getattr(fault, "position", (None,))[0]
        raise DataError(f"{file}{f', line {line}' if line else ''}: this is not XML.") from None
    if root.tag not in (f"{{{SVG}}}svg", "svg"):
        raise DataError(f"{file} is no SVG; its outermost element must be <svg>.")
    _check_depth(root, file)
    return root


def _check_depth(root: ET.Element, file: str) -> None:
    waiting = [(root, 1)]
    while waiting:
        element, depth = waiting.pop()
        if depth > DEEPEST:
            raise DataError(f"{file} nests elements more than {DEEPEST} deep; ungroup some.")
        waiting += [(child, depth + 1) for child in element]


def _clean(element: ET.Element, removed: dict[str, None]) -> None:
    """Leaves shapes and letters, and says what else was there."""
    element.tag = _local(element.tag)
    for name, value in list(element.attrib.items()):
        kept = _attribute(name, value)
        if kept is None or kept != value:
            if not name.startswith("{") or _local(name) == "href":
                removed[f"attribute {_local(name)}"] = None
            del element.attrib[name]
        if kept:
            element.set(name, kept)
    for child in list(element):
        tag = str(child.tag)
        if tag.startswith(f"{{{SVG}}}") or "}" not in tag:
            if _ELEMENTS.fullmatch(_local(tag)):
                _clean(child, removed)
                continue
            removed[f"<{_local(tag)}>"] = None
        _drop(element, child)  # what other programs left in the file goes without a word


def _drop(parent: ET.Element, child: ET.Element) -> None:
    """Removes an element and keeps the letters after it."""
    at = list(parent).index(child)
    if child.tail:
        before = parent[at - 1] if at else None
        if before is None:
            parent.text = (parent.text or "") + child.tail
        else:
            before.tail = (before.tail or "") + child.tail
    parent.remove(child)


def _attribute(name: str, value: str) -> str | None:
    """What is kept of an attribute's value; None where nothing is."""
    looks = _LOOKS.fullmatch(name)
    if not looks and not _ATTRIBUTES.fullmatch(name):
        return None
    if name == "style":
        kept = [each.strip() for each in value.split(";") if _is_look(each)]
        return (
            value if len(kept) == len([each for each in value.split(";") if each.strip()]) else "; ".join(kept) or None
        )
    return None if looks and _REACHES_OUT.search(value) else value


def _is_look(declaration: str) -> bool:
    name, colon, value = declaration.partition(":")
    return bool(colon) and _LOOKS.fullmatch(name.strip().lower()) is not None and not _REACHES_OUT.search(value)


def _ids(root: ET.Element, file: str) -> set[str]:
    found: set[str] = set()
    for id_ in _each_id(root):
        if id_ in found:
            raise ParameterError(f"{file} has two elements with the id {id_!r}; an id is given once.")
        found.add(id_)
    return found


def _each_id(root: ET.Element) -> Iterator[str]:
    return (id_ for element in root.iter() if (id_ := element.get("id")) is not None)


def _check_places(found: set[str], building: Building, file: str, removed: tuple[str, ...]) -> None:
    for region in building.regions:
        missing = [room.id for room in region.rooms if room.id not in found]
        if region.id in found or (region.rooms and not missing):
            continue
        what, id_ = ("room", missing[0]) if missing and len(missing) < len(region.rooms) else ("region", region.id)
        free = sorted(found - {each.id for each in building.regions} - {each.id for each in building.rooms})
        left_out = f"; left out were {', '.join(removed)}" if removed else ""
        hint = instead_of(id_, free) if free else ""
        raise ParameterError(
            f"{file} has no element with the id {id_!r}{hint}, which is a {what} of building {building.id!r}{left_out}."
        )


def _local(name: object) -> str:
    return str(name).rpartition("}")[2]
