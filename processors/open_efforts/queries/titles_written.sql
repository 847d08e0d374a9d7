-- Titles that models wrote: how many, and how many changed anything (see the view written_titles).
-- parameter: space = ''  only this space; '' for all
SELECT
    w.space, w.model, count(*) AS written, count(*) FILTER (w.effort IS NOT NULL) AS used,
    count(*) FILTER (w.effort IS NULL) AS without_effect
FROM written_titles w WHERE $space IN ('', w.space) GROUP BY w.space, w.model ORDER BY w.space, w.model
