-- What the section of recall asks; see section.py.

-- rows: newest
SELECT position, role, content FROM recorded_turns
WHERE space = $space AND session = $session AND NOT retracted ORDER BY position DESC LIMIT 6
