-- Sessions have the same ids in both memories.

-- count: compressions
SELECT count(*) AS "sessions compressed", sum(turns)::BIGINT AS "turns in their heads" FROM compressions
