-- Nodes have the same ids in both memories.

-- count: knowledge
SELECT
    count(*) FILTER (status = 'current') AS "known", count(*) FILTER (status = 'open') AS "open",
    count(*) FILTER (status = 'history') AS "history", round(avg(confidence) FILTER (status = 'current'), 3) AS "confidence"
FROM knowledge
