-- How firmly memories are practised: by the number of spaced recalls, how many turns, what that made of their stability
-- (a factor), how many are marked, and how long ago they were shown last, in days of their space's own clock
-- (the time of its newest turn or recall). Retention itself is computed when a memory is asked for (`mnemolog memory`).
-- parameter: space = ''   only this space; '' for all
WITH clock AS (
    SELECT e.space, max(e.at) AS now
    FROM (SELECT space, t.at FROM turn_recorded t UNION ALL SELECT space, r.at FROM memory_recalled r) e GROUP BY e.space
), practised AS (
    SELECT
        r.space, r.turn, count(*) FILTER (r.cause = 'recalled') AS spaced_recalls,
        arg_max({g: r.growth, i: r.important, p: r.pinned, w: r.reward, s: r.recalled}, (r.position, r.ordinal)) AS last
    FROM retention_changed r WHERE $space IN ('', r.space) GROUP BY r.space, r.turn
)
SELECT
    p.spaced_recalls, count(*) AS turns, round(avg((p.last).g), 3) AS mean_growth,
    count(*) FILTER ((p.last).i) AS important, count(*) FILTER ((p.last).p) AS pinned, round(avg((p.last).w), 3) AS mean_reward,
    round(median(date_diff('second', (p.last).s, c.now)) FILTER (p.spaced_recalls > 0) / 86400, 2) AS median_idle_days
FROM practised p LEFT JOIN clock c ON c.space = p.space
GROUP BY p.spaced_recalls ORDER BY p.spaced_recalls
