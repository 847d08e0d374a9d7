"""Kinds of memory: what happened, what is so, how something is done."""

from __future__ import annotations

import pytest

from streams.core.text.kinds import memory_type


def kind(content: str, role: str = "user") -> str:
    return memory_type(content, role)


SEMANTIC = """
I like hiking in the rain.
I prefer tea over coffee
I don't like early meetings.
We love Italian food.
She lives in Lisbon with her dog.
I work at a small bakery in Porto.
My sister's birthday is May 5.
My favourite colour is green.
I'm allergic to peanuts.
Marta is vegan.
I am a nurse.
Redis is a key-value store.
The gateway is the only service that talks to the bank.
CRM stands for customer relationship management.
I usually take the train to work.
My email is ann@example.org
Ben prefers dark roast.
Ich mag keinen Kaffee.
Mein Lieblingsbuch ist Faust.
Ich wohne seit Mai in Graz.
Ein Vierling ist ein Werkzeug.
Ich bin allergisch gegen Nüsse.
Me gusta el té verde.
Vivo en Sevilla con mi hermana.
Mi perro se llama Toby.
J'adore le fromage de chèvre.
Je travaille comme infirmière.
Mon chat s'appelle Minou.
""".strip().splitlines()

PROCEDURAL = """
To deploy the site, first run the tests.
Always run the tests before you commit.
Never push to main directly.
You should never store passwords in the log.
How to reset the router: hold the button for ten seconds.
Here are the steps: open the settings and click save.
First preheat the oven, then mix the flour with water.
To restart the worker, just run make restart
Whenever the build breaks, check the lock file.
Make sure to close the valve before you leave.
Zuerst das Fenster öffnen, dann die Tür schließen.
So geht das: den Stecker ziehen und warten.
Immer zuerst die Tests ausführen.
Primero abre la ventana y luego cierra la puerta.
Nunca uses la rama principal.
D'abord on mélange la farine, puis on ajoute l'eau.
Pour lancer le serveur, il faut ouvrir le terminal.
""".strip().splitlines()

EPISODIC = """
We met Ben at the station yesterday.
The build broke at noon.
Do you like hiking?
Is Redis a key-value store?
What is a key-value store?
How do I install this?
I'd like to book a table for two.
I like that idea!
It is a nice day.
There is a problem with the invoice.
I have always been tired on Mondays.
First of all, thanks for coming.
It works for me now.
I'm a bit late.
The meeting was moved to Friday.
ok thanks
Gestern waren wir im Kino.
Magst du Kaffee?
Ayer fuimos al cine.
Hier on est allés au cinéma.
🤖 \x00 ```
東京の天気
""".strip().splitlines()


@pytest.mark.parametrize("content", SEMANTIC)
def test_preferences_standing_facts_and_definitions_are_semantic(content: str) -> None:
    assert kind(content) == "semantic"


@pytest.mark.parametrize("content", PROCEDURAL)
def test_steps_commands_and_standing_orders_are_procedural(content: str) -> None:
    assert kind(content) == "procedural"


@pytest.mark.parametrize("content", ["", *EPISODIC])
def test_what_happened_is_asked_or_wished_is_episodic(content: str) -> None:
    assert kind(content) == "episodic"


def test_an_instruction_that_states_a_fact_is_an_instruction() -> None:
    assert kind("The gateway is a proxy. Always run the tests before you touch it.") == "procedural"


def test_what_a_tool_put_out_is_what_happened() -> None:
    assert kind("Redis is a key-value store.", "tool") == "episodic"


def test_a_fact_beside_a_question_is_still_a_fact() -> None:
    assert kind("I prefer the window seat. Is one free?") == "semantic"


def test_curly_apostrophes_and_capitals_make_no_difference() -> None:
    assert kind("I’M A NURSE.") == "semantic"
