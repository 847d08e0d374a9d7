-- Recurring work: which kind of task follows which once that is done, how often, how soon, and on which weekday it then begins.
-- parameter: space = ''  only this space; '' for all
-- parameter: least = 1  so often at least
-- parameter: days = 3  what begins later than this does not follow
WITH kinds AS (  -- a kind: the first three longer words of a task, without what has a digit
    SELECT space, task, started_at, ended_at, status, array_to_string(list_slice(list_filter(
        regexp_extract_all(lower(description), '[\p{L}\p{N}]+'), lambda word: len(word) > 3 AND NOT regexp_matches(word, '\p{N}')
    ), 1, 3), ' ') AS kind
    FROM tasks WHERE $space IN ('', space) AND started_at IS NOT NULL
)
SELECT
    a.space, a.kind AS done, b.kind AS then_comes, count(*) AS times,
    round(median(date_diff('second', a.ended_at, b.started_at)) / 3600, 1) AS hours_later,
    mode(dayname(b.started_at)) AS weekday
FROM kinds a JOIN kinds b ON b.space = a.space AND b.task <> a.task AND b.started_at >= a.ended_at
    AND b.started_at < a.ended_at + to_days($days::INTEGER)
WHERE a.status = 'complete' AND a.kind <> '' AND b.kind <> ''
GROUP BY a.space, a.kind, b.kind HAVING count(*) >= $least
ORDER BY times DESC, a.space, done, then_comes
