-- Segments that are over, and those in which nothing was said for a while; of those with a turn or two the turns say it.
WITH filed AS (
    SELECT
        f.space, f.session, f.segment, t.retracted, t.at, t.turn_id, t.position,
        s.closed OR max(t.at) OVER (PARTITION BY f.space, f.session, f.segment) <= $quiet AS over
    FROM filed_turns f
    JOIN recorded_turns t
        ON t.position = f.position AND t.partition = f.partition AND t.space = f.space AND t.session = f.session
    JOIN (
        SELECT space, session, segment, arg_max(closed, (position, ordinal)) AS closed
        FROM segment_summarized GROUP BY space, session, segment
    ) s ON s.space = f.space AND s.session = f.session AND s.segment = f.segment
)
SELECT space, session, list(turn_id ORDER BY position) FILTER (NOT retracted) AS turns
FROM filed WHERE over GROUP BY space, session, segment
HAVING count(*) FILTER (NOT retracted) > 2
    AND NOT arg_min(retracted, position) AND NOT arg_max(retracted, position)
ORDER BY max("at") DESC, space, session
