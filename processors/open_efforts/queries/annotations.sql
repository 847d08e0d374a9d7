-- What models wrote: how much of it, and how much changed anything (see the views written_summaries, written_titles).
-- parameter: space = ''  only this space; '' for all
WITH written AS (
    SELECT w.space, 'summaries' AS job, w.model, w.segment IS NOT NULL AS used FROM written_summaries w
    UNION ALL
    SELECT w.space, 'titles', w.model, w.effort IS NOT NULL FROM written_titles w
)
SELECT w.space, w.job, w.model, count(*) AS written, count(*) FILTER (w.used) AS used, count(*) FILTER (NOT w.used) AS without_effect
FROM written w WHERE $space IN ('', w.space) GROUP BY w.space, w.job, w.model ORDER BY w.space, w.job, w.model
