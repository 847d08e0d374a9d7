-- What is known of people and things, by kind: statements, how many stand, and of how many turns.
-- parameter: space = ''  only this space; '' for all
SELECT
    o.kind, s.says, count(*) AS statements, count(*) FILTER (s.status = 'current') AS current,
    count(*) FILTER (s.status = 'superseded') AS superseded, count(DISTINCT s.turn) AS turns
FROM object_statements s JOIN objects o USING (space, object)
WHERE $space IN ('', s.space)
GROUP BY o.kind, s.says ORDER BY o.kind, statements DESC, s.says
