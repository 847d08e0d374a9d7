-- What the sections of the working context ask; see section.py.

-- rows: entries
SELECT effort, mode, score, signals, similarity, recency, idle
FROM context_entries WHERE space = $space AND session = $session ORDER BY rank

-- rows: efforts
SELECT effort, topic, status, importance, summary, coalesce(conclusion, '')
FROM effort_facts WHERE space = $space AND list_contains($efforts, effort)

-- rows: turns
SELECT effort, count(*), min(position), max(position), max(position, $most)
FROM threaded_turns t
WHERE space = $space AND list_contains($efforts, effort) AND NOT EXISTS (
    FROM turn_retracted r WHERE r.space = t.space AND r.session = t.session AND r.turn = t.turn_id
)
GROUP BY effort

-- rows: ends
SELECT position, turn_id, epoch_us("at")
FROM recorded_turns WHERE space = $space AND list_contains($positions, position)
