-- Tasks by where they come from: how many were completed, how long they took against the estimate, how long they were blocked.
-- parameter: space = ''  only this space; '' for all
SELECT
    t.source, count(*) AS tasks, count(*) FILTER (t.status = 'complete') AS complete,
    count(*) FILTER (t.status = 'dropped') AS dropped, count(*) FILTER (t.place <> 'ended') AS open,
    round(count(*) FILTER (t.status = 'complete') / nullif(count(*) FILTER (t.place = 'ended'), 0), 3) AS completion_rate,
    round(median(t.took) FILTER (t.status = 'complete'), 2) AS median_hours,
    round(median(t.against_estimate) FILTER (t.status = 'complete'), 2) AS against_estimate,
    round(coalesce(sum(t.blocked), 0), 2) AS hours_blocked
FROM tasks t WHERE $space IN ('', t.space)
GROUP BY t.source ORDER BY t.source
