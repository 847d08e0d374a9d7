-- Sessions at a glance: how much was said, by whom, on how many efforts, and what is in context now.
-- parameter: space = ''  only this space; '' for all
-- parameter: limit = 50  at most so many, newest first
WITH context AS (
    SELECT c.space, c.session, count(*) AS entries, string_agg(e.topic, ' | ' ORDER BY c.rank) AS topics
    FROM context_entries c LEFT JOIN efforts e ON e.space = c.space AND e.effort = c.effort
    GROUP BY c.space, c.session
)
SELECT
    s.space, s.session, s.started_at, s.last_at, s.turns, s.retracted, s.tokens, array_to_string(s.agents, ', ') AS agents,
    s.segments, s.efforts, coalesce(c.entries, 0) AS in_context, coalesce(c.topics, '') AS context_topics, s.ended_at
FROM sessions s LEFT JOIN context c ON c.space = s.space AND c.session = s.session
WHERE $space IN ('', s.space)
ORDER BY s.last_at DESC, s.space, s.session
LIMIT $limit
