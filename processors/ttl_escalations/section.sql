-- What the section of notes asks; see section.py.

-- rows: notes
SELECT note, content, priority, epoch_us(opened_at), epoch_us(deadline), source, coalesce(turn, ''), coalesce(question, '')
FROM notes
WHERE space = $space AND (status = 'open' OR (status = 'escalated' AND settled_at IS NULL))
ORDER BY note
