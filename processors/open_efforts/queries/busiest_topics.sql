-- The busiest efforts of each week (or day, month), by turns.
-- parameter: space = ''   only this space; '' for all
-- parameter: by = 'week'  hour, day, week or month; a week begins on Monday
-- parameter: top = 5      so many of each
WITH said AS (
    SELECT date_trunc($by, t.at)::TIMESTAMP AS period, t.space, t.effort, t.session, t.tokens
    FROM turns t WHERE t.effort IS NOT NULL AND NOT t.retracted AND $space IN ('', t.space)
), counted AS (
    SELECT s.period, s.space, s.effort, count(*) AS turns, sum(s.tokens)::BIGINT AS tokens, count(DISTINCT s.session) AS sessions
    FROM said s GROUP BY s.period, s.space, s.effort
), busiest AS (
    SELECT * FROM counted c
    QUALIFY row_number() OVER (PARTITION BY c.period ORDER BY c.turns DESC, c.tokens DESC, c.space, c.effort) <= $top
)
SELECT b.period, b.space, b.effort, e.topic, b.turns, b.tokens, b.sessions
FROM busiest b LEFT JOIN efforts e ON e.space = b.space AND e.effort = b.effort
ORDER BY b.period, b.turns DESC, b.tokens DESC, b.space, b.effort
