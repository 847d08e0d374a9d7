-- Statements are compared by turn, subject and attribute.

-- load: replaced
SELECT b.space, b.session, b.turn_id, b.position, b.subject, b.attribute, b.replaced_by, n.content
FROM beliefs b LEFT JOIN turn_recorded n ON n.space = b.space AND n.id = b.replaced_by WHERE NOT b.current

-- prepare: what was replaced in one only, at turns that both have
CREATE VIEW l_replaced_only AS
SELECT b.* FROM l_replaced b SEMI JOIN shared s ON s.space = b.space AND s.turn_id = b.turn_id
ANTI JOIN r_replaced o USING (space, turn_id, subject, attribute, replaced_by);
CREATE VIEW r_replaced_only AS
SELECT b.* FROM r_replaced b SEMI JOIN shared s ON s.space = b.space AND s.turn_id = b.turn_id
ANTI JOIN l_replaced o USING (space, turn_id, subject, attribute, replaced_by)

-- count: beliefs
SELECT count(*) AS "statements", count(*) FILTER (NOT current) AS "replaced" FROM beliefs

-- difference: beliefs | replaced in left only
SELECT count(*) FROM l_replaced_only

-- difference: beliefs | replaced in right only
SELECT count(*) FROM r_replaced_only

-- example: beliefs | replaced in left only
SELECT b.space, b.session, b.turn_id, 'by ' || b.replaced_by || ': ' || coalesce(b.content, ''), '', NULL
FROM l_replaced_only b ORDER BY b.space, b.position, b.turn_id, b.attribute

-- example: beliefs | replaced in right only
SELECT b.space, b.session, b.turn_id, '', 'by ' || b.replaced_by || ': ' || coalesce(b.content, ''), NULL
FROM r_replaced_only b ORDER BY b.space, b.position, b.turn_id, b.attribute
