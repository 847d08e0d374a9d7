-- Tasks that lost their slot, or never had one, and did not come back: what may have been forgotten, the longest ago first.
-- parameter: space = ''  only this space; '' for all
SELECT t.space, t.task, t.description, t.place, t.status, t.priority, t.progress, t.demoted, t.changed_at
FROM tasks t WHERE $space IN ('', t.space) AND t.place IN ('aside', 'deferred')
ORDER BY t.changed_at, t.space, t.task
