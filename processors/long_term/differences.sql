-- Entries have the same ids in both memories.

-- count: long-term memory
SELECT
    count(*) AS "entries", count(*) FILTER (status = 'active') AS "active",
    (SELECT coalesce(sum(len(s.entries)), 0) FROM (
        SELECT arg_max(entries, (position, ordinal)) AS entries FROM entries_loaded GROUP BY space, session
    ) s)::BIGINT AS "loaded"
FROM long_term
