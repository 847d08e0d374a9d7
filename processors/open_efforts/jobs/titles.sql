-- The first turns of efforts that no agent named, as far as their segments are over: what is asked then rarely changes.
WITH closed AS (
    SELECT space, session, segment, arg_max(closed, (position, ordinal)) AS closed
    FROM segment_summarized GROUP BY space, session, segment
), declared AS (
    SELECT DISTINCT space, effort FROM effort_opened WHERE reason = 'declared' AND topic <> ''
), worked AS (
    SELECT
        t.space, t.effort, t.session, t.turn_id, t.at, row_number() OVER w AS number,
        c.closed OR max(t.at) OVER (PARTITION BY t.space, t.session, t.segment) <= $quiet AS over
    FROM turns t
    LEFT JOIN closed c ON c.space = t.space AND c.session = t.session AND c.segment = t.segment
    ANTI JOIN declared d ON d.space = t.space AND d.effort = t.effort
    WHERE t.effort IS NOT NULL AND NOT t.retracted
    WINDOW w AS (PARTITION BY t.space, t.effort ORDER BY t.position)
)
SELECT space, arg_min(session, number) AS session, list(turn_id ORDER BY number) AS turns
FROM worked WHERE number <= 6 AND coalesce(over, false) GROUP BY space, effort
HAVING count(*) > 1 AND min(number) = 1
ORDER BY max("at") DESC, space
