-- Segments are compared by the turns they begin with.

-- load: segments
SELECT s.space, s.session, s.segment, s.first_turn, s.first_position, s.summary FROM segments s

-- prepare: segments that begin in one only, at turns that both have
CREATE VIEW l_begins AS
SELECT l.* FROM l_segments l SEMI JOIN shared s ON s.space = l.space AND s.turn_id = l.first_turn
ANTI JOIN r_segments r ON r.space = l.space AND r.first_turn = l.first_turn;
CREATE VIEW r_begins AS
SELECT r.* FROM r_segments r SEMI JOIN shared s ON s.space = r.space AND s.turn_id = r.first_turn
ANTI JOIN l_segments l ON l.space = r.space AND l.first_turn = r.first_turn

-- count: segments
SELECT
    count(*) AS "segments", avg(turns) AS "mean turns", count(*) FILTER (status = 'concluded') AS "concluded"
FROM segments

-- difference: segments | begin in one only
SELECT (SELECT count(*) FROM l_begins) + (SELECT count(*) FROM r_begins)

-- example: segments | begins in left only
SELECT b.space, b.session, b.first_turn, b.summary, '', NULL FROM l_begins b ORDER BY b.space, b.first_position

-- example: segments | begins in right only
SELECT b.space, b.session, b.first_turn, '', b.summary, NULL FROM r_begins b ORDER BY b.space, b.first_position

-- count: conclusions
SELECT count(*) AS "offers", count(*) FILTER (status = 'open') AS "open offers" FROM offers

-- count: conclusions
SELECT count(*) AS "artifacts" FROM artifacts
