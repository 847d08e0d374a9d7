"""Spans of days: given the words of a question, then from which day to which it asks."""

from __future__ import annotations

from datetime import datetime

import pytest

from streams.core.text.spans import spanned
from streams.core.text.times import YEARS

TUESDAY = datetime(2026, 4, 14)

NAMED = (
    ("en", "what's on this week?", "04-14", "04-19"),
    ("en", "and next week", "04-20", "04-26"),
    ("en", "anything this week or next?", "04-14", "04-26"),
    ("en", "how does the week after next look", "04-27", "05-03"),
    ("en", "what must be paid over the next six weeks", "04-14", "05-26"),
    ("en", "what is left for the rest of the month?", "04-14", "04-30"),
    ("en", "who comes over the next fortnight?", "04-14", "04-28"),
    ("en", "who comes in the coming days?", "04-14", "04-21"),
    ("en", "is anybody at home this weekend", "04-18", "04-19"),
    ("en", "when do we meet in may?", "05-01", "05-31"),
    ("en", "what do we do in July or August?", "07-01", "08-31"),
    ("en", "what is due until June?", "04-14", "06-30"),
    ("en", "what's planned this year", "04-14", "12-31"),
    ("en", "what's planned for May?", "05-01", "05-31"),
    ("en", "what's on from June on?", "06-01", "06-30"),
    ("en", "what has to be done by the end of next week?", "04-14", "04-26"),
    ("en", "what did we say two weeks ago, and what is on next week?", "04-20", "04-26"),
    ("en", "what's due this quarter?", "04-14", "06-30"),
    ("en", "and next quarter", "07-01", "09-30"),
    ("de", "was muss bis Mai fertig sein?", "04-14", "05-31"),
    ("de", "was ist diese und nächste Woche?", "04-14", "04-26"),
    ("es", "¿qué hay que hacer hasta mayo?", "04-14", "05-31"),
    ("es", "¿qué hay esta semana y la próxima?", "04-14", "04-26"),
    ("fr", "qu'est-ce qu'il y a jusqu'en mai ?", "04-14", "05-31"),
    ("fr", "qui vient cette semaine et la prochaine ?", "04-14", "04-26"),
    ("fr", "qu'est-ce qui est prévu ce mois-ci ?", "04-14", "04-30"),
    ("fr", "et dans les jours à venir ?", "04-14", "04-21"),
    ("de", "was steht nächste Woche an?", "04-20", "04-26"),
    ("de", "was steht in den nächsten zwei Wochen an?", "04-14", "04-28"),
    ("de", "kommt dieses Wochenende wer?", "04-18", "04-19"),
    ("de", "wer kommt in den kommenden Wochen?", "04-14", "05-12"),
    ("es", "¿qué hay la semana que viene?", "04-20", "04-26"),
    ("es", "¿qué hay las próximas semanas?", "04-14", "05-12"),
    ("es", "¿quién viene en mayo?", "05-01", "05-31"),
    ("fr", "qui vient la semaine prochaine ?", "04-20", "04-26"),
    ("fr", "qui vient les deux prochaines semaines ?", "04-14", "04-28"),
    ("fr", "qui vient le mois prochain ?", "05-01", "05-31"),
    ("ja", "what's on this week?", "04-14", "04-19"),
)


@pytest.mark.parametrize(("language", "text", "first", "last"), NAMED)
def test_a_span_that_is_named_is_all_its_days_from_today_on(language: str, text: str, first: str, last: str) -> None:
    span = spanned(text, language, TUESDAY)
    assert span is not None
    assert [f"{end:%m-%d}" for end in span] == [first, last]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "what did we do last week?"), ("en", "is she free on 3 June?"), ("en", "May 5, then?"),
        ("en", "by the end of May?"), ("en", "in 20 minutes?"), ("en", "we may come"), ("en", ""),
        ("en", "how many hours this time?"), ("en", "what did it cost the past month?"),
        ("es", "¿cómo fue el finde pasado?"), ("fr", "c'était comment le weekend dernier ?"),
        ("de", "wie war es letzte Woche?"),
    ],
)  # fmt: skip
def test_a_day_a_moment_and_what_is_past_are_no_spans(language: str, text: str) -> None:
    assert spanned(text, language, TUESDAY) is None


@pytest.mark.parametrize("day", [datetime(2026, 12, 31), datetime(2028, 2, 29), datetime(2026, 3, 1)])
@pytest.mark.parametrize(
    "text", ["this month", "next month", "this year", "this week", "next 9999 years", "in February", "next 50 weeks"]
)
def test_a_span_never_begins_before_today_nor_ends_before_it_begins(text: str, day: datetime) -> None:
    span = spanned(f"what's on {text}", "en", day)
    assert span is not None
    assert day <= span.first <= span.last


@pytest.mark.parametrize("year", [1, 999, 1000, 8999, 9999])
def test_no_year_is_too_early_or_too_late_to_be_asked_in(year: int) -> None:
    for text in ("next year?", "in the next 9999 weeks?", "the next 9999 fortnights?", "in December?", "this year?"):
        span = spanned(text, "en", datetime(year, 12, 31))
        assert span is None or (span.first <= span.last and {end.year for end in span} <= {*YEARS})
