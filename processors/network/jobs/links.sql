-- Each of the newest nodes, by its turn, before at most five older ones that share two rare words with it.
WITH asked AS (
    SELECT space, turn, text FROM knowledge
    WHERE status IN ('current', 'open') AND "at" < $quiet
    QUALIFY row_number() OVER (PARTITION BY space ORDER BY "at" DESC, node) <= 2000
), words AS (
    SELECT DISTINCT space, turn, unnest(regexp_extract_all(lower(text), '[\p{L}\p{N}]{4,}')) AS word FROM asked
), rare AS (
    SELECT space, word, count(*) AS turns FROM words GROUP BY space, word HAVING count(*) BETWEEN 2 AND 24
), near AS (
    SELECT a.space, a.turn, b.turn AS other, r.session, r.position, o.position AS place
    FROM words a
    JOIN rare USING (space, word)
    JOIN words b USING (space, word)
    JOIN recorded_turns r ON r.space = a.space AND r.turn_id = a.turn AND NOT r.retracted
    JOIN recorded_turns o ON o.space = a.space AND o.turn_id = b.turn AND NOT o.retracted
    WHERE o.position < r.position
    GROUP BY a.space, a.turn, b.turn, r.session, r.position, o.position
    HAVING count(*) >= 2
    QUALIFY row_number() OVER (PARTITION BY a.space, a.turn ORDER BY sum(1.0 / rare.turns) DESC, o.position) <= 5
)
SELECT space, session, [turn] || list(other ORDER BY place) AS turns
FROM near GROUP BY space, session, turn, position ORDER BY position DESC, space
