-- Offered conclusions by pattern: accepted, declined, overtaken or still open, how sure they were, how fast they were settled.
-- parameter: space = ''  only this space; '' for all
SELECT
    o.pattern, count(*) AS offered, count(*) FILTER (o.status = 'accepted') AS accepted,
    count(*) FILTER (o.status = 'declined') AS declined, count(*) FILTER (o.status = 'overtaken') AS overtaken,
    count(*) FILTER (o.status = 'open') AS open, round(avg(o.confidence), 3) AS confidence,
    round(count(*) FILTER (o.status = 'accepted') / nullif(count(*) FILTER (o.status IN ('accepted', 'declined')), 0), 3)
        AS acceptance,
    round(median(date_diff('second', o.at, o.settled_at)) / 60, 1) AS median_minutes
FROM offers o WHERE $space IN ('', o.space)
GROUP BY o.pattern ORDER BY offered DESC, o.pattern
