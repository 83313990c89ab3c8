"""Each fix that the doctor offers on any program of the tests is run, and works."""

import pytest

from gradscribe.engine.doctor.fix_trial import outcome_of, try_fix
from gradscribe.engine.protocol.structs import replace
from gradscribe.engine.run import run
from tests.engine.doctor.programs import SICK, learners, load

pytestmark = pytest.mark.conformance

PROGRAMS = [*SICK, *learners(), *load("grouped.txt")]


def outcome(source: str):
    return outcome_of(run.record(source), source)


def name_of(program) -> str:
    return f"{program.id} {program.title}".strip()


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_each_fix_on_offer_works(program):
    before = outcome(program.source)
    for finding in before.findings:
        if not finding.fix:
            assert finding.why_no_fix
            continue
        result = try_fix(finding, program.source, before, outcome)
        assert result.fix, f"{finding.id}: {result.reason}"
        # Run once more, the program on offer has none of the mistakes that it is offered against.
        after = outcome(result.fix)
        assert after.error is None or after.error == before.error
        left = {other.id for other in after.findings}
        others = {other.id for other in before.findings} - {finding.id}
        assert left <= others


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_what_follows_from_a_finding_goes_with_its_fix(program):
    before = outcome(program.source)
    for follower in before.findings:
        cause = next((f for f in before.findings if f.id == follower.follows), None)
        if cause is not None and cause.fix:
            after = outcome(try_fix(cause, program.source, before, outcome).fix)
            assert follower.id not in {other.id for other in after.findings}


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_a_change_that_does_nothing_is_refused(program):
    before = outcome(program.source)
    for finding in before.findings:
        if finding.fix:
            idle = replace(finding, fix=program.source + "\n# nothing else")
            # The fix of another place may fix this one, too.
            assert try_fix(idle, program.source, before, outcome).fix != idle.fix, finding.id
