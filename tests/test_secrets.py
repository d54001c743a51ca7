"""Secrets at rest: bound to their place, opened by any key of the ring, never shown."""

import base64
import json
import multiprocessing
import pickle
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.secrets import KEY_FILE, KeyRing, Place, Secret, SecretError, load_or_create_keys, new_key_text

PLACE = Place("clock_connections", "password", "tenant_acme", "1")
OLD, NEW = (f"k{n}:{base64.b64encode(bytes([n]) * 32).decode()}" for n in (1, 2))  # fixed: they name test cases
RING = KeyRing.from_text(OLD)


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_what_was_sealed_opens_in_its_place(text: str) -> None:
    assert RING.open(RING.seal(Secret(text), PLACE), PLACE).reveal() == text


def test_the_form_is_key_id_nonce_and_ciphertext() -> None:
    sealed = RING.seal("hunter2", PLACE)
    key_id, nonce, ciphertext = sealed.split(".")
    assert key_id == "k1"
    assert len(base64.urlsafe_b64decode(nonce + "==")) == 12
    assert "hunter2" not in sealed
    assert sealed.isascii()
    assert RING.seal("hunter2", PLACE) != sealed  # a nonce is never used twice
    assert ciphertext


@pytest.mark.parametrize(
    "other",
    [
        replace(PLACE, table="users"),
        replace(PLACE, column="tokens"),
        replace(PLACE, workspace="tenant_globex"),
        replace(PLACE, row="2"),
        Place("clock_connections", 'password", "tenant_acme', "", "1"),
    ],
)
def test_a_sealed_text_moved_elsewhere_does_not_open(other: Place) -> None:
    with pytest.raises(SecretError, match="does not open"):
        RING.open(RING.seal("hunter2", PLACE), other)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_changed_letter_is_noticed(data: st.DataObject) -> None:
    sealed = RING.seal("hunter2", PLACE)
    at = data.draw(st.integers(3, len(sealed) - 3))
    letter = data.draw(st.sampled_from("ABCxyz019-_"))
    changed = sealed[:at] + letter + sealed[at + 1 :]
    if changed == sealed:
        return
    with pytest.raises(SecretError):
        RING.open(changed, PLACE)


@pytest.mark.parametrize(
    "text", ["", "k1", "k1.a", "k1.a.b.c", "k1.!!!!.????", "k1.AAAA.AAAA", "..", "k1..", "hunter2"]
)
def test_what_is_not_a_sealed_text_is_named_as_such(text: str) -> None:
    with pytest.raises(SecretError, match="not a sealed text"):
        RING.open(text, PLACE)


def test_the_first_key_seals_and_all_open() -> None:
    old = RING.seal("hunter2", PLACE)
    ring = KeyRing.from_text(f"{NEW},{OLD}")
    assert ring.ids == ("k2", "k1")
    assert ring.open(old, PLACE).reveal() == "hunter2"
    assert ring.needs_rotation(old)

    rotated = ring.rotated(old, PLACE)

    assert rotated.startswith("k2.")
    assert not ring.needs_rotation(rotated)
    assert ring.rotated(rotated, PLACE) == rotated
    assert KeyRing.from_text(NEW).open(rotated, PLACE).reveal() == "hunter2"


def test_a_key_that_is_gone_is_named() -> None:
    with pytest.raises(SecretError, match="'k1', which MUSTER_SECRET_KEYS does not hold"):
        KeyRing.from_text(NEW).open(RING.seal("hunter2", PLACE), PLACE)


def test_another_key_of_the_same_id_does_not_open() -> None:
    with pytest.raises(SecretError, match="same id"):
        KeyRing.from_text(new_key_text("k1")).open(RING.seal("hunter2", PLACE), PLACE)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no secret key"),
        (" , ", "no secret key"),
        ("justbase64", "invalid id"),
        (":AAAA", "invalid id"),
        ("a b:AAAA", "invalid id"),
        ("k1:****", "not base64"),
        ("k1:AAAA", "3 bytes"),
        (f"k1:{base64.b64encode(bytes(16)).decode()}", "16 bytes"),
        (f"{OLD},{OLD}", "twice"),
    ],
)
def test_a_bad_ring_says_what_is_wrong_without_the_key(text: str, reason: str) -> None:
    with pytest.raises(SecretError, match=reason) as caught:
        KeyRing.from_text(text)
    assert OLD.partition(":")[2] not in str(caught.value)
    assert "AAAA" not in str(caught.value)


def test_a_secret_shows_itself_only_by_name() -> None:
    secret = Secret("hunter2")
    for shown in (repr(secret), str(secret), f"{secret}", f"{[secret]}", repr({"p": secret}), format(secret)):
        assert "hunter2" not in shown
    assert secret.reveal() == "hunter2"
    assert secret == Secret("hunter2") != Secret("other")
    assert secret != "hunter2"
    assert not Secret("")
    for write in (pickle.dumps, json.dumps):
        with pytest.raises(TypeError):
            write(secret)


def test_keys_are_made_once_and_only_their_owner_can_read_them(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    first = load_or_create_keys(data_dir)
    assert stat.S_IMODE((data_dir / KEY_FILE).stat().st_mode) == 0o600
    assert [path.name for path in data_dir.iterdir()] == [KEY_FILE]
    assert load_or_create_keys(data_dir).open(first.seal("hunter2", PLACE), PLACE).reveal() == "hunter2"


def _load_and_seal(data_dir: Path) -> str:
    return load_or_create_keys(data_dir).seal("hunter2", PLACE)


def test_processes_that_start_at_once_share_one_key(tmp_path: Path) -> None:
    with multiprocessing.get_context("fork").Pool(8) as pool:
        sealed = pool.map(_load_and_seal, [tmp_path / "data"] * 24, chunksize=1)
    ring = load_or_create_keys(tmp_path / "data")
    assert {ring.open(text, PLACE).reveal() for text in sealed} == {"hunter2"}
    assert [path.name for path in (tmp_path / "data").iterdir()] == [KEY_FILE]


def test_a_key_file_that_others_can_read_is_closed(tmp_path: Path) -> None:
    load_or_create_keys(tmp_path)
    (tmp_path / KEY_FILE).chmod(0o644)
    load_or_create_keys(tmp_path)
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600


def test_a_broken_key_file_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_bytes(b"k1:\xff\xfe")
    (tmp_path / KEY_FILE).chmod(0o600)
    with pytest.raises(SecretError):
        load_or_create_keys(tmp_path)
    assert (tmp_path / KEY_FILE).read_bytes() == b"k1:\xff\xfe"
