-- Notes have the same ids in both memories.

-- load: escalations
SELECT e.space, e.session, e.note, any_value(e.question) AS question, coalesce(n.turn, '') AS turn
FROM escalations e LEFT JOIN notes n ON n.space = e.space AND n.note = e.note GROUP BY ALL

-- prepare: escalations of one only
CREATE VIEW l_escalations_only AS
SELECT e.* FROM l_escalations e ANTI JOIN r_escalations o ON o.space = e.space AND o.note = e.note;
CREATE VIEW r_escalations_only AS
SELECT e.* FROM r_escalations e ANTI JOIN l_escalations o ON o.space = e.space AND o.note = e.note

-- count: escalations
SELECT count(*) AS "notes", count(*) FILTER (status = 'archived') AS "archived" FROM notes

-- count: escalations
SELECT count(*) AS "escalated" FROM escalations

-- difference: escalations | in left only
SELECT count(*) FROM l_escalations_only

-- difference: escalations | in right only
SELECT count(*) FROM r_escalations_only

-- example: escalations | in left only
SELECT e.space, e.session, e.turn, e.question, '', e.note FROM l_escalations_only e ORDER BY e.space, e.note

-- example: escalations | in right only
SELECT e.space, e.session, e.turn, '', e.question, e.note FROM r_escalations_only e ORDER BY e.space, e.note
