-- How restless contexts are: changes per 100 turns by session, and how many efforts a context holds.
-- parameter: space = ''  only this space; '' for all
WITH changed AS (
    SELECT
        c.space, c.session, count(*) FILTER (c.change = 'entered') AS entered, count(*) FILTER (c.change = 'left') AS left_,
        count(*) FILTER (c.change = 'recalled') AS recalled,
        count(*) FILTER (c.change IN ('expanded', 'condensed')) AS resized
    FROM context_changes c GROUP BY c.space, c.session
), held AS (
    SELECT t.space, t.session, avg(coalesce(len(c.efforts), 0)) AS entries, coalesce(max(len(c.efforts)), 0) AS most
    FROM turns t ASOF LEFT JOIN (
        SELECT c.* FROM context_scored c
        QUALIFY row_number() OVER (PARTITION BY c.space, c.session, c.position ORDER BY c.ordinal DESC) = 1
    ) c ON c.space = t.space AND c.session = t.session AND c.position <= t.position
    GROUP BY t.space, t.session
)
SELECT
    s.space, s.session, s.turns + s.retracted AS turns, coalesce(c.entered, 0) AS entered, coalesce(c.left_, 0) AS went,
    coalesce(c.recalled, 0) AS recalled, coalesce(c.resized, 0) AS resized,
    round((coalesce(c.entered, 0) + coalesce(c.left_, 0)) * 100 / (s.turns + s.retracted), 1) AS changes_per_100,
    round(h.entries, 2) AS mean_entries, h.most AS most_entries
FROM sessions s
LEFT JOIN changed c ON c.space = s.space AND c.session = s.session
LEFT JOIN held h ON h.space = s.space AND h.session = s.session
WHERE $space IN ('', s.space)
ORDER BY changes_per_100 DESC, s.space, s.session
