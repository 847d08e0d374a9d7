-- Resumed efforts: concluded work that was taken up again, after how long, why, and in which session.
-- parameter: space = ''  only this space; '' for all
-- parameter: limit = 50  at most so many, newest first
WITH concluded AS (
    SELECT c.space, c.effort, c.at AS concluded_at, c.session, c.pattern, c.position FROM effort_concluded c
    QUALIFY row_number() OVER (PARTITION BY c.space, c.effort, c.position ORDER BY c.ordinal DESC) = 1
)
SELECT
    r.space, r.effort, e.topic, r.at AS resumed_at, r.turn AS resumed_by, r.reason, c.pattern AS was_concluded_by,
    round(date_diff('second', c.concluded_at, r.at) / 3600, 2) AS hours_after, r.session <> c.session AS other_session,
    e.status AS status_now
FROM effort_resumed r
JOIN efforts e ON e.space = r.space AND e.effort = r.effort
ASOF LEFT JOIN concluded c ON c.space = r.space AND c.effort = r.effort AND c.position <= r.position
WHERE $space IN ('', r.space)
ORDER BY r.at DESC, r.position DESC, r.ordinal DESC
LIMIT $limit
