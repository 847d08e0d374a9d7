-- Efforts are matched one to one: each with the one that it shares most turns with, where that holds both ways. Of equals
-- the one that begins with the same turn is meant, then the first by id. What was declared and has no turn yet is matched
-- by its id, which rests on the declaration alone.

-- load: efforts
SELECT e.space, e.effort, e.topic, e.status, e.first_turn, e.first_position, e.turns FROM efforts e

-- load: threads
SELECT t.space, t.turn_id, t.effort FROM turns t

-- prepare: threaded, the efforts of the turns that both have
CREATE TABLE threaded AS
SELECT s.*, l.effort AS l_effort, r.effort AS r_effort
FROM shared s
LEFT JOIN l_threads l ON l.space = s.space AND l.turn_id = s.turn_id
LEFT JOIN r_threads r ON r.space = s.space AND r.turn_id = s.turn_id

-- prepare: match, which effort is which
CREATE TABLE match AS
SELECT o.space, o.l, o.r, o.n
FROM (
    SELECT
        t.space, t.l_effort AS l, t.r_effort AS r, count(*) AS n,
        coalesce(any_value(l.first_turn) = any_value(r.first_turn), false) AS begins
    FROM threaded t
    LEFT JOIN l_efforts l ON l.space = t.space AND l.effort = t.l_effort
    LEFT JOIN r_efforts r ON r.space = t.space AND r.effort = t.r_effort
    WHERE t.l_effort IS NOT NULL AND t.r_effort IS NOT NULL
    GROUP BY t.space, t.l_effort, t.r_effort
) o
QUALIFY row_number() OVER (PARTITION BY o.space, o.l ORDER BY o.n DESC, o.begins DESC, o.r) = 1
    AND row_number() OVER (PARTITION BY o.space, o.r ORDER BY o.n DESC, o.begins DESC, o.l) = 1

-- prepare: match, what was declared
INSERT INTO match
SELECT l.space, l.effort, r.effort, 0 FROM l_efforts l JOIN r_efforts r ON r.space = l.space AND r.effort = l.effort
WHERE NOT EXISTS (FROM match m WHERE m.space = l.space AND (m.l = l.effort OR m.r = r.effort))

-- prepare: efforts of one only, pairs, and turns that are elsewhere
CREATE VIEW l_only AS SELECT e.* FROM l_efforts e ANTI JOIN match m ON m.space = e.space AND m.l = e.effort;
CREATE VIEW r_only AS SELECT e.* FROM r_efforts e ANTI JOIN match m ON m.space = e.space AND m.r = e.effort;
CREATE VIEW paired AS
WITH l_size AS (
    SELECT space, l_effort AS effort, count(*) AS n FROM threaded GROUP BY space, l_effort
), r_size AS (
    SELECT space, r_effort AS effort, count(*) AS n FROM threaded GROUP BY space, r_effort
)
SELECT
    m.space, m.l, m.r, m.n, l.topic, l.first_turn, l.first_position, l.status AS l_status, r.status AS r_status,
    m.n = coalesce(a.n, 0) AND m.n = coalesce(b.n, 0) AS same
FROM match m
JOIN l_efforts l ON l.space = m.space AND l.effort = m.l
JOIN r_efforts r ON r.space = m.space AND r.effort = m.r
LEFT JOIN l_size a ON a.space = m.space AND a.effort = m.l
LEFT JOIN r_size b ON b.space = m.space AND b.effort = m.r;
CREATE VIEW moved AS
SELECT t.* FROM threaded t LEFT JOIN match m ON m.space = t.space AND m.l = t.l_effort
WHERE m.r IS DISTINCT FROM t.r_effort OR (t.l_effort IS NULL) <> (t.r_effort IS NULL)

-- count: efforts
SELECT
    count(*) AS "efforts", count(*) FILTER (status = 'open') AS "open", count(*) FILTER (status = 'concluded') AS "concluded",
    sum(reopened)::BIGINT AS "reopened"
FROM efforts

-- difference: efforts | in left only
SELECT count(*) FROM l_only

-- difference: efforts | in right only
SELECT count(*) FROM r_only

-- difference: efforts | with other turns
SELECT count(*) FROM paired WHERE NOT same

-- difference: efforts | concluded in one only
SELECT count(*) FROM paired WHERE l_status <> r_status

-- difference: efforts | turns elsewhere, share
SELECT count(*) / greatest((SELECT count(*) FROM shared), 1) FROM moved

-- example: efforts | in left only
SELECT e.space, s.session, e.first_turn, e.topic, '', NULL
FROM l_only e LEFT JOIN l_turns s ON s.space = e.space AND s.turn_id = e.first_turn
ORDER BY e.turns DESC, e.space, e.effort

-- example: efforts | in right only
SELECT e.space, s.session, e.first_turn, '', e.topic, NULL
FROM r_only e LEFT JOIN r_turns s ON s.space = e.space AND s.turn_id = e.first_turn
ORDER BY e.turns DESC, e.space, e.effort

-- example: efforts | concluded in one only
SELECT p.space, s.session, p.first_turn, p.l_status, p.r_status, p.topic
FROM paired p LEFT JOIN l_turns s ON s.space = p.space AND s.turn_id = p.first_turn
WHERE p.l_status <> p.r_status ORDER BY p.space, p.first_position

-- example: efforts | turn elsewhere
SELECT t.space, t.session, t.turn_id, coalesce(l.topic, 'none'), coalesce(r.topic, 'none'), NULL
FROM moved t
LEFT JOIN l_efforts l ON l.space = t.space AND l.effort = t.l_effort
LEFT JOIN r_efforts r ON r.space = t.space AND r.effort = t.r_effort
ORDER BY t.space, t.position

-- load: conclusions
SELECT c.space, c.session, c.turn_id, c.position, c.pattern, c.text FROM conclusions c

-- prepare: conclusions of one only, at turns that both have
CREATE VIEW l_conclusions_only AS
SELECT c.* FROM l_conclusions c SEMI JOIN shared s ON s.space = c.space AND s.turn_id = c.turn_id
ANTI JOIN r_conclusions o ON o.space = c.space AND o.turn_id = c.turn_id AND o.pattern = c.pattern;
CREATE VIEW r_conclusions_only AS
SELECT c.* FROM r_conclusions c SEMI JOIN shared s ON s.space = c.space AND s.turn_id = c.turn_id
ANTI JOIN l_conclusions o ON o.space = c.space AND o.turn_id = c.turn_id AND o.pattern = c.pattern

-- count: conclusions
SELECT count(*) AS "conclusions" FROM conclusions

-- difference: conclusions | in left only
SELECT count(*) FROM l_conclusions_only

-- difference: conclusions | in right only
SELECT count(*) FROM r_conclusions_only

-- example: conclusions | in left only
SELECT c.space, c.session, c.turn_id, c.pattern, '', c.text FROM l_conclusions_only c
ORDER BY c.space, c.position, c.pattern

-- example: conclusions | in right only
SELECT c.space, c.session, c.turn_id, '', c.pattern, c.text FROM r_conclusions_only c
ORDER BY c.space, c.position, c.pattern
