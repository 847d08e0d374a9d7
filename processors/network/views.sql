-- The edges of the knowledge network that stand, between nodes that are known or were believed. One row per edge.
--   space, source, target, kind     the source speaks for the target, or contradicts it
--   rule, weight, turns, outcome    as in knowledge_linked, without what is doubted; of a node that was merged, the edges of what says the same
CREATE VIEW knowledge_edges AS
WITH RECURSIVE same(space, node, final) AS (
    SELECT k.space, k.node, k.node FROM knowledge k WHERE k."into" = ''
    UNION ALL
    SELECT k.space, k.node, s.final FROM knowledge k JOIN same s ON s.space = k.space AND s.node = k."into"
)
SELECT
    l.space, s.final AS source, t.final AS target, l.kind, arg_max(l.rule, l.weight) AS rule, max(l.weight) AS weight,
    list_sort(list_distinct(flatten(list(l.turns)))) AS turns, arg_max(l.outcome, l.position) AS outcome, max(l.at) AS "at"
FROM knowledge_links l
JOIN same s ON s.space = l.space AND s.node = l.source
JOIN same t ON t.space = l.space AND t.node = l.target
JOIN knowledge a ON a.space = l.space AND a.node = s.final AND a.status IN ('current', 'open', 'history')
JOIN knowledge b ON b.space = l.space AND b.node = t.final AND b.status IN ('current', 'open', 'history')
WHERE l.outcome NOT IN ('gone', 'doubted') AND s.final <> t.final
GROUP BY l.space, s.final, t.final, l.kind;
