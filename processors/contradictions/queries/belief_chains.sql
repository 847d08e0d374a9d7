-- The history of what was stated: each statement of an attribute in the order of its chain, what took its place, by which
-- rule, and after how many days.
-- parameter: space = ''      only this space; '' for all
-- parameter: attribute = ''  only attributes with this in them, as in the view beliefs; '' for all
-- parameter: least = 2       only chains of at least so many statements
-- parameter: limit = 200     at most so many rows, the chains that were last added to first
WITH chained AS (
    SELECT
        b.*, count(*) OVER (PARTITION BY b.space, b.chain, b.subject, b.attribute) AS statements,
        max(b.at) OVER (PARTITION BY b.space, b.chain, b.subject, b.attribute) AS chain_at
    FROM beliefs b
    WHERE $space IN ('', b.space) AND ($attribute = '' OR contains(b.attribute, $attribute))
)
SELECT
    c.space, c.chain, c.subject, c.attribute, c.place, c.value, c.affirmed, c.turn_id, c.at, c.agent, c.current,
    c.replaced_by, c.rule, round(c.confidence, 3) AS confidence,
    round(date_diff('second', c.at, n.at) / 86400, 2) AS stood_days
FROM chained c LEFT JOIN turn_recorded n ON n.space = c.space AND n.id = c.replaced_by
WHERE c.statements >= $least
ORDER BY c.chain_at DESC, c.space, c.chain, c.attribute, c.place, c.at, c.position
LIMIT $limit
