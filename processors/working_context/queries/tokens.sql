-- Tokens of a session so far, and of all history of its space so far, against an estimate of its working context, over time.
-- The context's entries are taken as rendered in full (summaries, or all turns of an expanded effort, also those of other
-- sessions) and cut at the budget; saved is the share of the history that the context does without.
-- parameter: space = ''     only this space; '' for all
-- parameter: session = ''   only this session; '' for all
-- parameter: every = 10     one row for so many turns, and one for the last
-- parameter: budget = 4000  tokens, the cap of a rendered context
WITH said AS (
    SELECT
        t.space, t.session, t.turn_id, t.position, t.at, t.effort, t.tokens, t.retracted,
        row_number() OVER talk AS n, count(*) OVER (PARTITION BY t.space, t.session) AS of,
        sum(if(t.retracted, 0, t.tokens)) OVER talk AS raw_tokens,
        sum(if(t.retracted, 0, t.tokens)) OVER (PARTITION BY t.space ORDER BY t.position) AS history_tokens
    FROM turns t
    WHERE $space IN ('', t.space)
    WINDOW talk AS (PARTITION BY t.space, t.session ORDER BY t.position)
), listed AS (
    SELECT * FROM said s WHERE (s.n % $every = 0 OR s.n = s.of) AND $session IN ('', s.session)
), spent AS (
    SELECT t.space, t.effort, t.position, sum(t.tokens) OVER (PARTITION BY t.space, t.effort ORDER BY t.position) AS tokens
    FROM turns t WHERE t.effort IS NOT NULL AND NOT t.retracted AND $space IN ('', t.space)
), told AS (
    SELECT
        p.space, p.effort, p.position,
        list_sum(list_transform(string_split(trim(p.summary), ' '), lambda word: 1 + (length(word) - 1) // 7)) AS tokens
    FROM effort_progressed p WHERE $space IN ('', p.space)
    QUALIFY row_number() OVER (PARTITION BY p.space, p.effort, p.position ORDER BY p.ordinal DESC) = 1
), shown AS (
    SELECT s.space, s.session, s.position, unnest(x.efforts) AS effort, unnest(x.modes) AS mode
    FROM listed s ASOF JOIN (
        SELECT c.* FROM context_scored c
        QUALIFY row_number() OVER (PARTITION BY c.space, c.session, c.position ORDER BY c.ordinal DESC) = 1
    ) x ON x.space = s.space AND x.session = s.session AND x.position <= s.position
), context AS (
    SELECT
        s.space, s.session, s.position, count(*) AS entries,
        least($budget, sum(coalesce(CASE s.mode WHEN 'expanded' THEN r.tokens END, p.tokens, 0))) AS tokens
    FROM shown s
    ASOF LEFT JOIN spent r ON r.space = s.space AND r.effort = s.effort AND r.position <= s.position
    ASOF LEFT JOIN told p ON p.space = s.space AND p.effort = s.effort AND p.position <= s.position
    GROUP BY s.space, s.session, s.position
)
SELECT
    s.space, s.session, s.n AS turn, s.turn_id, s.at, s.raw_tokens::BIGINT AS raw_tokens,
    s.history_tokens::BIGINT AS history_tokens, coalesce(c.tokens, 0)::BIGINT AS context_tokens,
    coalesce(c.entries, 0) AS entries, round(1 - coalesce(c.tokens, 0) / greatest(s.history_tokens, 1), 3) AS saved
FROM listed s LEFT JOIN context c ON c.space = s.space AND c.session = s.session AND c.position = s.position
ORDER BY s.space, s.session, s.n
