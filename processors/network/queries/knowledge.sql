-- What is known: each node with how sure it is, what speaks for it, what contradicted it, and in how many sessions it was said.
-- parameter: space = ''  only this space; '' for all
-- parameter: status = 'current'  current, open, history, merged, pruned or retracted; '' for all
-- parameter: limit = 100  at most so many, the surest first
SELECT
    k.space, k.node, k.kind, k.confidence, k.status, k.layer, k.sources, k.sessions,
    count(e.source) FILTER (e.kind <> 'contradiction') AS supporters,
    count(e.source) FILTER (e.kind = 'contradiction') AS contradictions, k.text
FROM knowledge k LEFT JOIN knowledge_edges e ON e.space = k.space AND e.target = k.node
WHERE $space IN ('', k.space) AND $status IN ('', k.status)
GROUP BY k.space, k.node, k.kind, k.confidence, k.status, k.layer, k.sources, k.sessions, k.text
ORDER BY k.confidence DESC, k.space, k.node
LIMIT $limit
