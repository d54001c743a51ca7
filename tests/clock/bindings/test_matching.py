"""Every line of the transition table and of the decision order, competing claims,
and what must hold for any set of codes."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.clock.bindings.code_states import Code
from app.clock.bindings.directory import Directory, HostEmployee, SimilarEmployee, directory, number_key
from app.clock.bindings.matching import match, undecided
from app.clock.bindings.similar_names import ComparedNames, folded_name

ADA = HostEmployee(1, "100", "Ada Lovelace", eligible=True)
BEN = HostEmployee(2, "200", "Ben Okri", eligible=True)
CLEO = HostEmployee(3, "300", "Cleo Marsh", eligible=True)


def code(emp_code="100", name="Somebody Else", **more):
    fields = {"enabled": True, "absent": False, "listed": True}
    return Code(int(more.pop("id", 1)), emp_code, name, **fields | more)


def host(*people, kiosk=None, **more):
    return directory(people or (ADA, BEN, CLEO), kiosk or {}, **more)


def settled(codes, people: Directory):
    """The codes after one pass, as the rows would be."""
    after = {one.binding_id: one for one in codes}
    for change in match(codes, people):
        after[change.code.binding_id] = applied(change)
    return list(after.values())


def applied(change):
    decision = change.decision
    return replace(
        change.code,
        state=decision.state,
        method=decision.method,
        host_employee_id=decision.host_employee_id,
        cleared=decision.cleared,
        resumes=decision.resumes,
        candidates=decision.candidates,
        taken=decision.taken,
        why=decision.why or change.code.why,
    )


def after_one(one, people=None):
    return settled([one], people or host())[0]


def state_of(one, people=None):
    after = after_one(one, people)
    return after.state, after.method, after.host_employee_id


BOUND = {"state": "bound", "method": "manual", "host_employee_id": 2}
AUTO = {"state": "auto_matched", "method": "id_number", "host_employee_id": 1}


class TestDecisionOrder:
    def test_a_person_s_binding_is_never_overwritten(self):
        assert state_of(code(**BOUND), host(kiosk={"100": 3})) == ("bound", "manual", 2)

    def test_the_kiosk_comes_before_the_id_number(self):
        assert state_of(code(), host(kiosk={"100": 3})) == ("auto_matched", "kiosk", 3)

    def test_the_kiosk_knows_codes_exactly_as_they_are(self):
        assert state_of(code("0100"), host(kiosk={"100": 3})) == ("not_found", None, None)

    def test_exactly_one_id_number_is_matched(self):
        after = after_one(code())
        assert (after.state, after.method, after.host_employee_id) == ("auto_matched", "id_number", 1)
        assert after.candidates == (SimilarEmployee(1, "Ada Lovelace", 100.0),)
        assert after.why == "Exactly one host employee has the ID number 100: Ada Lovelace."

    def test_id_numbers_compare_trimmed_and_case_folded(self):
        assert state_of(code("aB7"), host(replace(ADA, id_number=" Ab7 "))) == ("auto_matched", "id_number", 1)

    def test_leading_zeros_count_unless_the_setting_ignores_them(self):
        assert state_of(code("00100"))[0] == "not_found"
        assert state_of(code("00100"), host(ignore_leading_zeros=True)) == ("auto_matched", "id_number", 1)

    def test_two_people_with_the_number_are_a_conflict_and_none_is_guessed(self):
        after = after_one(code(), host(ADA, replace(BEN, id_number="100")))
        assert (after.state, after.host_employee_id, after.method) == ("conflict", None, None)
        assert [one.host_employee_id for one in after.candidates] == [1, 2]
        assert after.why == "2 host employees share the ID number 100: Ada Lovelace, Ben Okri."

    @pytest.mark.parametrize(("people", "more"), [(5, "."), (6, " and others.")])
    def test_of_many_people_five_are_named(self, people, more):
        namesakes = [replace(ADA, id=key, name=f"Ada {key}") for key in range(1, people + 1)]
        why = after_one(code(), host(*namesakes)).why
        assert why == f"{people} host employees share the ID number 100: Ada 1, Ada 2, Ada 3, Ada 4, Ada 5{more}"

    def test_a_number_comes_before_a_name(self):
        assert state_of(code("100", "Ben Okri")) == ("auto_matched", "id_number", 1)

    def test_a_similar_name_is_suggested_and_not_applied(self):
        after = after_one(code("9", "LOVELACE, Ádá"))
        assert (after.state, after.method, after.host_employee_id) == ("suggested", "name", None)
        assert after.candidates == (SimilarEmployee(1, "Ada Lovelace", 100.0),)

    def test_a_tie_at_the_top_suggests_no_employee_and_keeps_the_candidates(self):
        after = after_one(code("9", "Ada Lovelace"), host(ADA, replace(BEN, name="Lovelace Ada")))
        assert (after.state, [one.host_employee_id for one in after.candidates]) == ("not_found", [1, 2])

    def test_at_most_three_candidates_are_kept_best_first(self):
        people = [
            HostEmployee(key, str(key), name, eligible=True)
            for key, name in enumerate(
                ("Anna Lindqvisd", "Anna Lindqvist", "Anna Lindqvis", "Anna Lindqvistt", "Hanna Lindqvist"), start=10
            )
        ]
        found = after_one(code("9", "Anna Lindqvist"), host(*people)).candidates
        assert len(found) == 3
        assert found[0].host_employee_id == 11
        assert [one.score for one in found] == [100.0, 96.6, 96.6]

    @pytest.mark.parametrize(("letters", "state"), [(25, "suggested"), (24, "not_found")])
    def test_a_name_is_similar_from_88_of_100_on(self, letters, state):
        name = "abcdefghijklmnopqrstuvwxy"[:letters]  # three letters replaced: 88 of 100, or 87.5
        assert state_of(code("9", name), host(replace(ADA, name="123" + name[3:])))[0] == state

    def test_somebody_with_a_code_is_not_suggested_but_named(self):
        holder = code("7", id=2, **BOUND)
        after = settled([code("9", "Okri, Ben"), holder], host())[0]
        assert (after.state, after.candidates, after.taken) == (
            "not_found",
            (),
            (SimilarEmployee(2, "Ben Okri", 100.0),),
        )
        assert after.why == (
            "No host employee has the ID number 9, and no employee without a code has a similar name."
            " Ben Okri has a similar name, but belongs to the code 7."
        )

    @pytest.mark.parametrize(
        "linked",
        [
            {"state": "bound", "method": "manual"},
            {"state": "missing_remote", "absent": True, "resumes": "bound"},
            {"emp_code": "200"},
        ],
    )
    def test_the_next_free_similar_person_is_suggested_instead(self, linked):
        """Whether a person linked the other one, the server lost their code,
        or this very pass matches it by its number."""
        people = host(ADA, BEN, replace(CLEO, name="Benn Okri"))
        more = {"emp_code": "7", "host_employee_id": 2} | linked if "state" in linked else linked
        after = settled([code("9", "Ben Okri"), code(id=2, **more)], people)[0]
        assert (after.state, [one.name for one in after.candidates]) == ("suggested", ["Benn Okri"])
        assert [one.name for one in after.taken] == ["Ben Okri"]
        assert after.why.endswith(f"Ben Okri has a similar name, but belongs to the code {more['emp_code']}.")

    def test_a_stored_suggestion_of_somebody_with_a_code_goes_with_the_next_pass(self):
        stale = code(
            "9", "Ben Okri", state="suggested", method="name", candidates=(SimilarEmployee(2, "Ben Okri", 100.0),)
        )
        after = settled([stale, code("7", id=2, **BOUND)], host())[0]
        assert (after.state, after.method, after.candidates) == ("not_found", None, ())

    def test_two_codes_may_be_suggested_the_same_person_whom_neither_has(self):
        both = settled([code("8", "Ben Okri", id=1), code("9", "Ben Okri", id=2)], host())
        assert [one.state for one in both] == ["suggested", "suggested"]

    def test_somebody_whose_link_ends_in_this_pass_is_free(self):
        left = code("7", id=2, enabled=False, state="auto_matched", method="kiosk", host_employee_id=2)
        assert settled([code("9", "Ben Okri"), left], host())[0].state == "suggested"

    def test_nothing_matched_is_not_found(self):
        assert state_of(code("9", "Zoë Quill")) == ("not_found", None, None)
        assert state_of(code("9", "")) == ("not_found", None, None)


class TestWhoIsEligible:
    def test_inactive_people_get_no_new_match_by_number_kiosk_or_name(self):
        left = replace(ADA, eligible=False)
        assert state_of(code(), host(left))[0] == "not_found"
        assert state_of(code("9"), host(left, kiosk={"9": 1}))[0] == "not_found"
        assert state_of(code("9", "Ada Lovelace"), host(left))[0] == "not_found"

    @pytest.mark.parametrize(("deleted", "words"), [(False, "is inactive"), (True, "was deleted")])
    def test_the_reason_names_who_left_with_the_number(self, deleted, words):
        left = replace(ADA, eligible=False, deleted=deleted)
        assert after_one(code(), host(left)).why == (
            f"The ID number 100 belongs to Ada Lovelace, who {words}, and no name is similar."
        )
        assert after_one(code("100", "Ben Okri"), host(left, BEN)).why == (
            f"The ID number 100 belongs to Ada Lovelace, who {words}; Ben Okri is similar by name (100 of 100)."
        )

    def test_the_reason_names_all_who_left_with_the_number(self):
        left = [replace(one, id_number="100", eligible=False) for one in (ADA, BEN)]
        assert after_one(code(), host(*left)).why.startswith(
            "The ID number 100 belongs to people who left: Ada Lovelace, Ben Okri, and no name"
        )

    def test_a_link_that_exists_stays_with_somebody_who_left(self):
        assert state_of(code(**AUTO), host(replace(ADA, eligible=False))) == ("auto_matched", "id_number", 1)

    def test_a_kiosk_link_stays_although_deleting_the_person_freed_the_code(self):
        linked = code("7", state="auto_matched", method="kiosk", host_employee_id=1)
        assert state_of(linked, host(replace(ADA, eligible=False))) == ("auto_matched", "kiosk", 1)

    def test_somebody_hired_later_with_the_number_does_not_take_the_link_over(self):
        people = host(replace(ADA, eligible=False), replace(BEN, id_number="100"))
        assert state_of(code(**AUTO), people) == ("auto_matched", "id_number", 1)
        assert state_of(code(), people) == ("auto_matched", "id_number", 2)

    def test_one_of_two_namesakes_leaving_resolves_the_conflict(self):
        people = host(replace(ADA, eligible=False), replace(BEN, id_number="100"))
        assert state_of(code(state="conflict"), people) == ("auto_matched", "id_number", 2)


class TestTransitions:
    @pytest.mark.parametrize("state", ["unbound", "suggested", "not_found", "conflict"])
    def test_undecided_states_go_by_the_order(self, state):
        assert state_of(code(state=state)) == ("auto_matched", "id_number", 1)

    def test_an_auto_match_whose_employee_no_longer_matches_goes_where_the_order_says(self):
        moved = host(replace(ADA, id_number="101"), BEN)
        assert state_of(code(**AUTO), moved)[0] == "not_found"
        assert state_of(code(**AUTO), host(replace(ADA, id_number="101"), replace(BEN, id_number="100"))) == (
            "auto_matched", "id_number", 2,
        )  # fmt: skip

    def test_a_cleared_code_is_not_touched(self):
        assert match([code(state="unbound", cleared=True, why="Bob cleared it.")], host()) == []

    def test_an_ignored_code_is_not_touched(self):
        for more in ({"enabled": False}, {"absent": True}, {}):
            assert match([code(state="ignored", **more)], host()) == []

    def test_a_rejected_pair_that_would_match_is_unbound_and_cleared(self):
        after = after_one(code(rejected=frozenset({1})))
        assert (after.state, after.cleared, after.host_employee_id) == ("unbound", True, None)

    def test_a_rejected_name_is_not_suggested_and_the_next_best_is(self):
        people = host(ADA, replace(BEN, name="Ada Lovelac"))
        after = after_one(code("9", "Ada Lovelace", rejected=frozenset({1})), people)
        assert (after.state, [one.host_employee_id for one in after.candidates]) == ("suggested", [2])

    def test_a_rejected_person_still_counts_for_a_conflict_but_is_not_proposed(self):
        people = host(ADA, replace(BEN, id_number="100"))
        after = after_one(code(rejected=frozenset({1})), people)
        assert (after.state, [one.host_employee_id for one in after.candidates]) == ("conflict", [2])

    @pytest.mark.parametrize("state", ["unbound", "suggested", "not_found", "conflict", "auto_matched"])
    def test_disabled_on_the_server_becomes_disabled_without_an_employee(self, state):
        linked = AUTO if state == "auto_matched" else {"state": state}
        assert state_of(code(enabled=False, **linked)) == ("disabled", None, None)

    def test_enabled_again_is_judged_again(self):
        assert state_of(code(state="disabled")) == ("auto_matched", "id_number", 1)

    def test_a_cleared_code_comes_back_from_disabled_cleared(self):
        disabled = after_one(code(state="unbound", cleared=True, enabled=False))
        assert (disabled.state, disabled.cleared) == ("disabled", True)
        back = after_one(replace(disabled, enabled=True))
        assert (back.state, back.cleared) == ("unbound", True)

    def test_a_bound_code_disabled_on_the_server_stays_bound(self):
        assert match([code(enabled=False, **BOUND)], host()) == []

    @pytest.mark.parametrize("linked", [BOUND, AUTO])
    def test_absent_from_a_complete_listing_is_missing_with_the_link_kept(self, linked):
        gone = after_one(code(absent=True, **linked))
        assert (gone.state, gone.host_employee_id, gone.resumes) == (
            "missing_remote", linked["host_employee_id"], linked["state"],
        )  # fmt: skip
        back = after_one(replace(gone, absent=False))
        assert (back.state, back.method, back.host_employee_id) == tuple(linked[key] for key in linked)
        assert back.resumes is None

    def test_an_auto_match_that_returns_is_looked_at_again(self):
        gone = after_one(code(absent=True, **AUTO))
        assert state_of(replace(gone, absent=False), host(BEN))[0] == "not_found"

    def test_a_missing_link_is_kept_whatever_happens_in_the_host(self):
        gone = after_one(code(absent=True, **AUTO))
        assert match([gone], host(BEN)) == []

    @pytest.mark.parametrize(
        "standing",
        [{"state": "unbound", "cleared": True}, {"state": "ignored"}, {"state": "disabled", "enabled": False}],
    )
    def test_other_states_do_not_change_by_absence(self, standing):
        one = after_one(code(**standing))
        assert match([replace(one, absent=True)], host()) == []

    def test_somebody_who_left_before_they_were_found_in_the_host_becomes_missing_with_that_link(self):
        unfound = after_one(code(absent=True), host(BEN))
        assert unfound.state == "not_found"
        found = after_one(unfound)
        assert (found.state, found.method, found.host_employee_id) == ("missing_remote", "id_number", 1)
        assert match([found], host()) == []

    def test_somebody_known_from_punches_alone_is_matched_and_stays_so(self):
        assert state_of(code(absent=True, listed=False)) == ("auto_matched", "id_number", 1)
        assert match([code(absent=True, listed=False, **BOUND)], host()) == []


class TestCompetingClaims:
    def test_two_codes_for_one_employee_are_both_conflicts(self):
        both = settled([code(id=1), code("7", id=2)], host(kiosk={"7": 1}))
        assert [one.state for one in both] == ["conflict", "conflict"]
        assert both[0].why == "2 codes would be matched to Ada Lovelace (100, 7); a person must decide."
        assert [one.host_employee_id for one in both[1].candidates] == [1]

    def test_an_auto_match_that_stood_loses_its_link_to_a_second_claim(self):
        both = settled([code(id=1, **AUTO), code("7", id=2)], host(kiosk={"7": 1}))
        assert [one.state for one in both] == ["conflict", "conflict"]

    @pytest.mark.parametrize("state", ["bound", "missing_remote"])
    def test_against_a_standing_link_only_the_new_one_is_a_conflict(self, state):
        holder = code("7", id=2, state=state, method="manual", host_employee_id=1, absent=state == "missing_remote")
        holder = replace(holder, resumes="bound" if state == "missing_remote" else None)
        first, second = settled([code(id=1), holder], host())
        assert (first.state, second) == ("conflict", holder)
        assert (
            first.why == "Ada Lovelace is linked to the code 7 already; a person must decide whether both are theirs."
        )

    def test_an_auto_match_that_goes_missing_in_the_same_pass_holds_its_employee(self):
        first, second = settled([code(id=1, absent=True, **AUTO), code("7", id=2)], host(kiosk={"7": 1}))
        assert (first.state, second.state) == ("missing_remote", "conflict")

    @pytest.mark.parametrize("other", [BOUND | {"host_employee_id": 1}, AUTO | {"method": "kiosk"}])
    def test_a_link_to_somebody_who_left_ends_at_once_when_another_code_has_them_too(self, other):
        gone = replace(ADA, eligible=False)
        codes = settled([code(id=1, **AUTO), code("7", id=2, **other)], host(gone))
        assert (codes[0].state, codes[0].host_employee_id) == ("not_found", None)
        assert match(codes, host(gone)) == []

    def test_an_ignored_code_holds_no_employee(self):
        first, _ = settled([code(id=1), code("7", id=2, state="ignored")], host(kiosk={"7": 1}))
        assert first.state == "auto_matched"

    def test_the_conflict_ends_when_the_other_claim_does(self):
        both = settled([code(id=1), code("7", id=2)], host(kiosk={"7": 1}))
        first, second = settled(both, host())
        assert (first.state, second.state) == ("auto_matched", "not_found")

    def test_several_bound_codes_of_one_employee_stand(self):
        codes = [code(str(number), id=number, **BOUND) for number in (1, 2, 3)]
        assert match(codes, host()) == []


class TestComparing:
    @pytest.mark.parametrize(
        ("one", "other"),
        [("Müller, Jürgen", "JURGEN MULLER"), ("  Ada   Lovelace ", "lovelace-ada"), ("O'Neil, Sean", "sean o neil")],
    )
    def test_names_compare_without_accents_case_punctuation_and_order(self, one, other):
        assert folded_name(one) == folded_name(other)

    def test_a_number_of_zeros_alone_keeps_one(self):
        assert number_key("000", ignore_leading_zeros=True) == "0"
        assert number_key("000") == "000"

    def test_numbers_compare_in_one_unicode_form(self):
        assert number_key("e\u0301") == number_key("\u00e9")


NUMBERS = ["1", "01", "2", "3", "a"]
NAMES = ["Ada Lovelace", "Ada Lovelac", "Lovelace Ada", "Ben Okri", ""]
PEOPLE = st.lists(st.tuples(st.sampled_from(NUMBERS), st.sampled_from(NAMES), st.booleans()), max_size=5).map(
    lambda rows: [HostEmployee(key, *row[:2], eligible=row[2]) for key, row in enumerate(rows, start=1)]
)


@st.composite
def worlds(draw):
    people = draw(PEOPLE)
    ids = [one.id for one in people]
    kiosk = draw(st.dictionaries(st.sampled_from(NUMBERS), st.sampled_from(ids), max_size=3)) if ids else {}
    numbers = draw(st.lists(st.sampled_from(NUMBERS), unique=True, max_size=5))
    codes = [draw(codes_of(key, number, ids)) for key, number in enumerate(numbers, start=1)]
    return codes, directory(people, kiosk, ignore_leading_zeros=draw(st.booleans()))


@st.composite
def codes_of(draw, key, number, ids):
    """Any code that the transitions can leave behind."""
    states = ["unbound", "suggested", "not_found", "conflict", "ignored", "disabled"]
    if ids:
        states += ["bound", "auto_matched", "missing_remote"]
    state = draw(st.sampled_from(states))
    linked = state in ("bound", "auto_matched", "missing_remote")
    absent = draw(st.booleans()) or state == "missing_remote"
    return Code(
        key,
        number,
        draw(st.sampled_from(NAMES)),
        enabled=draw(st.booleans()),
        absent=absent,
        listed=draw(st.booleans()) or state == "missing_remote" or not absent,
        state=state,
        method=draw(st.sampled_from(["manual", "kiosk", "id_number"])) if linked else None,
        host_employee_id=draw(st.sampled_from(ids)) if linked else None,
        cleared=draw(st.booleans()) if state in ("unbound", "disabled") else False,
        resumes=draw(st.sampled_from(["bound", "auto_matched"])) if state == "missing_remote" else None,
        rejected=frozenset(draw(st.lists(st.sampled_from(ids), max_size=2))) if ids else frozenset(),
    )


@settings(max_examples=300, deadline=None)
@given(worlds())
def test_whatever_codes_and_people_there_are(world):
    """One drawing for all that must hold of what a pass leaves:
    to draw them costs many times what it costs to judge them."""
    codes, people = world
    after = settled(codes, people)
    a_second_pass_changes_nothing(after, people)
    exactly_the_linked_states_have_a_host_employee_and_only_they_resume(after)
    no_employee_is_matched_automatically_twice_or_beside_a_standing_link(after)
    no_suggestion_names_somebody_with_a_code(after)
    a_person_s_word_stands(codes, after)


def a_second_pass_changes_nothing(after, people):
    assert match(after, people) == []


def exactly_the_linked_states_have_a_host_employee_and_only_they_resume(after):
    for one in after:
        assert (one.host_employee_id is not None) == (one.state in ("bound", "auto_matched", "missing_remote"))
        assert (one.resumes is not None) == (one.state == "missing_remote")
        assert not one.cleared or one.state in ("unbound", "disabled")


def no_employee_is_matched_automatically_twice_or_beside_a_standing_link(after):
    for one in after:
        if one.state == "auto_matched":
            assert [other for other in after if other.host_employee_id == one.host_employee_id] == [one]


def no_suggestion_names_somebody_with_a_code(after):
    linked = {one.host_employee_id for one in after if one.host_employee_id is not None}
    for one in after:
        if one.state in ("suggested", "not_found"):
            assert linked.isdisjoint(each.host_employee_id for each in one.candidates)
            assert linked.issuperset(each.host_employee_id for each in one.taken)


def a_person_s_word_stands(codes, after):
    found = {one.binding_id: one for one in after}
    for before in codes:
        now = found[before.binding_id]
        if before.state == "ignored" or (before.state == "unbound" and before.cleared and before.enabled):
            assert now == before
        if before.state == "bound":
            assert now.host_employee_id == before.host_employee_id
            assert now.state in ("bound", "missing_remote")
        assert now.host_employee_id == before.host_employee_id or now.host_employee_id not in before.rejected


@st.composite
def strangers(draw):
    """Codes without an ID number: the name alone decides, and a few people have the few names."""
    people = [
        HostEmployee(key, f"H{key}", name, eligible=True)
        for key, name in enumerate(draw(st.lists(st.sampled_from(NAMES[:4]), min_size=1, max_size=4)), start=1)
    ]
    linked = [None, *(one.id for one in people)]
    codes = [
        code(number, draw(st.sampled_from(NAMES[:4])), id=key, **_stored(draw(st.sampled_from(linked))))
        for key, number in enumerate(draw(st.lists(st.sampled_from(NUMBERS), unique=True, min_size=2)), start=1)
    ]
    return codes, directory(people, {})


def _stored(host_employee_id):
    return {"state": "bound", "method": "manual", "host_employee_id": host_employee_id} if host_employee_id else {}


@settings(max_examples=200, deadline=None)
@given(strangers())
def test_somebody_with_a_code_is_suggested_to_no_other(world):
    after = settled(*world)
    no_suggestion_names_somebody_with_a_code(after)
    a_second_pass_changes_nothing(after, world[1])


@settings(max_examples=200, deadline=None)
@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_codes_never_matters(world, random):
    codes, people = world
    shuffled = list(codes)
    random.shuffle(shuffled)
    assert {one.binding_id: one for one in settled(codes, people)} == {
        one.binding_id: one for one in settled(shuffled, people)
    }


@st.composite
def changed_hosts(draw):
    """A world, and its people as they were when their names were compared."""
    codes, people = draw(worlds())
    return codes, people, directory(draw(PEOPLE), people.kiosk, ignore_leading_zeros=people.ignore_leading_zeros)


@settings(max_examples=300, deadline=None)
@given(changed_hosts())
def test_names_that_were_compared_before_change_no_decision(world):
    """Also of people who came, left or were renamed since."""
    codes, people, before = world
    compared = ComparedNames(before.folded_names)
    compared.compare(undecided(codes, before))
    known = directory(
        people.by_id.values(), people.kiosk, ignore_leading_zeros=people.ignore_leading_zeros, compared=compared
    )
    assert match(codes, known) == match(codes, people)


@settings(max_examples=300, deadline=None)
@given(worlds(), st.sets(st.sampled_from(NUMBERS)))
def test_a_pass_over_the_names_of_some_leaves_what_the_next_whole_pass_completes(world, chosen):
    codes, people = world
    after = {one.binding_id: one for one in settled(codes, people)}
    some = {one.binding_id: one for one in codes}
    for change in match(codes, people, by_name=chosen):
        some[change.code.binding_id] = applied(change)
    for key, one in some.items():
        if one.emp_code in chosen:
            assert one == after[key]
    assert {one.binding_id: one for one in settled(some.values(), people)} == after
