-- Conclusions by pattern and agent: what their words claimed, what of it was offered, accepted and concluded a segment in
-- the end, and how sure the claims were. A confirmed negation only leaves an artifact.
-- parameter: space = ''  only this space; '' for all
WITH claimed AS (
    SELECT DISTINCT d.space, d.session, d.turn, d.pattern, d.confidence FROM conclusion_detected d
), told AS (
    SELECT c.*, t.agent, t.role, o.status, e.turn_id IS NOT NULL AS concluded
    FROM claimed c
    JOIN turns t ON t.space = c.space AND t.session = c.session AND t.turn_id = c.turn AND NOT t.retracted
    LEFT JOIN offers o ON o.space = c.space AND o.session = c.session AND o.turn_id = c.turn AND o.pattern = c.pattern
    LEFT JOIN conclusions e
        ON e.space = c.space AND e.session = c.session AND e.turn_id = c.turn AND e.pattern = c.pattern
    WHERE $space IN ('', c.space)
)
SELECT
    t.pattern, t.agent, t.role, count(*) AS claimed, round(avg(t.confidence), 3) AS confidence,
    count(t.status) AS offered, count(*) FILTER (t.status = 'accepted') AS accepted,
    count(*) FILTER (t.concluded) AS concluded
FROM told t
GROUP BY t.pattern, t.agent, t.role
ORDER BY claimed DESC, t.pattern, t.agent, t.role
