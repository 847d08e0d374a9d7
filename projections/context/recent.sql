-- What the newest exchanges of a session are made of; see recent.py.

-- rows: newest
SELECT position, role FROM recorded_turns
WHERE space = $space AND session = $session AND NOT retracted ORDER BY position DESC LIMIT $most

-- rows: sizes
SELECT position, tokens FROM recorded_turns
WHERE space = $space AND session = $session AND NOT retracted ORDER BY position DESC LIMIT $most
