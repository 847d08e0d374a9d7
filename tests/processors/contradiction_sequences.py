"""Statements in a row, and which of them contradict which.

`FIRST` was written before the rules and `HELD_OUT` with it, neither seen by the other; rules were never tuned on
`HELD_OUT`. `MORE` was written to tune on. A pair (1, 0) says that statement 1 takes the place of statement 0.
"""

from __future__ import annotations

from typing import NamedTuple


class Said(NamedTuple):
    """One turn of a sequence."""

    content: str
    agent: str = ""
    role: str = "user"
    days: float = 0.0
    """After the turn before; negative for one that comes in late."""


class Sequence(NamedTuple):
    """Turns in a row, and the pairs (newer, older) of them that contradict each other."""

    kind: str
    """What the sequence is an example of."""
    said: tuple[Said, ...]
    contradicts: tuple[tuple[int, int], ...]


def _said(turn: str | Said) -> Said:
    return turn if isinstance(turn, Said) else Said(turn, days=1.0)


def _changes(kind: str, *turns: str | Said, pairs: tuple[tuple[int, int], ...] = ((1, 0),)) -> Sequence:
    return Sequence(kind, tuple(map(_said, turns)), pairs)


def _alike(kind: str, *turns: str | Said) -> Sequence:
    return Sequence(kind, tuple(map(_said, turns)), ())


FIRST = (
    _changes("value", "My favourite colour is blue.", "These days my favorite color is green."),
    _changes("value", "I live in Hamburg with my two cats.", "We're settled now, I moved to Leipzig in March."),
    _changes("value", "The deadline for the grant application is Friday.", "Heads-up: the deadline for the grant application is Monday."),
    _changes("value", "I work at Siemens as a test engineer.", "I work at Bosch now, much shorter commute."),
    _changes("value", "I'm vegetarian, so no ham please.", "By the way, I eat meat again."),
    _changes("value", "The auth service uses port 8080.", "The auth service uses port 9090."),
    _changes("value", "The stand-up meeting is at 9am.", "The stand-up meeting is at 10:30."),
    _changes("value", "Our production database is MySQL.", "Since the migration our production database is Postgres."),
    _changes("value", "My flight to Oslo leaves at 7:45.", "My flight to Oslo leaves at 11:20."),
    _changes("value", "The budget for the offsite is 4,000 euros.", "Good news, the budget for the offsite is 6,500 euros."),
    _changes("value", "My dentist is Dr. Keller.", "My dentist is Dr. Okafor, please book there."),
    _changes("value", "I take 20 mg of lisinopril every morning.", "The doctor says I take 40 mg of lisinopril from now on."),
    _changes("value", "The capital gains rate in the model is 15%.", "The capital gains rate in the model is 20%."),
    _changes("value", "Our maths teacher is Mrs. Ellison.", "Our maths teacher is Mr. Banerjee."),
    _changes("value", "The exam is on 14 June.", "The exam is on 21 June."),
    _changes("value", "I wake up at 6am on weekdays.", "I wake up at 7:30am on weekdays."),
    _changes("value", "My daughter is 6 years old.", Said("My daughter is 7 years old, time flies!", days=200)),
    _changes("value", "The staging server is in Frankfurt.", "The staging server is in Dublin."),
    _changes("negated", "I like coffee.", "I don't like coffee any more."),
    _changes("negated", "I'm allergic to peanuts.", "Turns out I'm not allergic to peanuts."),
    _changes("negated", "I work for Deloitte.", "I no longer work for Deloitte."),
    _changes("negated", "We support Internet Explorer 11.", "We don't support Internet Explorer 11 anymore."),
    _changes("negated", "I smoke.", "I quit smoking."),
    _changes("negated", "The rooftop bar is open.", "The rooftop bar is closed."),
    _changes("negated", "I drink wine with dinner.", "I stopped drinking wine."),
    _changes("negated", "I love horror movies.", "Honestly, I can't stand horror movies."),
    _changes("negated", "The cache is enabled in production.", "The cache is not enabled in production."),
    _changes("corrected", "The demo is on Wednesday.", "Sorry, I meant Thursday, not Wednesday."),
    _changes("corrected", "The invoice number is 48213.", "Correction: the invoice number is 48231."),
    _changes("corrected", "My appointment is on the 3rd of May.", "Actually, it's on the 5th of May."),
    _changes("corrected", "Our budget is 300 dollars.", "Scratch that, make it 450 dollars."),
    _changes("corrected", "The train leaves from platform 4.", "Not platform 4 but platform 9."),
    _changes("moved", "The kickoff is on Tuesday.", "The kickoff has been moved to Thursday."),
    _changes("moved", "The retro is at 2pm.", "We pushed the retro to 4pm."),
    _changes("moved", "We use Jenkins for CI.", "We switched from Jenkins to GitHub Actions."),
    _changes("moved", "Our office is in Leeds.", "Our office moved to Manchester."),
    _changes(
        "chain",
        "I live in Boston.",
        Said("I moved to Denver.", days=40),
        Said("I've moved again: I live in Seattle now.", days=300),
        pairs=((1, 0), (2, 1)),
    ),
    _changes(
        "chain",
        "The release is on Monday.",
        "The release was postponed to Wednesday.",
        "The release has been pushed back to Friday.",
        pairs=((1, 0), (2, 1)),
    ),
    _changes(
        "speakers",
        Said("I live in Ghent.", "ann"),
        Said("I live in Bruges.", "ben"),
        Said("I moved to Antwerp last week.", "ann", days=20),
        pairs=((2, 0),),
    ),
    _changes("late", Said("I live in Turin."), Said("I live in Milan.", days=-30), pairs=((0, 1),)),
    _alike("other subject", "My favourite colour is blue.", "My sister's favourite colour is green."),
    _alike("other subject", Said("I live in Ghent.", "ann"), Said("I live in Bruges.", "ben")),
    _alike("other subject", "The auth service uses port 8080.", "The billing service uses port 9090."),
    _alike("other subject", "The deadline for the poster is Friday.", "The deadline for the abstract is Monday."),
    _alike("other subject", "I like coffee.", "My wife doesn't like coffee."),
    _alike("other subject", Said("I work at Siemens.", "ann"), Said("ann: nice, I work at Bosch.", "ben")),
    _alike("other time", "I live in Lisbon.", "Last year I lived in Porto."),
    _alike("other time", "My favourite food is ramen.", "When I was a kid my favourite food was pizza."),
    _alike("other time", "I drive a Skoda.", "I used to drive a Fiat."),
    _alike("other time", "The office is in Leeds.", "Back in 2015 the office was in York."),
    _alike("addition", "I like sushi.", "I also like ramen."),
    _alike("addition", "We have a dog called Bruno.", "We have another dog called Luna."),
    _alike("addition", "I speak French.", "I speak a little Italian too."),
    _alike("addition", "I enjoy climbing.", "I enjoy swimming."),
    _alike("addition", "The kitchen is bright.", "The kitchen is tiny."),
    _alike("question", "My favourite colour is blue.", "Is my favourite colour green?"),
    _alike("question", "The meeting is at 3pm.", "Is it true that the meeting is at 4pm?"),
    _alike("hypothetical", "I live in Lisbon.", "If I lived in Oslo I'd ski every day."),
    _alike("hypothetical", "The service uses port 8080.", "We could say the service uses port 9090, just for the test."),
    _alike("hypothetical", "I work at Siemens.", "Imagine I work at NASA."),
    _alike("hypothetical", "I'm vegetarian.", "I might eat meat again one day."),
    _alike("quote", "I live in Lisbon.", 'She wrote "I live in Madrid" on the form.'),
    _alike("quote", "My favourite colour is blue.", "> my favourite colour is red\nThat is what he wrote."),
    _alike("same value", "I live in Lisbon.", "I live in Lisbon, Portugal."),
    _alike("same value", "The meeting is at 3pm.", "Reminder: the meeting is at 15:00."),
    _alike("same value", "My favourite colour is dark blue.", "As I said, my favourite colour is blue."),
    _alike("units", "The trail is 5 miles long.", "The trail is 8 km long."),
    _alike("code", "The port is 8080.", "Run this:\n```\nport is 9090\nthe port is 9090\n```"),
)  # fmt: skip

HELD_OUT = (
    _changes("value", "My landlord's name is Mr. Petrov.", "My landlord's name is Mrs. Lindqvist."),
    _changes("value", "I'm a nurse at the children's hospital.", "I work as a paramedic now."),
    _changes("value", "The API rate limit is 100 requests per minute.", "They raised it: the API rate limit is 250 requests per minute."),
    _changes("value", "I drive a Honda Civic.", "I drive a Tesla Model 3 these days."),
    _changes("value", "My seat preference is window.", "My seat preference is aisle."),
    _changes("value", "The wifi password is bluefish22.", "The wifi password is now redfox77."),
    _changes("value", "Priya is the project lead.", "Tom is the project lead now."),
    _changes("value", "The library closes at 8pm.", "The library closes at 10pm."),
    _changes("value", "The patient's blood pressure medication is amlodipine.", "The patient's blood pressure medication is losartan."),
    _changes("value", "I have two kids.", Said("I have three kids now!", days=400)),
    _changes("value", "The default branch is master.", "The default branch is main."),
    _changes("negated", "I eat gluten.", "I don't eat gluten anymore, doctor's orders."),
    _changes("negated", "I'm single.", Said("I got married in June!", days=300)),
    _changes("negated", "The feature flag is on.", "The feature flag is off."),
    _changes("negated", "I play tennis on Sundays.", "I gave up tennis."),
    _changes("negated", "The hotel has a pool.", "The hotel does not have a pool."),
    _changes("corrected", "The essay is due on Tuesday.", "Wait, no, the essay is due on Thursday."),
    _changes("corrected", "My phone number is 555-0142.", "I mistyped, my phone number is 555-0124."),
    _changes("corrected", "The conference is in Vienna.", "I meant Prague, not Vienna."),
    _changes("moved", "Our weekly sync is on Mondays.", "Our weekly sync got moved to Wednesdays."),
    _changes("moved", "We deploy to Heroku.", "We migrated from Heroku to Fly.io."),
    _changes("moved", "I study biology.", "I switched from biology to chemistry."),
    _changes("chain", "The price is 20 euros.", "The price is 25 euros.", "The price is 30 euros.", pairs=((1, 0), (2, 1))),
    _alike("other subject", "My phone number is 555-0142.", "My mother's phone number is 555-0199."),
    _alike("other subject", "The exam in physics is on Monday.", "The exam in history is on Friday."),
    _alike("other time", "I work at the zoo.", "In college I worked at a bakery."),
    _alike("addition", "I play the piano.", "I play the violin as well."),
    _alike("addition", "My car is red.", "My car is fast."),
    _alike("question", "We deploy to Heroku.", "Do we deploy to Fly.io?"),
    _alike("hypothetical", "The price is 20 euros.", "Suppose the price is 30 euros."),
    _alike("hypothetical", "I drive a Honda.", "I would love to drive a Porsche."),
    _alike("quote", "The wifi password is bluefish22.", "The old sign says “the wifi password is guest”."),
    _alike("same value", "My meeting is on Friday at 3pm.", "My meeting is on Friday."),
    _alike("same value", "I work at Google.", "I work for Google in Zurich."),
    _alike("units", "The parcel weighs 2 kg.", "The parcel costs 12 euros."),
)  # fmt: skip

MORE = (
    _changes("value", "Our mascot is a badger.", "Our mascot is now an otter."),
    _changes("value", "The wedding will be in Florence.", "The wedding will be in Siena."),
    _changes("value", "My mother-in-law lives in Graz.", "My mother-in-law lives in Linz now."),
    _changes("value", "I'm 34 years old.", Said("I turned 35 yesterday!", days=100)),
    _changes("value", "The minimum Python version is 3.9.", "The minimum Python version is 3.11."),
    _changes("value", "The timeout is 30 seconds.", "We raised the timeout to 60 seconds."),
    _changes("value", "The CEO of Northwind is Laura Stein.", "Raj Mehta is the CEO of Northwind."),
    _changes("value", "I prefer tea.", "I prefer coffee these days."),
    _changes("value", "I prefer dark mode.", "I prefer light mode."),
    _changes("value", "My username is lenny42.", "My username is lenny_the_second."),
    _changes("value", "I go by Kate, my name is Katherine.", "My name is Kit."),
    _changes("value", "I have one cat.", "I have two cats."),
    _changes("value", "The gate for the Madrid flight is B7.", "The gate for the Madrid flight is C12."),
    _changes("value", "My therapist is Joanna.", "My new therapist is Pavel."),
    _changes("value", "The rent is $1,200.", "The rent is $1,350."),
    _changes("value", "Our landlord is called Mr. Bianchi.", "Our landlord is called Mrs. Rossi."),
    _changes("value", "I report to Anke.", "I report to Stefan."),
    _changes("value", "The backup job runs on Sunday.", "The backup job runs on Wednesday."),
    _changes("value", "I'm a teacher.", "I retired and I'm a writer now."),
    _changes("value", "The server's IP address is 10.0.0.4.", "The server's IP address is 10.0.0.9."),
    _changes("value", "My blood type is A+.", "The lab called: my blood type is O-."),
    _changes("value", "The course starts at 9:15.", "The course starts at 8:30."),
    _changes("value", "We have 40 employees.", "We have 55 employees."),
    _changes("value", "The ticket is open.", "The ticket is closed."),
    _changes("value", "My allergy medicine is cetirizine.", "My allergy medicine is loratadine."),
    _changes("value", "The printer is on the second floor.", "The printer is on the fourth floor."),
    _changes("value", "I go to the gym on Mondays.", "I go to the gym on Thursdays now."),
    _changes("value", "My train is at 6:10.", "My train is at 6:40, they changed the timetable."),
    _changes("value", "The function returns a list.", "The function returns a dict now."),
    _changes("negated", "I'm vegan.", "I'm not vegan anymore."),
    _changes("negated", "I'm married.", Said("I'm divorced.", days=500)),
    _changes("negated", "We have a dog.", "We don't have a dog anymore."),
    _changes("negated", "My brother works at Airbus.", "My brother no longer works at Airbus."),
    _changes("negated", "The endpoint is public.", "The endpoint is not public."),
    _changes("negated", "I enjoy running.", "I don't enjoy running any longer."),
    _changes("negated", "The museum is free on Sundays.", "The museum isn't free on Sundays any more."),
    _changes("negated", "I hate olives.", "I love olives now."),
    _changes("negated", "Guests can't smoke here, the terrace is non-smoking.", "The terrace is not non-smoking."),
    _changes("negated", "I own a motorbike.", "I sold my motorbike."),
    _changes("negated", "I use Facebook.", "I deleted Facebook."),
    _changes("negated", "The contract is signed.", "The contract is not signed, I was wrong."),
    _changes("negated", "The plan includes dental cover.", "The plan doesn't include dental cover."),
    _changes("negated", "Marta is in charge of payroll.", "Marta is no longer in charge of payroll."),
    _changes("negated", "I'm afraid of dogs.", "I'm not afraid of dogs anymore."),
    _changes("corrected", "My budget is 2,000 euros.", "Sorry, 2,500 euros, not 2,000 euros."),
    _changes("corrected", "My name is Jon.", "Correction: it's John."),
    _changes("corrected", "The party is on Saturday.", "Oops, I mean Sunday."),
    _changes("corrected", "We are meeting in room 12.", "No wait, the room is 14.", pairs=()),
    _changes("corrected", "The dose is 5 mg.", "It should be 10 mg, not 5 mg."),
    _changes("corrected", "The interview is at 2pm.", "It's at 3pm, not 2pm."),
    _changes("corrected", "The capital of Australia is Sydney.", "Actually, the capital of Australia is Canberra."),
    _changes("moved", "The sprint review is on Thursday.", "The sprint review got rescheduled to Friday."),
    _changes("moved", "My password is hunter2.", "I changed my password to correcthorse9."),
    _changes("moved", "My favourite team is Ajax.", "I switched my favourite team to Feyenoord."),
    _changes("moved", "The kick-off for the Berlin project is on Monday.", "The kick-off was moved to Wednesday."),
    _changes("moved", "We use Slack.", "We moved from Slack to Teams."),
    _changes("moved", "I work at Spotify.", "I left Spotify."),
    _changes("moved", "I work at Spotify.", "I joined Klarna."),
    _changes("moved", "I'm based in Nairobi.", "I relocated to Kigali."),
    _changes("moved", "The deadline is 1 March.", "They extended the deadline to 15 March."),
    _changes("moved", "Our API runs on port 3000.", "We changed the port of our API to 4000.", pairs=()),
    _changes(
        "chain", "I'm single.", Said("I'm engaged!", days=90), Said("I got married.", days=200),
        pairs=((1, 0), (2, 1)),
    ),
    _changes("late", Said("The deadline is Friday."), Said("The deadline is Tuesday.", days=-3), pairs=((0, 1),)),
    _alike("other subject", "My dog's name is Bruno.", "My cat's name is Misha."),
    _alike("other subject", "My brother lives in Graz.", "My aunt lives in Linz."),
    _alike("other subject", "The front door is locked.", "The back door is unlocked."),
    _alike("other subject", "Anna's birthday is 4 May.", "Tom's birthday is 9 August."),
    _alike("other subject", "The price of the basic plan is 10 euros.", "The price of the pro plan is 25 euros."),
    _alike("other subject", "I take 20 mg of lisinopril.", "I take 500 mg of metformin."),
    _alike("other subject", Said("My favourite colour is red.", "ann"), Said("My favourite colour is blue.", "bob")),
    _alike("other subject", Said("I don't like coffee.", role="user"), Said("I like coffee.", role="assistant")),
    _alike("other subject", "The port is 8080 in staging.", "The port is 9090 in production."),
    _alike("other time", "I work at Siemens.", "Three years ago I worked at Bosch."),
    _alike("other time", "I'm vegetarian.", "As a child I ate meat every day."),
    _alike("other time", "Our CTO is Mia.", "Our CTO was Paul until 2019."),
    _alike("other time", "The shop closes at 8pm.", "On Sundays the shop closes at 6pm."),
    _alike("other time", "I live in Lisbon.", "Next year I'll live in Madrid."),
    _alike("other time", "I work from home.", "Today I'm working from the office."),
    _alike("addition", "I like tea.", "I like coffee as well."),
    _alike("addition", "My sister is Anna.", "My sister is Maria."),
    _alike("addition", "We use Python.", "We use Rust for the parser."),
    _alike("addition", "My brother is tall.", "My brother is a baker."),
    _alike("addition", "I have a cat.", "I have a parrot."),
    _alike("addition", "The meeting is on Tuesday.", "The meeting is at 3pm."),
    _alike("addition", "The hotel is in Rome.", "The hotel is expensive."),
    _alike("addition", "The report is due on Friday.", "The report is in the shared folder."),
    _alike("addition", "I'm allergic to peanuts.", "I'm allergic to shellfish."),
    _alike("question", "The deadline is Friday.", "Do you know if the deadline is Monday?"),
    _alike("question", "I live in Lisbon.", "What would you say if I lived in Porto?"),
    _alike("hypothetical", "The deadline is Friday.", "If the deadline is Monday we are lost."),
    _alike("hypothetical", "The budget is 500 euros.", "Let's say the budget is 800 euros."),
    _alike("hypothetical", "I'm a nurse.", "I want to be a doctor."),
    _alike("hypothetical", "We use Postgres.", "We should use MySQL."),
    _alike("hypothetical", "We use Jenkins.", "We're thinking about switching from Jenkins to GitLab."),
    _alike("quote", "The deadline is Friday.", "He said the deadline is Monday."),
    _alike("quote", "My name is Ivo.", "In the novel, my name is Ishmael."),
    _alike("same value", "The budget is 5k.", "The budget is 5,000."),
    _alike("same value", "My birthday is 4 May.", "My birthday is May 4th."),
    _alike("same value", "I work at Siemens.", "I still work at Siemens."),
    _alike("same value", "I love sushi.", "I really like sushi."),
    _alike("same value", "My doctor is Dr. Amari.", "My doctor is Amari."),
    _alike("units", "My desk is 160 cm.", "My desk is 5 years old."),
    _alike("joke", "I'm a nurse.", "I'm a night owl."),
    _alike("list", "The colour is red.", "Options:\n- the colour is blue\n- the colour is green"),
)  # fmt: skip
"""Tuned on."""
