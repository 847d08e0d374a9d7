-- What two memories of one log have in common: turns. How such files are written is said in diff.py.

-- load: turns
SELECT t.space, t.session, t.turn_id, t.position, t.retracted FROM recorded_turns t

-- prepare: shared, the turns that both have
CREATE TABLE shared AS
SELECT l.space, l.session, l.turn_id, l.position, l.retracted OR r.retracted AS retracted
FROM l_turns l JOIN r_turns r ON r.space = l.space AND r.turn_id = l.turn_id

-- count: turns
SELECT count(*) AS "turns" FROM turn_recorded

-- difference: turns | in one only
SELECT (SELECT count(*) FROM l_turns) + (SELECT count(*) FROM r_turns) - 2 * count(*) FROM shared
