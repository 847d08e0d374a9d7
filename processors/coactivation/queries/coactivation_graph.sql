-- The co-activation graph: which efforts are used together, how strongly, and whether that made a link.
-- parameter: space = ''       only this space; '' for all
-- parameter: least = 0.0      pairs at least so strong
-- parameter: limit = 100      at most so many, strongest first
SELECT
    p.space, p.first, one.topic AS first_topic, p.second, two.topic AS second_topic, p.count, p.strength,
    l.formed_at IS NOT NULL AS linked, l.formed_at, p.last_at
FROM coactivations p
LEFT JOIN links l ON l.space = p.space AND l.first = p.first AND l.second = p.second
LEFT JOIN efforts one ON one.space = p.space AND one.effort = p.first
LEFT JOIN efforts two ON two.space = p.space AND two.effort = p.second
WHERE $space IN ('', p.space) AND p.strength >= $least
ORDER BY p.strength DESC, p.count DESC, p.space, p.first, p.second
LIMIT $limit
