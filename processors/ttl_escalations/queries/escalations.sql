-- The funnel of notes: taken, shown, run out, raised to the user, answered; by priority.
-- parameter: space = ''  only this space; '' for all
SELECT
    CASE WHEN n.priority >= 0.75 THEN 'high' WHEN n.priority >= 0.5 THEN 'medium' ELSE 'low' END AS priority,
    count(*) AS taken, count(*) FILTER (n.surfaced > 0) AS surfaced,
    count(*) FILTER (n.settled_at IS NOT NULL AND n.escalated_at IS NULL AND n.archived_at IS NULL) AS settled_in_time,
    count(*) FILTER (n.escalated_at IS NOT NULL) AS escalated,
    count(*) FILTER (n.escalated_at IS NOT NULL AND n.settled_at IS NOT NULL) AS answered,
    count(*) FILTER (n.archived_at IS NOT NULL) AS archived,
    count(*) FILTER (n.status = 'historic') AS historic, count(*) FILTER (n.status = 'open') AS open
FROM notes n WHERE $space IN ('', n.space)
GROUP BY ALL ORDER BY min(n.priority) DESC
