-- The turns of each entry of long-term memory that stands. Why in this order: a model's words name their entry by them.
SELECT e.space, e.session, e.turns
FROM long_term e
WHERE e.status = 'active' AND len(e.turns) > 0 AND (
    SELECT count(*) FILTER (NOT r.retracted)
    FROM recorded_turns r WHERE r.space = e.space AND list_contains(e.turns, r.turn_id)
) = len(e.turns)
ORDER BY e.at DESC, e.space, e.entry
