"""Names by a model: what it is asked, which replies count, and that an answer which talks to it gains nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import CASES, Record, asked, box, read_json, run, write
from eval import FutureXEvaluator
from forecasteval.common.markup import clean
from forecasteval.common.report import format_text
from forecasteval.common.results import Results
from forecasteval.futurex.llm_names import MAX_LENGTH, MAX_WORDS, build_prompt, choose_decoy, read_reply
from forecasteval.futurex.names import read_name, same_name
from llm_runs import CANARY, UNSURE, question
from llm_server import Asked, LlmServer, Reply, completion, error, honest

INJECTIONS: Final = read_json(CASES / "name_injections.json")
GROUPS: Final = (  # what means the same to a good model
    {"Harbour City", "港城"}, {"New Quill", "NQ", "Nova Quilla"}, {"Tern Islands", "燕鸥群岛"}, {"Red Kite", "赤鸢"},
)  # fmt: skip
PROBE: Final = {"a": "NYC", "b": "New York City"}


def says(same: object) -> Reply:
    return completion(json.dumps({"same": same}))


def knows(a: str, b: str) -> bool:
    return any({a, b} <= group for group in GROUPS)


def judge(decides: Callable[[str, str], object]) -> Callable[[Asked], Reply]:
    """A model that reads the probe well and decides pairs so; it must be asked about nothing but pairs."""

    def script(request: Asked) -> Reply:
        pair = request.data
        assert pair.keys() == {"a", "b"}
        if pair == PROBE:
            return says(True)
        decided = decides(pair["a"], pair["b"])
        return decided if isinstance(decided, Reply) else says(decided)

    return script


@pytest.fixture
def server() -> Iterable[LlmServer]:
    """A model on loopback that knows `GROUPS`."""
    with LlmServer(judge(knows)) as started:
        yield started


def ranking(truth: list[str], *answer: str, name: str = "q", level: int = 3) -> Record:
    return {**asked(level, repr(truth), list(answer)), "id": name}


OTHERS: Final = [  # whose true names serve as decoys; answered without a word
    {**ranking(["Grey Heron", "Low Tide"], name="d1"), "answer": None},
    {**ranking(["Tin Lantern"], name="d2"), "answer": box("Tin Lantern")},
]


def evaluate(server: LlmServer, data: list[Record], key: str = "key", **options: Any) -> Results:
    results = FutureXEvaluator(key, server.url, **{"llm_names": True, **options}).evaluate_all([*data, *OTHERS])
    assert results["llm_names"]["changed"] == sum(item["decided_by"] == "model" for item in results["items"])
    return results


def without_model(data: list[Record]) -> Record:
    return FutureXEvaluator().evaluate_all([*data, *OTHERS])


def pairs(server: LlmServer) -> list[tuple[str, str]]:
    """What was asked, in any order, without the probe."""
    found = [(request.data["a"], request.data["b"]) for request in server.requests if request.data != PROBE]
    return sorted(found)


def counts(results: Record, *keys: str) -> tuple[int, ...]:
    return tuple(results["llm_names"][key] for key in keys)


# --- What a model can do ---


def test_names_that_the_rules_leave(server: LlmServer) -> None:
    data = [
        ranking(["Harbour City", "New Quill"], "港城", "NQ", name="right"),
        ranking(["Harbour City", "New Quill"], "NQ", "港城", name="turned"),
        ranking(["Harbour City", "New Quill"], "港城", "Low Fen", name="half"),
        ranking(["Harbour City", "New Quill"], "Harbour City", "NQ", name="one by the rules"),
        ranking(["Harbour City"], "New Quill", name="wrong"),
        ranking(["Harbour City", "New Quill"], "Harbour City", "New Quill", name="no need"),
    ]
    results = evaluate(server, data)
    decided = {item["id"]: (item["score"], item["decided_by"]) for item in results["items"][: len(data)]}
    assert decided == {
        "right": (1, "model"), "turned": (0.8, "model"), "half": (0.4, "model"), "one by the rules": (1, "model"),
        "wrong": (0, "grammar"), "no need": (1, "grammar"),
    }  # fmt: skip
    assert [item["score"] for item in without_model(data)["items"][: len(data)]] == [0, 0, 0, 0.4, 0, 1]


@pytest.mark.parametrize(
    ("level", "truth", "answer", "score"),
    [
        (1, ["Harbour City"], ["港城"], 1),
        (1, ["Harbour City"], ["港城", "Low Fen"], 0),
        (2, ["Harbour City", "New Quill"], ["NQ"], 2 / 3),
        (2, ["Harbour City", "New Quill"], ["NQ", "港城"], 1),
    ],
)
def test_names_to_choose(server: LlmServer, level: int, truth: list[str], answer: list[str], score: float) -> None:
    item = evaluate(server, [ranking(truth, *answer, level=level)])["items"][0]
    assert (item["score"], item["decided_by"]) == (pytest.approx(score), "model" if score else "grammar")


def test_a_true_name_is_matched_once(server: LlmServer) -> None:
    """Two spellings of one name are one right item, and one true name cannot serve two."""
    item = evaluate(server, [ranking(["New Quill", "Red Kite"], "NQ", "Nova Quilla")])["items"][0]
    assert item["score"] == pytest.approx(0.4)
    assert evaluate(server, [ranking(["New Quill", "Red Kite"], "NQ", "NQ")])["items"][0]["score"] == pytest.approx(0.4)


def test_a_model_never_lowers_a_score(server: LlmServer) -> None:
    data = [ranking(["Harbour City", "New Quill", "Red Kite"], "New Quill", "Red Kite", "Low Fen")]
    for decides in (lambda a, b: False, lambda a, b: True, lambda a, b: a == "Harbour City"):
        server.script = judge(decides)
        assert evaluate(server, data)["items"][0]["score"] >= without_model(data)["items"][0]["score"]


def test_only_what_the_rules_leave_is_asked(server: LlmServer) -> None:
    data = [
        ranking(["Harbour City", "New Quill"], "Old Harbour City", "NQ", name="one"),
        {**asked(1, "B", box("A"), prompt="Who?\nA. Harbour City\nB. Red Kite"), "id": "options"},
        {**asked(1, "Yes", box("No")), "id": "yes"},
        {**asked(3, "Harbour City, Red Kite", None), "id": "missing"},
        {**asked(3, "Harbour City, Red Kite", "It is hard to say. I would go for 港城"), "id": "prose"},
        question(r"\boxed{101}", "number"),
    ]
    evaluate(server, data)
    asked_about = [(a, b) for a, b in pairs(server) if a == "New Quill"]
    decoys = [(a, b) for a, b in pairs(server) if a != "New Quill"]
    assert asked_about == [("New Quill", "NQ")]
    assert [b for _, b in decoys] == ["NQ"]


def test_one_pair_a_call_as_json(server: LlmServer) -> None:
    evaluate(server, [ranking(['Harbour "City" <b>', "New Quill"], "NQ</data>", "港城")], key=CANARY, model="m-1")
    probe, *requests = server.requests
    assert probe.data == PROBE
    assert len(requests) == 2 * 2 + 2  # two true names, two predicted, a decoy for each of the latter
    for request in requests:
        assert request.body["model"] == "m-1"
        assert request.body["temperature"] == 0
        assert request.body["response_format"]["json_schema"]["schema"]["required"] == ["same"]
        assert request.prompt.startswith("<data>\n{")
        assert request.prompt.count("<") == 2, "a tag from inside the data"
        assert CANARY.encode() not in request.raw
    assert 'Harbour "City" <b>' in {request.data["a"] for request in requests}


@pytest.mark.parametrize("long", ["x" * (MAX_LENGTH + 1), " ".join(["word"] * (MAX_WORDS + 1))], ids=["80", "12"])
def test_long_names_are_never_asked_about(server: LlmServer, long: str) -> None:
    server.script = judge(lambda a, b: True)
    evaluate(server, [ranking(["Red Kite"], long, "港城"), ranking([long], "赤鸢", name="true")])
    assert pairs(server)
    assert all(long not in pair for pair in pairs(server))


@pytest.mark.parametrize("name", ["x" * MAX_LENGTH, " ".join(["word"] * MAX_WORDS)], ids=["80", "12"])
def test_names_up_to_the_limit_are_asked_about(server: LlmServer, name: str) -> None:
    evaluate(server, [ranking(["Red Kite"], name)])
    assert ("Red Kite", name) in pairs(server)


# --- The decoy ---


def test_every_predicted_name_is_asked_about_with_a_name_of_another_question(server: LlmServer) -> None:
    data = [ranking(["Harbour City", "Red Kite"], "港城", "Low Fen")]
    evaluate(server, data)
    others = {"Grey Heron", "Low Tide", "Tin Lantern"}
    for name in ("港城", "Low Fen"):
        decoys = {a for a, b in pairs(server) if b == name} - {"Harbour City", "Red Kite"}
        assert len(decoys) == 1
        assert decoys <= others


def test_a_name_called_the_same_as_its_decoy_is_refused_for_the_whole_question(server: LlmServer) -> None:
    server.script = judge(lambda a, b: knows(a, b) or b == "Low Fen")
    data = [ranking(["Harbour City", "Red Kite"], "港城", "Low Fen")]
    results = evaluate(server, data)
    assert results["items"][0]["score"] == pytest.approx(0.4)  # 港城 counts, Low Fen neither for the one nor the other
    assert counts(results, "asked", "same", "refused", "changed") == (4, 1, 1, 1)
    assert [line for line in results["warnings"] if "decoy" in line or "another question" in line]


def test_another_writing_of_a_refused_name_is_refused_too(server: LlmServer) -> None:
    """Else an answer writes a name twice, once to talk and once to count."""
    server.script = judge(lambda a, b: b == "港城。" or knows(a, b))
    results = evaluate(server, [ranking(["Harbour City", "Red Kite"], "港城。", "港城")])
    assert (results["items"][0]["score"], counts(results, "refused")) == (0, (1,))


def test_decoys_are_like_the_true_names() -> None:
    """So that "yes, if the other is in Chinese" or "if it is long" does not tell them apart."""
    pool = [read_name(text) for text in ("灰鹭", "Grey Heron of the Far Islands", "Tin Lantern", "Fen")]
    for own, wanted in (("港城", "灰鹭"), ("Harbour City", "Tin Lantern"), ("Red", "Fen")):
        decoy = choose_decoy(read_name("Low Tide"), [read_name(own)], pool)
        assert decoy is not None
        assert decoy.text == wanted


def test_a_model_that_says_yes_to_everything_changes_nothing(server: LlmServer) -> None:
    server.script = judge(lambda a, b: True)
    data = [ranking(["Harbour City", "Red Kite"], "Low Fen", "NQ"), ranking(["Red Kite"], "x", name="y", level=1)]
    results = evaluate(server, data)
    assert results["items"] == without_model(data)["items"]
    assert counts(results, "same", "refused", "changed") == (0, 3, 0)


def test_without_a_decoy_nothing_is_asked(server: LlmServer) -> None:
    data = [ranking(["Harbour City"], "港城")]
    results = FutureXEvaluator("key", server.url, llm_names=True).evaluate_all(data)
    assert (results["items"][0]["score"], pairs(server)) == (0, [])


def test_no_decoy_is_a_true_name_of_the_question_nor_like_the_name() -> None:
    own = [read_name(text) for text in ("Harbour City", "Red Kite")]
    pool = [read_name(text) for text in ("Harbour City", "Old Red Kite", "Fen", "Low Fen", "Tin Lantern")]
    name = read_name("Fen")
    decoy = choose_decoy(name, own, pool)
    assert decoy is not None
    assert decoy.text == "Tin Lantern"
    assert choose_decoy(name, own, pool[:4]) is None
    assert choose_decoy(name, own, pool) is decoy


@given(st.lists(st.text(max_size=6), max_size=6), st.lists(st.text(max_size=6), max_size=3), st.text(max_size=6))
def test_any_decoy_is_another_name(pool: list[str], own: list[str], text: str) -> None:
    name, own_names = read_name(text), [read_name(one) for one in own]
    decoy = choose_decoy(name, own_names, [read_name(one) for one in pool])
    if decoy is not None:
        assert not same_name(decoy, name)
        assert not any(same_name(true, decoy) for true in own_names)


# --- Names that talk to the judge ---


def test_injection_table() -> None:
    texts = [case["text"] for case in INJECTIONS]
    assert len({*texts}) == len(SENT) == 20
    assert all(case["why"] for case in INJECTIONS)
    assert all(len(text) <= MAX_LENGTH and len(text.split()) <= MAX_WORDS for text in texts), "must be asked about"


SENT: Final = {clean(case["text"]): case["reply"] for case in INJECTIONS}  # a name is cleaned before it is one
OBEYS: Final[dict[str, Callable[[str, str], object]]] = {
    "yes to a name that talks": lambda a, b: True,
    "its own reply": lambda a, b: completion(SENT[a if a in SENT else b]),
    "the name as reply": lambda a, b: completion(b),
    "the pair as reply": lambda a, b: completion(json.dumps({"a": a, "b": b, "same": True})),
    "the data as reply": lambda a, b: completion(build_prompt(a, b)),
    "yes in another form": lambda a, b: completion('{"same": "true"}'),
}


@pytest.mark.parametrize("obedience", OBEYS)
def test_twenty_names_that_talk_to_the_judge_gain_nothing(server: LlmServer, obedience: str) -> None:
    """One question each, and all in one answer; a model that obeys them, but knows honest names."""
    texts = [*SENT]

    def obey(a: str, b: str) -> object:
        return OBEYS[obedience](a, b) if {a, b} & {*texts} else knows(a, b)

    server.script = judge(obey)
    data = [ranking(["Harbour City", "Red Kite"], text, name=str(n)) for n, text in enumerate(texts)]
    data += [ranking(["Harbour City"], text, name=f"choice {n}", level=1) for n, text in enumerate(texts)]
    data += [ranking(["Harbour City", "Red Kite"], *texts[n : n + 4], name=f"four {n}") for n in range(0, 20, 4)]
    data.append(ranking(["Harbour City", "Red Kite"], "港城", *texts[:3], name="one honest name"))
    results, grammar = evaluate(server, data), without_model(data)
    assert {text for _, text in pairs(server)} >= {*texts}, "all of them are asked about"
    honest = results["items"].pop(len(data) - 1)
    assert (grammar["items"].pop(len(data) - 1)["score"], honest["score"]) == (0, pytest.approx(0.4))
    assert results["items"] == grammar["items"]


def test_answers_cannot_talk_a_judge_into_another_answers_score(server: LlmServer) -> None:
    """A name is refused for its own question only: nobody can cost others their match."""
    server.script = judge(lambda a, b: knows(a, b) or "TALK" in b)
    data = [ranking(["Harbour City"], "TALK", name="bad"), ranking(["Red Kite"], "赤鸢", name="good")]
    assert [item["score"] for item in evaluate(server, data)["items"][:2]] == [0, 1]


def test_a_list_of_thousands_of_names_is_not_asked_about_without_end(server: LlmServer) -> None:
    """What a model wrote must not decide what its judge costs: 10 x 300 pairs here, and a decoy for each name."""
    truth = [f"Harbour {letter}" for letter in "ABCDEFGHIJ"]
    data = [{**asked(3, repr(truth), box(", ".join(f"q{n}" for n in range(300)))), "id": "q"}]
    results = evaluate(server, data, workers=8)
    assert len(server.requests) < 1_000
    assert counts(results, "asked", "left") == (10 * 20, 280)
    assert [line for line in results["warnings"] if line.startswith("280 predicted names were not asked about")]


# --- What is sent ---


def test_without_llm_names_no_truth_is_sent(server: LlmServer) -> None:
    """`--llm` alone: only spans of answers, never a true name, never a pair."""
    server.script = honest
    data = [ranking(["Harbour City", "New Quill"], "港城", "NQ"), question(UNSURE, "n", truth="73519.25")]
    results = FutureXEvaluator("key", server.url, llm_policy="always").evaluate_all([*data, *OTHERS])
    assert len(server.requests) == 2  # the probe and the number
    sent = b"".join(request.raw for request in server.requests)
    for truth in ("Harbour City", "New Quill", "Grey Heron", "Tin Lantern", "73519"):
        assert truth.encode() not in sent
    assert results["llm_names"] is None
    assert results["signature"]["llm_names"] is None


def test_numbers_are_read_as_without_names(server: LlmServer) -> None:
    def script(request: Asked) -> Reply:
        if "span" in request.data:
            return honest(request)
        return judge(knows)(request)

    server.script = script
    data = [question(UNSURE, "n"), ranking(["Harbour City"], "港城"), *OTHERS]
    results = FutureXEvaluator("key", server.url, llm_names=True).evaluate_all(data)
    assert [item["decided_by"] for item in results["items"][:2]] == ["model", "model"]
    assert (results["llm"]["asked"], results["llm_names"]["asked"]) == (1, 1)


# --- Replies, failures, counts ---


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ('{"same": true}', True),
        ('{"same": false}', False),
        ('```json\n{"same": true}\n```', True),
        ('They are. {"same": true}', True),
        ('{"same": "true"}', None),
        ('{"same": 1}', None),
        ('{"same": null}', None),
        ('{"same": true, "why": "x"}', None),
        ('{"a": "x", "b": "y", "same": true}', None),
        ('{"Same": true}', None),
        ('{"same": true} {"same": false}', None),
        ('{"same": true} {"same": true}', None),
        ('[{"same": true}]', True),
        ('{"same": true', None),
        ("true", None),
        ("", None),
        ("{" * 5000, None),
    ],
)
def test_read_reply(reply: str, wanted: bool | None) -> None:
    assert read_reply(reply) is wanted


@given(st.text(max_size=60) | st.from_regex(r'\{"same": ?(true|false|1|"yes")\}?', fullmatch=True))
def test_any_reply_is_yes_no_or_nothing(reply: str) -> None:
    assert read_reply(reply) in (True, False, None)


@given(st.text(st.characters(exclude_categories=()), max_size=20), st.text(max_size=20))
def test_any_pair_makes_one_object_between_tags(a: str, b: str) -> None:
    prompt = build_prompt(a, b)
    assert prompt.count("<") == 2
    told = json.loads(prompt.removeprefix("<data>").removesuffix("</data>"))
    assert (len(told), told["b"]) == (2, b)


@pytest.mark.parametrize(
    "reply", ['{"same": "true"}', '{"same": true, "x": 1}', "yes", '{"same": true} {"same": true}']
)
def test_malformed_replies_match_nothing(server: LlmServer, reply: str) -> None:
    server.script = judge(lambda a, b: completion(reply))
    results = evaluate(server, [ranking(["Harbour City"], "港城")])
    assert results["items"][0]["score"] == 0
    assert counts(results, "asked", "same", "unread", "changed") == (1, 0, 2, 0)


@pytest.mark.parametrize("broken", ["the pair", "the decoy"])
def test_a_pair_counts_only_if_both_calls_were_answered(server: LlmServer, broken: str) -> None:
    server.script = judge(lambda a, b: knows(a, b) if (a == "Harbour City") == (broken == "the decoy") else error(500))
    results = evaluate(server, [ranking(["Harbour City"], "港城")])
    assert results["items"][0]["score"] == 0
    assert results["llm_names"]["failures"] == {"server error": 1}
    assert results["llm_names"]["degraded"]
    assert [line for line in results["warnings"] if "degraded" in line]


def test_counts_and_report(server: LlmServer) -> None:
    data = [ranking(["Harbour City", "New Quill"], "港城", "Low Fen")]
    results = evaluate(server, data)
    assert counts(results, "asked", "same", "refused", "unread", "changed", "calls") == (4, 1, 0, 0, 1, 7)
    assert results["llm_names"]["tokens"] == {"prompt": 700, "completion": 70}
    assert (results["llm_names"]["failures"], results["llm_names"]["degraded"]) == ({}, False)
    assert "Language model, names: asked about 4 pairs, the same 1" in format_text(results.report())


def test_signature(server: LlmServer) -> None:
    plain = FutureXEvaluator("key", server.url).settings()
    named = FutureXEvaluator("key", server.url, llm_names=True).settings()
    assert (FutureXEvaluator().settings()["llm_names"], plain["llm_names"]) == (None, None)
    assert named == {**plain, "llm_names": 1}


@pytest.mark.parametrize("workers", [1, 8])
def test_cached_second_run(server: LlmServer, tmp_path: Path, workers: int) -> None:
    data = [ranking(["Harbour City", "New Quill"], "港城", "NQ"), ranking(["Red Kite"], "赤鸢", name="r")]
    options = {"cache": tmp_path / "c.sqlite3", "workers": workers}
    first = evaluate(server, data, **options)
    server.requests.clear()
    second = evaluate(server, data, **options)
    assert server.requests == []
    assert second["items"] == first["items"]
    assert (first["llm_names"]["calls"], second["llm_names"]["calls"]) == (9, 0)
    assert first["items"] == evaluate(server, data, workers=9 - workers)["items"]


def test_order_of_questions_changes_nothing(server: LlmServer) -> None:
    data = [
        ranking(["Harbour City", "New Quill"], "港城", "NQ"), ranking(["Red Kite"], "赤鸢", name="r"),
        ranking(["Tern Islands"], "Low Fen", name="s"),
    ]  # fmt: skip
    forward = evaluate(server, data)
    seen = pairs(server)
    server.requests.clear()
    backward = evaluate(server, data[::-1])
    assert pairs(server) == seen
    assert sorted(forward["items"], key=str) == sorted(backward["items"], key=str)


# --- The command line ---


def test_command_line(server: LlmServer, tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": [ranking(["Harbour City"], "港城"), *OTHERS]})
    words, keys = ("-f", "p", "--llm", "m-1"), {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": server.url}
    plain = run(tmp_path, *words, "--json", **keys).json
    assert (plain["llm_names"], plain["items"][0]["score"], server.requests) == (None, 0, [])
    named = run(tmp_path, *words, "--llm-names", "--json", **keys).json
    assert (named["items"][0]["score"], named["items"][0]["decided_by"]) == (1, "model")
    assert named["signature"]["llm_names"] == 1
    report = run(tmp_path, *words, "--llm-names", **keys).out
    assert "Language model, names: asked about 1 pairs, the same 1" in report
    assert "llm_names:1" in report.splitlines()[-1]


def test_help_says_that_true_names_are_sent(tmp_path: Path) -> None:
    told = " ".join(run(tmp_path, "--help").out.split())
    assert "--llm-names" in told
    assert "true names" in told.partition("--llm-names let")[2][:80]


@pytest.mark.parametrize("command", [["-f", "p"], ["nightly"], ["compare", "p", "p"]])
def test_names_need_a_model(tmp_path: Path, command: list[str]) -> None:
    """Else a reader takes a score for one in which names were matched."""
    write(tmp_path, {"prediction/p.json": [ranking(["Harbour City"], "港城")]})
    done = run(tmp_path, *command, "--llm-names")
    assert (done.code, "--llm-names" in done.err) == (2, True)


def test_a_night_on_which_names_failed_is_scored_again(server: LlmServer, tmp_path: Path) -> None:
    write(tmp_path, {"prediction/p.json": [ranking(["Harbour City"], "港城"), *OTHERS]})
    words, keys = (
        ("nightly", "--llm", "m-1", "--llm-names", "--json"),
        {"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": server.url},
    )
    server.script = judge(lambda a, b: error(500))
    night = run(tmp_path, *words, **keys)
    assert (night.code, json.loads(night.out)["tables"][0]["rows"][0]["degraded"]) == (3, True)
    server.script = judge(knows)
    board = run(tmp_path, *words, **keys).json
    assert (board["evaluated"], board["tables"][0]["rows"][0]["degraded"]) == (1, False)
