-- Notes by source and fate: how many, how often shown, how long until they were settled or ran out.
-- parameter: space = ''  only this space; '' for all
SELECT
    n.source, n.status, count(*) AS notes, round(avg(n.priority), 3) AS priority, sum(n.surfaced)::BIGINT AS surfaced,
    round(median(date_diff('second', n.opened_at, coalesce(n.settled_at, n.escalated_at, n.archived_at))) / 3600, 2) AS median_hours
FROM notes n WHERE $space IN ('', n.space)
GROUP BY n.source, n.status ORDER BY n.source, notes DESC, n.status
