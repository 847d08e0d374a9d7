-- What was asked of the memory, and what was shown: one row per recall, the newest first.
-- parameter: space = ''       only this space; '' for all
-- parameter: session = ''     only shown in this session; '' for all
-- parameter: limit = 100      at most so many
SELECT r.space, r.session, r.at, r.cue, len(r.turns) AS shown, r.turns
FROM memory_recalled r
WHERE $space IN ('', r.space) AND $session IN ('', r.session)
ORDER BY r.position DESC
LIMIT $limit
