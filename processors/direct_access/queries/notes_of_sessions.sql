-- What sessions noted of their plans, conclusions, assumptions and facts, and what became of it.
-- parameter: space = ''  only this space; '' for all
-- parameter: session = ''  only this session; '' for all
SELECT
    n.space, n.session, n.kind, count(*) AS notes, count(*) FILTER (n.status = 'current') AS current,
    count(*) FILTER (n.status = 'superseded') AS superseded, count(*) FILTER (n.status = 'passed') AS passed,
    max(n.at) AS last_at
FROM session_notes n
WHERE $space IN ('', n.space) AND $session IN ('', n.session)
GROUP BY n.space, n.session, n.kind
ORDER BY n.space, n.session, n.kind
