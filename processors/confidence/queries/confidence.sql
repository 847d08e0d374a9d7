-- The memories that can be relied on least, and why: their reliability with the parameters of this memory, what last moved
-- it, what contradicts them, and how often they misled.
-- parameter: space = ''  only this space; '' for all
-- parameter: below = 1.0 only a reliability below this
-- parameter: limit = 50  at most so many, the least reliable first
WITH folded AS (
    SELECT m.value->'$.confidence' AS given FROM meta m WHERE m.key = 'params'
), changed AS (
    SELECT
        c.space, c.turn, arg_max(c.reason, (c.position, c.ordinal)) AS reason, max(c.at) AS changed_at,
        count(*) FILTER (c.reason = 'misled') AS misled,
        count(*) FILTER (c.reason = 'confirmed') - count(*) FILTER (c.reason = 'unconfirmed') AS confirmed
    FROM confidence_changed c WHERE c.reason NOT IN ('recalled', 'important', 'pinned', 'unpinned')
    GROUP BY c.space, c.turn
), against AS (
    SELECT b.space, b.turn_id, list_sort(list(DISTINCT b.replaced_by)) AS contradicted_by
    FROM beliefs b WHERE NOT b.current GROUP BY b.space, b.turn_id
), relied AS (
    SELECT
        k.space, k.turn AS turn_id, t.position, t.at, t.role, t.content, k.contradicted, k.suspected,
        ((f.given->>coalesce(t.role, 'user'))::DOUBLE * k.scale + k.shift)
            * CASE
                WHEN k.contradicted THEN (f.given->>'contradicted')::DOUBLE
                WHEN k.suspected THEN (f.given->>'suspected')::DOUBLE
                ELSE 1
            END AS reliability
    FROM confidences k
    CROSS JOIN folded f
    LEFT JOIN recorded_turns t ON t.turn_id = k.turn AND t.space = k.space
    WHERE NOT coalesce(t.retracted, false) AND $space IN ('', k.space)
)
SELECT
    r.space, r.turn_id, round(r.reliability, 3) AS reliability, c.reason, c.changed_at, r.contradicted,
    coalesce(a.contradicted_by, []) AS contradicted_by, c.misled, c.confirmed, r.role, r.at, r.content
FROM relied r
JOIN changed c ON c.space = r.space AND c.turn = r.turn_id
LEFT JOIN against a ON a.space = r.space AND a.turn_id = r.turn_id
WHERE r.reliability < $below
ORDER BY r.reliability, r.space, r.position, r.turn_id
LIMIT $limit
