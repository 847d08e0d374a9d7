-- Consolidations: when and why they ran, how many memories of which age they replayed, how many of these for the first
-- time, how old they were, and how strong their replays left them.
-- parameter: space = ''   only this space; '' for all
-- parameter: cause = ''   scheduled or requested; '' for both
-- parameter: limit = 100  at most so many, newest first
SELECT
    c.space, c.at, c.cause, c.run, c.fresh, c.week, c.older, count(m.turn) AS replayed,
    count(m.turn) FILTER (m.replays = 1) AS first_time, count(m.turn) FILTER (m.important OR m.pinned) AS marked,
    round(median(date_diff('second', t.at, c.at)) / 86400, 2) AS median_age_days,
    round(avg(m.r1), 3) AS mean_r1, round(avg(m.r2), 3) AS mean_r2,
    coalesce(list(m.turn ORDER BY m.ordinal) FILTER (m.turn IS NOT NULL), []) AS turns
FROM consolidation_ran c
LEFT JOIN memory_consolidated m
    ON m.space = c.space AND m.position = c.position AND m.cause = c.cause AND m.at = c.at AND m.ordinal < c.ordinal
LEFT JOIN turn_recorded t ON t.space = m.space AND t.id = m.turn
WHERE $space IN ('', c.space) AND $cause IN ('', c.cause)
GROUP BY c.space, c.position, c.ordinal, c.at, c.cause, c.run, c.fresh, c.week, c.older
ORDER BY c.at DESC, c.space, c.run DESC
LIMIT $limit
