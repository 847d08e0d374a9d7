-- Which memories are used together: pairs of turns, how often they were shown together, how strong that made their link,
-- what disuse has left of it (by the time of the space's newest turn or recall), and whether it was often enough to link
-- them. What is left, and what is enough, is told by the parameters that the memory was folded with.
-- parameter: space = ''   only this space; '' for all
-- parameter: turn = ''    only pairs with this turn; '' for all
-- parameter: least = 1    pairs shown together at least so often
-- parameter: limit = 200  at most so many, what is strongest now first
WITH clock AS (
    SELECT e.space, max(e.at) AS now
    FROM (SELECT space, t.at FROM turn_recorded t UNION ALL SELECT space, r.at FROM memory_recalled r) e GROUP BY e.space
), folded AS (
    SELECT
        (m.value->>'$.association.half_life')::DOUBLE AS half_life, (m.value->>'$.association.link_after')::BIGINT AS link_after
    FROM meta m WHERE m.key = 'params'
)
SELECT
    a.space, a.first, a.second, a.count, round(a.strength, 6) AS strength,
    round(a.strength * 0.5 ** (greatest(date_diff('second', a.last_at, c.now), 0) / 86400 / f.half_life), 6) AS strength_now,
    a.count >= f.link_after AS linked, a.first_at, a.last_at, o.content AS first_content, p.content AS second_content
FROM associations a
CROSS JOIN folded f
LEFT JOIN clock c ON c.space = a.space
LEFT JOIN turn_recorded o ON o.space = a.space AND o.id = a.first
LEFT JOIN turn_recorded p ON p.space = a.space AND p.id = a.second
WHERE $space IN ('', a.space) AND $turn IN ('', a.first, a.second) AND a.count >= $least
ORDER BY strength_now DESC, a.count DESC, a.space, a.first, a.second
LIMIT $limit
