-- The turns that were shown most often: how often, since when, in how many sessions, and how they were rewarded.
-- parameter: space = ''       only this space; '' for all
-- parameter: limit = 20       at most so many
WITH shown AS (
    SELECT r.space, unnest(r.turns) AS turn, r.at, r.session FROM memory_recalled r
), rewarded AS (
    SELECT w.space, turn, avg(w.reward) AS reward FROM (SELECT w.space, w.reward, unnest(w.turns) AS turn FROM memory_rewarded w) w
    GROUP BY w.space, turn
)
SELECT
    s.space, s.turn, count(*) AS recalls, count(DISTINCT s.session) AS sessions, min(s.at) AS first_at,
    max(s.at) AS last_at, any_value(w.reward) AS reward, any_value(t.content) AS content
FROM shown s
LEFT JOIN rewarded w ON w.space = s.space AND w.turn = s.turn
LEFT JOIN turn_recorded t ON t.space = s.space AND t.id = s.turn
WHERE $space IN ('', s.space)
GROUP BY s.space, s.turn
ORDER BY recalls DESC, last_at DESC, s.space, s.turn
LIMIT $limit
