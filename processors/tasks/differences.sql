-- Tasks have the same ids in both memories.

-- count: tasks
SELECT
    count(*) FILTER (place = 'active') AS "active", count(*) FILTER (status = 'complete') AS "complete",
    count(*) FILTER (place IN ('aside', 'deferred')) AS "set aside"
FROM tasks
