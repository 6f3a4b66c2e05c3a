"""Drawings of state diagrams: checked by geometry, for the built-in formats and for graphs nobody designed."""

from __future__ import annotations

import re
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.formats.diagram import diagram
from parsers.formats.layout import CORNER, Diagram, Edge, Node, layout
from parsers.formats.layout_cells import Graph, Link
from parsers.formats.layout_routes import Box, Line, place_labels, text_box
from parsers.formats.model import builtin_formats
from tests.amount import every

NUMBER = r"-?\d+(?:\.\d+)?"
NAMES = ["CONTENT", "REASONING", "TOOL_CALL", "A", "WAITING_FOR_ARGUMENTS", "AFTER_CALL", "B2", "HEADER"]
NAMES += ["NAME", "SECTION", "ARGUMENTS", "BETWEEN"]


def graph(*arrows: str, names: str = "", end: str | None = "END") -> Graph:
    """A graph from arrows such as "A>B"; the first name is the start and every arrow is labelled."""
    pairs = [arrow.split(">") for arrow in arrows]
    links = tuple([Link(source, target, (f"r{i}",), f"r{i}") for i, (source, target) in enumerate(pairs)])
    found = dict.fromkeys([*names.split(), *[name for link in links for name in (link.source, link.target)]])
    ordered = tuple([name for name in found if name != end])
    drawn = end if end in found else None
    return Graph((*ordered, *([drawn] if drawn else ())), links, ordered[0] if ordered else "", drawn)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Up to 12 nodes with any edges between them; most have an edge to the end."""
    names = draw(st.permutations(NAMES))[: draw(st.integers(1, len(NAMES)))]
    pairs = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=24, unique=True))
    pairs += [(name, "END") for name in names if draw(st.integers(0, 3))]
    widths = st.sampled_from(["r1", "r10, r12", "r1\N{EN DASH}r9, r12, r20, +2", ""])
    links = tuple([Link(a, b, ("r0",), draw(widths)) for a, b in pairs])
    ends = any(link.target == "END" for link in links)
    return Graph((*names, *(["END"] if ends else [])), links, names[0], "END" if ends else None)


def corners(edge: Edge) -> list[tuple[float, float]]:
    """The corner points of a path: where it begins, every curve's control point, where it ends."""
    number = rf"({NUMBER}) ({NUMBER})"
    points = re.findall(rf"^M{number}|Q{number} |L{number}$", edge.path)
    return [(float(x), float(y)) for point in points for x, y in [[one for one in point if one]]]


def grown(node: Node, by: float) -> Box:
    return Box(node.x - by, node.y - by, node.x + node.width + by, node.y + node.height + by)


def on_border(point: tuple[float, float], node: Node) -> bool:
    return grown(node, 0.11).contains(point) and not grown(node, -0.11).contains(point)


def check_geometry(drawing: Diagram) -> None:
    """Everything that must hold for every drawing."""
    nodes = {node.name: node for node in drawing.nodes}
    inside = Box(0, 0, drawing.width + 0.1, drawing.height + 0.1)
    for one, other in combinations(drawing.nodes, 2):
        assert not grown(one, 0).overlaps(grown(other, 8)), (one, other)
    for node in drawing.nodes:
        assert inside.contains((node.x, node.y))
        assert inside.contains((node.x + node.width, node.y + node.height))
    for edge in drawing.edges:
        check_edge(edge, nodes, inside)
    check_lines_apart(drawing)


def check_edge(edge: Edge, nodes: dict[str, Node], inside: Box) -> None:
    points = corners(edge)
    assert on_border(points[0], nodes[edge.source]), edge
    assert on_border(points[-1], nodes[edge.target]), edge
    assert all(inside.contains(point) for point in points), edge
    last = len(points) - 2
    for place, ((x1, y1), (x2, y2)) in enumerate(pairwise(points)):
        assert abs(x1 - x2) < 0.11 or abs(y1 - y2) < 0.11, edge
        piece = Box(min(x1, x2) - 0.1, min(y1, y2) - 0.1, max(x1, x2) + 0.1, max(y1, y2) + 0.1)
        for node in nodes.values():
            touches = (place == 0 and node.name == edge.source) or (place == last and node.name == edge.target)
            assert not piece.overlaps(grown(node, -0.2 if touches else 4)), (edge, node)
    text = text_box(edge.label, (edge.label_x, edge.label_y))
    assert inside.contains((text.left, text.top)), edge
    assert inside.contains((text.right, text.bottom)), edge
    assert not any(text.overlaps(grown(node, -0.2)) for node in nodes.values()), edge


def check_lines_apart(drawing: Diagram) -> None:
    """Two edges may cross, and meet on the way into one node, but never lie on each other otherwise."""
    for one, other in combinations(drawing.edges, 2):
        if one.target == other.target:
            continue
        for (ax, ay), (bx, by) in pairwise(corners(one)):
            for (cx, cy), (dx, dy) in pairwise(corners(other)):
                wide = min(max(ax, bx), max(cx, dx)) - max(min(ax, bx), min(cx, dx))
                high = min(max(ay, by), max(cy, dy)) - max(min(ay, by), min(cy, dy))
                assert not (wide >= 0 and high >= 0 and max(wide, high) > 1), (one, other)


@pytest.mark.replays
@pytest.mark.parametrize("name", every(8, builtin_formats()))
def test_every_built_in_format_is_drawn_without_a_clash(name: str) -> None:
    check_geometry(diagram(builtin_formats()[name]))


@pytest.mark.replays
@pytest.mark.parametrize("name", every(8, builtin_formats()))
def test_every_built_in_format_is_readable_at_the_width_of_its_pane(name: str) -> None:
    """Its words have 11 pixels at full size; what is wider than the pane follows the current state."""
    states = len(builtin_formats()[name].states)
    assert diagram(builtin_formats()[name]).width <= (730 if states < 6 else 1000)


@pytest.mark.replays
@given(graphs())
@settings(max_examples=20)
def test_any_graph_is_drawn_without_a_clash(drawn: Graph) -> None:
    check_geometry(layout(drawn))


def test_nothing_gives_an_empty_drawing() -> None:
    assert layout(Graph((), (), "")) == Diagram(0, 0)


def test_a_single_state_stands_alone() -> None:
    drawing = layout(graph(names="CONTENT"))
    assert [node.name for node in drawing.nodes] == ["CONTENT"]
    assert drawing.edges == ()


def test_the_same_graph_gives_the_same_drawing() -> None:
    drawn = graph("A>B", "B>C", "C>A", "A>END", "B>END", "C>END")
    assert layout.__wrapped__(drawn) == layout.__wrapped__(drawn)


def test_layers_run_from_left_to_right_from_the_start() -> None:
    nodes = {node.name: node for node in layout(graph("A>B", "B>C", "C>END")).nodes}
    assert nodes["A"].x < nodes["B"].x < nodes["C"].x < nodes["END"].x
    assert len({node.y for node in nodes.values()}) == 1


@pytest.mark.replays
def test_a_long_chain_is_folded_instead_of_growing_wide() -> None:
    drawing = layout(graph(*[f"STATE_{n}>STATE_{n + 1}" for n in range(10)]))
    assert drawing.width <= 480
    assert len({node.y for node in drawing.nodes}) > 1


def test_where_no_effort_is_allowed_the_first_draft_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.formats.layout_cells.EFFORT", 1)
    drawing = layout(graph("A>B", "B>C", "A>C", "C>D", "B>D"))
    check_geometry(drawing)
    assert {node.name for node in drawing.nodes} >= {*"ABCD"}


@pytest.mark.replays
def test_a_graph_too_big_to_improve_is_drawn_in_plain_order() -> None:
    names = [f"S{n}" for n in range(60)]
    arrows = [f"{a}>{b}" for step in (1, 7, 13) for a, b in zip(names, names[step:], strict=False)]
    drawing = layout(graph(*arrows))
    check_geometry(drawing)
    rows = sorted({node.y for node in drawing.nodes})
    top = [node.name for node in sorted(drawing.nodes, key=lambda node: node.x) if node.y == rows[0]]
    assert top[:3] == ["S0", "S1", "S7"]


def test_names_too_long_for_the_width_make_a_wider_drawing() -> None:
    drawing = layout(graph(f"{'A' * 90}>B"))
    assert drawing.width > 480
    check_geometry(drawing)


def test_opposite_edges_are_two_parallel_lines() -> None:
    there, back = layout(graph("A>B", "B>A")).edges
    (x1, y1), (x2, y2) = corners(there)
    assert [(x, round(y - 12, 1)) for x, y in reversed(corners(back))] == [(x1, y1), (x2, y2)]


def test_a_loop_stands_above_its_node() -> None:
    drawing = layout(graph("A>A"))
    node, loop = drawing.nodes[0], corners(drawing.edges[0])
    assert loop[0][1] == loop[-1][1] == node.y
    assert all(y < node.y for _, y in loop[1:-1])


@pytest.mark.replays
def test_edges_into_the_end_share_their_last_stretch() -> None:
    names = [f"STATE_{n}" for n in range(8)]
    chain = [f"{a}>{b}" for a, b in pairwise(names)]
    drawing = layout(graph(*chain, *[f"{name}>END" for name in names]))
    ends = [corners(edge)[-1] for edge in drawing.edges if edge.target == "END"]
    assert len(set(ends)) < len(ends)


def test_a_state_that_nothing_leads_to_stands_beside_what_it_leads_to() -> None:
    depths = graph("A>B", "REASONING>A", "LOST>END", names="A").depths()
    assert depths == {"A": 0, "B": 1, "REASONING": 0, "LOST": 0, "END": 2}


def test_the_end_is_marked_and_nothing_else() -> None:
    drawing = layout(graph("A>B", "B>END"))
    assert [node.name for node in drawing.nodes if node.end] == ["END"]


def test_corners_are_rounded_by_at_most_their_radius() -> None:
    paths = [edge.path for edge in layout(graph("A>A", "A>B", "B>C", "C>A", "A>C")).edges]
    curves = [curve for path in paths for curve in re.findall(rf"L({NUMBER}) ({NUMBER})Q({NUMBER}) ({NUMBER})", path)]
    assert curves
    assert all(abs(float(a) - float(c)) + abs(float(b) - float(d)) <= CORNER + 0.1 for a, b, c, d in curves)


def test_a_label_never_stands_on_a_node_even_without_a_good_place() -> None:
    lines = [Line([(0, 20), (200, 20)], "r1"), Line([(0, 22), (200, 22)], "r2")]
    walls = [Box(0, 0, 90, 40), Box(130, 0, 200, 40)]
    places, disorder = place_labels(lines, walls, Box(0, 0, 200, 40))
    boxes = [text_box(line.label, at) for line, at in zip(lines, places, strict=True)]
    assert not any(text.overlaps(wall) for text in boxes for wall in walls)
    assert disorder > 0


def test_a_label_makes_room_for_one_that_has_no_other_place() -> None:
    loop = Line([(90, 50), (90, 38), (70, 38), (70, 50)], "<tool_call>")  # has the least room, and chooses first
    there, back = Line([(100, 56), (206, 56)], "</tool_call>"), Line([(206, 68), (100, 68)], "<tool_call>")
    lines = [loop, there, back, Line([(50, 0), (50, 50)], "{")]
    places, _ = place_labels(lines, [Box(0, 50, 100, 74), Box(206, 50, 300, 74)], Box(0, 0, 300, 100))
    boxes = [text_box(line.label, at) for line, at in zip(lines, places, strict=True)]
    assert not boxes[0].overlaps(boxes[1])
    assert boxes[1].bottom < 56
    assert boxes[2].top > 68


def test_a_label_without_any_place_stands_where_its_edge_begins() -> None:
    line = Line([(50, 20), (60, 20)], "r1")
    places, _ = place_labels([line], [Box(0, 0, 100, 40)], Box(0, 0, 100, 40))
    assert places == [(50, 20)]
