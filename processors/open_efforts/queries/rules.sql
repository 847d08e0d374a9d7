-- Which rule decided: where segments begin, which effort a turn belongs to, and how often a decision was revised.
-- parameter: space = ''  only this space; '' for all
WITH revised AS (
    SELECT DISTINCT r.space, r.turn, 'segment' AS what FROM turn_refiled r
    UNION ALL SELECT DISTINCT r.space, r.turn, 'effort' FROM turn_rethreaded r
), decided AS (
    SELECT o.space, o.turn, 'segment' AS what, o.reason, o.score FROM segment_opened o
    UNION ALL SELECT h.space, h.turn, 'effort', h.reason, h.score FROM turn_threaded h
)
SELECT
    d.what, d.reason, count(*) AS decisions, round(avg(d.score), 3) AS mean_score, count(r.turn) AS revised,
    round(count(*) / sum(count(*)) OVER (PARTITION BY d.what), 3) AS share
FROM decided d LEFT JOIN revised r ON r.space = d.space AND r.turn = d.turn AND r.what = d.what
WHERE $space IN ('', d.space)
GROUP BY d.what, d.reason ORDER BY d.what DESC, decisions DESC, d.reason
