-- Objects and statements have the same ids in both memories.

-- count: objects
SELECT
    (SELECT count(*) FROM objects) AS "objects", count(*) AS "statements",
    count(*) FILTER (status = 'current') AS "current"
FROM object_statements
