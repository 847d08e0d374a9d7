-- How long efforts take from their first turn to their conclusion, by what concluded them: hours and turns.
-- parameter: space = ''  only this space; '' for all
SELECT
    e.pattern, count(*) AS efforts, round(median(date_diff('second', e.opened_at, e.concluded_at)) / 3600, 2) AS median_hours,
    round(quantile_cont(date_diff('second', e.opened_at, e.concluded_at), 0.9) / 3600, 2) AS hours_90,
    median(e.turns) AS median_turns, max(e.turns) AS most_turns
FROM efforts e WHERE e.status = 'concluded' AND $space IN ('', e.space)
GROUP BY e.pattern ORDER BY efforts DESC, e.pattern
