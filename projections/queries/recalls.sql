-- What was asked of the memory, and what it showed: one row per recall, the newest first.
-- parameter: space = ''    only this space; '' for all
-- parameter: session = ''  only what was shown in this session; '' for all
-- parameter: limit = 100   at most so many
SELECT r.space, r.session, r.at, r.cue, len(list_distinct(r.turns)) AS shown, r.turns, t.content AS best
FROM memory_recalled r LEFT JOIN turn_recorded t ON t.space = r.space AND t.id = r.turns[1]
WHERE $space IN ('', r.space) AND $session IN ('', r.session)
ORDER BY r.at DESC, r.space, r.position DESC
LIMIT $limit
