-- Agents' shares: who says how much, on how many efforts, and who concludes.
-- parameter: space = ''  only this space; '' for all
WITH said AS (
    SELECT
        t.space, t.agent, count(*) AS turns, sum(t.tokens)::BIGINT AS tokens, count(DISTINCT t.session) AS sessions,
        count(DISTINCT t.effort) AS efforts
    FROM turns t WHERE NOT t.retracted AND $space IN ('', t.space) GROUP BY t.space, t.agent
), concluded AS (
    SELECT c.space, c.agent, count(*) AS conclusions FROM conclusions c GROUP BY c.space, c.agent
)
SELECT
    s.space, s.agent, s.turns, round(s.turns / sum(s.turns) OVER (PARTITION BY s.space), 3) AS turn_share, s.tokens,
    round(s.tokens / greatest(sum(s.tokens) OVER (PARTITION BY s.space), 1), 3) AS token_share, s.sessions, s.efforts,
    coalesce(c.conclusions, 0) AS conclusions
FROM said s LEFT JOIN concluded c ON c.space = s.space AND c.agent = s.agent
ORDER BY s.space, s.turns DESC, s.agent
