-- What displaced what: efforts that had to leave a context, for which other one, how often, and how relevant both were.
-- parameter: space = ''  only this space; '' for all
-- parameter: limit = 50  at most so many pairs, most frequent first
SELECT
    c.space, c.effort AS displaced, gone.topic AS displaced_topic, c.other AS by_effort, came.topic AS by_topic,
    count(*) AS times, round(avg(c.score), 3) AS displaced_score, round(avg(c.other_score), 3) AS by_score,
    max(c.at) AS last_at, arg_max(c.turn, (c.position, c.ordinal)) AS last_turn
FROM context_changes c
LEFT JOIN efforts gone ON gone.space = c.space AND gone.effort = c.effort
LEFT JOIN efforts came ON came.space = c.space AND came.effort = c.other
WHERE c.change = 'left' AND c.other IS NOT NULL AND $space IN ('', c.space)
GROUP BY c.space, c.effort, gone.topic, c.other, came.topic
ORDER BY times DESC, c.space, displaced, by_effort
LIMIT $limit
