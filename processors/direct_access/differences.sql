-- Notes have the same ids in both memories.

-- count: session notes
SELECT count(*) FILTER (status = 'current') AS "current", count(*) FILTER (status = 'superseded') AS "superseded" FROM session_notes
