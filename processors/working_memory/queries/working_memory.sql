-- What sessions had at hand over time: one row per change, with how many turns came to hand, stayed and went, and the cue
-- that brought them. What is not shown again fades, which is computed when it is asked.
-- parameter: space = ''    only this space; '' for all
-- parameter: session = ''  only this session; '' for all
-- parameter: limit = 200   at most so many, newest first
WITH changes AS (
    SELECT
        w.space, w.session, w.at, w.position, w.ordinal, w.items, w.cues[1] AS cue,
        lag(w.items, 1, []) OVER (PARTITION BY w.space, w.session ORDER BY w.position, w.ordinal) AS before
    FROM working_memory_changed w WHERE $space IN ('', w.space) AND $session IN ('', w.session)
)
SELECT
    c.space, c.session, c.at, len(c.items) AS at_hand,
    len(list_filter(c.items, lambda i: NOT list_contains(c.before, i))) AS came,
    len(list_intersect(c.items, c.before)) AS stayed,
    len(list_filter(c.before, lambda i: NOT list_contains(c.items, i))) AS went, c.cue, c.items
FROM changes c
ORDER BY c.at DESC, c.space, c.position DESC, c.ordinal DESC
LIMIT $limit
