"""One story for each mark of the product: without the mark, what the story waits for never comes (workplace.py)."""

import pytest

from app.db.session import Database
from tests.clock.punches.workplace import Workplace

# Lines as `Workplace` carries them out. Monday is 2 March 2026.
STORIES = {
    # Day locks.
    "a day is locked": """
        by_hand Ada 09:00-10:00
        taps 1 I 08:00, O 17:00
        shows 1 08:00 overlaps
        lock Mon
        shows 1 08:00 date_locked""",
    "the day itself is unlocked": """
        lock Mon
        taps 1 I 08:00, O 17:00
        shows 1 08:00 date_locked
        unlock Mon
        shows 1 08:00 imported""",
    "the day after, which the record has, is unlocked": """
        taps 1 a Tue 00:30, a Tue 08:00
        lock Tue
        taps 1 a Mon 23:50
        shows 1 Mon 23:50 date_locked
        unlock Tue
        shows 1 Mon 23:50 imported""",
    "the day after tomorrow, which the record has, is unlocked: the day between has 23 hours": """
        zone_of_cloud Europe/Berlin
        set undirected_max_hours 24
        taps 1 a 2026-03-30 00:10, O 2026-03-30 00:20
        lock 2026-03-30
        taps 1 I 2026-03-28 23:30
        shows 1 2026-03-28 23:30 date_locked
        unlock 2026-03-30
        shows 1 2026-03-28 23:30 imported""",
    "the day before, where the shift begins, is unlocked": """
        taps 1 I Mon 22:00, O Tue 06:00
        lock Mon
        taps 1 bo Tue 01:00
        shows 1 Tue 01:00 date_locked
        unlock Mon
        shows 1 Tue 01:00 imported""",
    "two days before, where the shift begins, is unlocked": """
        taps 1 I Mon 23:50, O Tue 23:45
        lock Mon
        taps 1 a Wed 00:05
        shows 1 Wed 00:05 date_locked
        unlock Mon
        shows 1 Wed 00:05 imported""",
    "the day of the record that edited punches left is unlocked": """
        taps 1 I 08:00, O 17:00
        lock Mon
        edit 1 08:00 to I Thu 08:00
        edit 1 17:00 to O Thu 17:00
        shows 1 Thu 08:00 date_locked
        unlock Mon
        shows 1 Thu 08:00 imported""",
    # Records.
    "a record gets the times back that the import wrote": """
        taps 1 I 08:00, O 17:00
        edit_record 08:00 to 08:00-18:00
        taps 1 bo 12:00
        shows 1 12:00 record_edited
        edit_record 08:00 to 08:00-17:00
        shows 1 12:00 imported""",
    "a record is moved by days, out of the way": """
        by_hand Ada 09:00-10:00
        taps 1 I 08:00, O 17:00
        shows 1 08:00 overlaps
        edit_record 09:00 to Sat 09:00-10:00
        shows 1 08:00 imported""",
    "the record that edited punches left says again what the import wrote": """
        taps 1 I 08:00, O 17:00
        edit_record 08:00 to 08:00-18:00
        edit 1 08:00 to I Thu 08:00
        edit 1 17:00 to O Thu 17:00
        shows 1 Thu 08:00 record_edited
        edit_record 08:00 to 08:00-17:00
        shows 1 Thu 08:00 imported""",
    "a record is decided otherwise": """
        taps 1 I 08:00, O 17:00
        decide 08:00 to approved
        taps 1 bo 12:00
        shows 1 12:00 record_decided
        decide 08:00 to pending
        shows 1 12:00 imported""",
    "the record that edited punches left is decided otherwise": """
        taps 1 I 08:00, O 17:00
        decide 08:00 to approved
        edit 1 08:00 to I Thu 08:00
        edit 1 17:00 to O Thu 17:00
        shows 1 Thu 08:00 record_decided
        decide 08:00 to pending
        shows 1 Thu 08:00 imported""",
    "a record that was in the way is deleted": """
        by_hand Ada 09:00-10:00
        taps 1 I 08:00, O 17:00
        shows 1 08:00 overlaps
        delete 09:00
        shows 1 08:00 imported""",
    "a record is deleted whose punches no longer have an employee": """
        taps 1 I 08:00, O 17:00
        clear 1
        shows 1 08:00 imported
        delete 08:00
        shows 1 08:00 not_bound""",
    "the record that edited punches left is deleted": """
        taps 1 I 08:00, O 17:00
        edit_record 08:00 to 08:00-18:00
        edit 1 08:00 to I Thu 08:00
        edit 1 17:00 to O Thu 17:00
        shows 1 Thu 08:00 record_edited
        delete 08:00
        shows 1 Thu 08:00 attendance_deleted""",
    # What a person decides about punches.
    "a deletion is lifted": """
        taps 1 I 08:00, O 17:00
        delete 08:00
        shows 1 08:00 attendance_deleted
        retry 1 08:00
        shows 1 08:00 imported
        shows 1 17:00 imported""",
    "the punches outside a shift that is used are let go": """
        taps 1 I 08:00, O 17:00
        taps 1 I 10:00
        shows 1 10:00 arrived_late
        use 1 10:00
        shows 1 08:00 only_one_punch""",
    "the record that is used goes to another employee, and frees the hours of the old one": """
        taps 1 I 08:00, O 17:00
        bind 1 Bea
        taps 2 I 09:00, O 11:00
        shows 2 09:00 overlaps
        use 1 08:00
        shows 2 09:00 imported""",
    "the other record of a shift that is used is deleted, and frees the hours of its owner": """
        taps 1 a 21:00, a 23:00
        taps 3 a 08:00, a 12:00
        bind 1 Bea
        taps 2 I 21:30, O 22:30
        shows 2 21:30 overlaps
        taps 3 a 16:00
        shows 3 16:00 arrived_late
        use 3 16:00
        shows 2 21:30 imported""",
    # Codes and people.
    "a code is bound": """
        taps 4 I 08:00, O 17:00
        shows 4 08:00 not_bound
        bind 4 Cleo
        shows 4 08:00 imported""",
    "a code is cleared": """
        taps 1 I 08:00
        shows 1 08:00 only_one_punch
        clear 1
        shows 1 08:00 not_bound""",
    "a code goes to another employee with a record": """
        taps 1 I 08:00, O 17:00
        bind 1 Bea
        shows 1 08:00 arrived_late""",
    "and comes back": """
        taps 1 I 08:00, O 17:00
        bind 1 Bea
        bind 1 Ada
        shows 1 08:00 imported""",
    "what waits on another code of the old owner": """
        lock Mon
        taps 1 I 08:00
        taps 2 O 17:00
        shows 2 17:00 date_locked
        clear 1
        shows 2 17:00 only_one_punch""",
    "what waits on another code of the new owner": """
        taps 1 I 08:00, O 17:00
        clear 1
        taps 2 bo 12:00
        shows 2 12:00 only_one_punch
        bind 1 Ada
        shows 2 12:00 imported""",
    "a fold whose own tap goes with another code": """
        taps 1 a 13:00
        taps 2 a 12:29:59, a 13:00
        shows 2 13:00 repeat_tap
        clear 1
        shows 2 13:00 imported""",
    "an employee is deactivated": """
        taps 1 I 08:00
        deactivate Ada
        shows 1 08:00 employee_inactive""",
    "an employee is activated": """
        taps 1 I 08:00
        deactivate Ada
        taps 1 O 17:00
        shows 1 17:00 employee_inactive
        activate Ada
        shows 1 17:00 imported""",
    # Undoing what a link made.
    "records are taken back, and their punches forget them": """
        taps 1 I 08:00, O 17:00
        take_back 1
        shows 1 08:00 not_bound""",
    "records are taken back, and free the hours of their owners": """
        taps 1 I 08:00, O 17:00
        bind 1 Bea
        taps 2 I 09:00, O 11:00
        shows 2 09:00 overlaps
        take_back 1
        shows 2 09:00 imported""",
    "records are moved, and free the hours of their owners": """
        taps 1 I 08:00, O 17:00
        bind 1 Bea
        taps 2 I 09:00, O 11:00
        shows 2 09:00 overlaps
        move 1 Cleo
        shows 2 09:00 imported""",
    "records are taken back later, and their punches forget them": """
        taps 1 I 08:00, O 17:00
        take_back_later 1
        shows 1 08:00 imported
        carry_on
        shows 1 08:00 not_bound""",
    "records are moved later, and their punches are their owner's": """
        taps 1 I 08:00, O 17:00
        move_later 1 Bea
        shows 1 08:00 arrived_late
        carry_on
        shows 1 08:00 imported""",
    "records are moved later, and what waits near them": """
        taps 3 bo 12:00
        taps 1 I 08:00, O 17:00
        move_later 1 Bea
        shows 3 12:00 arrived_late
        carry_on
        shows 3 12:00 imported""",
    # Terminals and settings.
    "a terminal gets a direction": """
        taps 1 x 08:00, O 17:00
        shows 1 08:00 no_direction
        direction T1 in
        shows 1 08:00 only_one_punch""",
    "a terminal becomes a door reader": """
        taps 1 I 08:00
        kind T1 access
        shows 1 08:00 access_terminal""",
    "the server's list says that a terminal is a door reader": """
        taps 1 I 08:00
        listed_as_reader T1
        shows 1 08:00 access_terminal""",
    "a rule is set otherwise": """
        taps 1 I 08:00
        set import_single_punches true
        shows 1 08:00 imported""",
    "the zone of a server in the building is another": """
        by_hand Ada 09:00-10:00
        taps 1 I 08:00, O 17:00
        shows 1 08:00 overlaps
        zone_of_building America/New_York
        shows 1 08:00 imported""",
    "the zone of a server in the building is another, for times with their offset": """
        lock Mon
        taps 1 I 20:00, O 23:00
        raw_says_offset 1 20:00
        raw_says_offset 1 23:00
        shows 1 20:00 date_locked
        zone_of_building Asia/Tokyo
        shows 1 Tue 05:00 imported""",
    "the zone of the cloud is another": """
        lock Mon
        taps 1 I 20:00, O 23:00
        shows 1 20:00 date_locked
        zone_of_cloud Asia/Tokyo
        shows 1 Tue 05:00 imported""",
    # What the server changes.
    "a punch is edited": """
        taps 1 I 08:00, O 17:00
        edit 1 17:00 to O 18:00
        shows 1 18:00 imported""",
    "a punch is edited, and what waits where it is now": """
        taps 1 I 08:00, O 17:00, I Thu 08:00
        shows 1 Thu 08:00 only_one_punch
        edit 1 17:00 to O Thu 17:00
        shows 1 Thu 08:00 arrived_late""",
    "a punch is edited, and what waits where it was": """
        lock Mon
        taps 1 I 08:00, O 17:00
        shows 1 08:00 date_locked
        edit 1 17:00 to O Sun 17:00
        shows 1 08:00 only_one_punch""",
    "a punch is edited that a fold with a record repeats": """
        taps 1 I 08:00, O 17:00, O 17:03
        shows 1 17:03 double_tap
        edit 1 17:00 to O Sat 12:00
        shows 1 17:03 imported""",
    "a punch is edited, and what waits where it was on another code of its employee": """
        lock Mon
        taps 1 I 08:00
        taps 2 O 17:00
        shows 1 08:00 date_locked
        edit 2 17:00 to O Sun 17:00
        shows 1 08:00 only_one_punch""",
    "a punch is given to another code, and what waits on the code that it had": """
        lock Mon
        taps 1 I 08:00, O 17:00
        shows 1 08:00 date_locked
        edit 1 17:00 to code 3
        shows 1 08:00 only_one_punch""",
    "a punch is said to be of a door": """
        taps 1 I 08:00
        says_door 1 08:00
        shows 1 08:00 access_terminal""",
    "a punch goes, and what waits where it was": """
        lock Mon
        taps 1 I 08:00, O 17:00
        shows 1 08:00 date_locked
        goes 1 17:00
        shows 1 08:00 only_one_punch""",
    "the code of a gone punch goes to another employee": """
        taps 1 I 08:00, I Tue 08:00
        goes 1 08:00
        bind 1 Bea
        shows 1 08:00 only_one_punch""",
    "a punch comes back": """
        taps 1 I 08:00
        taps 1 O 17:00, O Tue 08:00
        lock Wed
        taps 1 I Wed 08:00, O Wed 17:00
        goes 1 Wed 17:00
        shows 1 Wed 08:00 only_one_punch
        comes_back 1 Wed 17:00
        shows 1 Wed 17:00 date_locked
        shows 1 Wed 08:00 date_locked""",
    "a punch comes back under another id": """
        lock Wed
        taps 1 I Wed 08:00, O Wed 17:00
        goes 1 Wed 17:00
        shows 1 Wed 08:00 only_one_punch
        comes_back_under_another_id 1 Wed 17:00
        shows 1 Wed 08:00 date_locked""",
    # Time.
    "a deadline passes": """
        at 2027-01-02 12:00
        taps 1 I 2027-01-02 08:00
        shows 1 2027-01-02 08:00 awaiting
        at 2027-01-03 08:00
        shows 1 2027-01-02 08:00 only_one_punch""",
    "a wrong clock's time comes": """
        at 2027-01-02 12:00
        taps 1 I 2027-01-04 08:00
        shows 1 2027-01-04 08:00 future_timestamp
        at 2027-01-05 12:00
        shows 1 2027-01-04 08:00 only_one_punch""",
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
async def test_judging_what_an_act_marks_gives_what_judging_everything_would(database: Database, story: str) -> None:
    place = Workplace(database)
    await place.open()
    for line in story.strip().splitlines():
        await place.does(line.strip())
