-- The turns that were shown most often: how often, in how many sessions, since when, how they were rewarded, and whether
-- they are marked or no longer believed.
-- parameter: space = ''   only this space; '' for all
-- parameter: limit = 20   at most so many
WITH shown AS (
    SELECT s.space, s.turn, count(DISTINCT s.session) AS sessions
    FROM (SELECT r.space, r.session, unnest(r.turns) AS turn FROM memory_recalled r) s
    WHERE $space IN ('', s.space) GROUP BY s.space, s.turn
)
SELECT
    m.space, m.turn_id, m.recalls, s.sessions, m.first_recalled_at, m.last_recalled_at, m.rewards,
    round(m.reward, 3) AS reward, m.important, m.pinned, coalesce(k.contradicted, false) AS contradicted, m.at, m.agent, m.content
FROM remembered m
JOIN shown s ON s.space = m.space AND s.turn = m.turn_id
LEFT JOIN confidences k ON k.space = m.space AND k.turn = m.turn_id
WHERE $space IN ('', m.space) AND m.recalls > 0 AND NOT m.retracted
ORDER BY m.recalls DESC, m.last_recalled_at DESC, m.space, m.turn_id
LIMIT $limit
