-- Interleaving: how often the talk of a session switches between efforts, how long it stays, how often it comes back to
-- an effort it had left. Small talk and retracted turns are passed over.
-- parameter: space = ''  only this space; '' for all
WITH steps AS (
    SELECT t.space, t.session, t.effort, t.position, lag(t.effort) OVER talk IS DISTINCT FROM t.effort AS begins
    FROM turns t WHERE t.effort IS NOT NULL AND NOT t.retracted AND $space IN ('', t.space)
    WINDOW talk AS (PARTITION BY t.space, t.session ORDER BY t.position)
), numbered AS (
    SELECT *, sum(begins::INTEGER) OVER (PARTITION BY s.space, s.session ORDER BY s.position) AS run FROM steps s
), runs AS (
    SELECT n.space, n.session, n.effort, n.run, count(*) AS turns FROM numbered n GROUP BY ALL
)
SELECT
    r.space, r.session, sum(r.turns)::BIGINT AS turns, count(DISTINCT r.effort) AS efforts, count(*) - 1 AS switches,
    count(*) - count(DISTINCT r.effort) AS returns, round((count(*) - 1) * 100 / sum(r.turns), 1) AS switches_per_100,
    max(r.turns) AS longest_run, round(avg(r.turns), 2) AS mean_run
FROM runs r GROUP BY r.space, r.session
ORDER BY switches_per_100 DESC, r.space, r.session
