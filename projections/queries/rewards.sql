-- What recalls were worth, by what was asked: how often each cue was asked, how many turns it showed, and how often these
-- were rewarded or said to mislead after it (a reward counts for the last recall before it that showed the turn, under no
-- cue where there was none). Cues of which nothing was rewarded are left out.
-- parameter: space = ''  only this space; '' for all
-- parameter: limit = 50  at most so many, the most rewarded or misleading first
WITH shown AS (
    SELECT r.space, r.position, r.cue, unnest(list_distinct(r.turns)) AS turn FROM memory_recalled r
    WHERE $space IN ('', r.space)
), given AS (
    SELECT w.space, w.position, w.reward, w.at, unnest(list_distinct(w.turns)) AS turn FROM memory_rewarded w
    WHERE $space IN ('', w.space)
), credited AS (
    SELECT g.space, coalesce(s.cue, '') AS cue, g.reward, g.turn, g.at
    FROM given g ASOF LEFT JOIN shown s ON s.space = g.space AND s.turn = g.turn AND s.position <= g.position
), asked AS (
    SELECT s.space, s.cue, count(DISTINCT s.position) AS recalls, count(*) AS shown FROM shown s GROUP BY s.space, s.cue
)
SELECT
    c.space, c.cue, coalesce(any_value(a.recalls), 0) AS recalls, coalesce(any_value(a.shown), 0) AS shown,
    count(*) AS rewards, count(*) FILTER (c.reward > 0) AS rewarded, count(*) FILTER (c.reward < 0) AS misled,
    round(avg(c.reward), 3) AS mean_reward, count(DISTINCT c.turn) AS turns, max(c.at) AS last_at
FROM credited c LEFT JOIN asked a ON a.space = c.space AND a.cue = c.cue
GROUP BY c.space, c.cue
ORDER BY rewards DESC, last_at DESC, c.space, c.cue
LIMIT $limit
