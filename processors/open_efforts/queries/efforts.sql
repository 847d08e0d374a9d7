-- Efforts: when opened, concluded and reopened, how old and how long untouched, in hours of their space's own clock (the
-- time of its newest turn).
-- parameter: space = ''   only this space; '' for all
-- parameter: status = ''  open or concluded; '' for both
-- parameter: limit = 100  at most so many, last active first
WITH clock AS (SELECT t.space, max(t.at) AS now FROM turns t GROUP BY t.space)
SELECT
    e.space, e.effort, e.topic, e.status, e.importance, e.turns, e.segments, len(e.sessions) AS sessions, e.opened_at,
    e.concluded_at, e.reopened,
    round(date_diff('second', e.opened_at, coalesce(e.concluded_at, c.now)) / 3600, 2) AS age_hours,
    round(date_diff('second', e.last_at, c.now) / 3600, 2) AS untouched_hours
FROM efforts e LEFT JOIN clock c ON c.space = e.space
WHERE $space IN ('', e.space) AND $status IN ('', e.status)
ORDER BY e.last_at DESC, e.space, e.effort
LIMIT $limit
