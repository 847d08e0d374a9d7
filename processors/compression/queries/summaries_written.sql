-- Summaries that models wrote: how many became that of a segment or of a session's earlier part, and how many changed nothing.
-- parameter: space = ''  only this space; '' for all
WITH written AS (
    SELECT w.space, w.model, w.segment IS NOT NULL AS segments, c.session IS NOT NULL AS sessions
    FROM written_summaries w
    LEFT JOIN session_compressed c ON c.space = w.space AND c.position = w.position
)
SELECT
    w.space, w.model, count(*) AS written, count(*) FILTER (w.segments) AS of_segments,
    count(*) FILTER (w.sessions) AS of_sessions, count(*) FILTER (NOT w.segments AND NOT w.sessions) AS without_effect
FROM written w WHERE $space IN ('', w.space) GROUP BY w.space, w.model ORDER BY w.space, w.model
