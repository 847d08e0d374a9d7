-- How much of what was said was ever shown again, by when it was said and in which role, and how much never was.
-- parameter: space = ''   only this space; '' for all
-- parameter: by = 'week'  hour, day, week or month
WITH shown AS (
    SELECT DISTINCT r.space, unnest(r.turns) AS turn FROM memory_recalled r WHERE $space IN ('', r.space)
)
SELECT
    date_trunc($by, t.at)::TIMESTAMP AS period, t.role, count(*) AS turns, count(s.turn) AS recalled,
    count(*) - count(s.turn) AS never, round(count(s.turn) / count(*), 3) AS share,
    sum(t.tokens)::BIGINT AS tokens, coalesce(sum(t.tokens) FILTER (s.turn IS NULL), 0)::BIGINT AS tokens_never
FROM recorded_turns t LEFT JOIN shown s ON s.space = t.space AND s.turn = t.turn_id
WHERE NOT t.retracted AND $space IN ('', t.space)
GROUP BY ALL ORDER BY period, t.role
