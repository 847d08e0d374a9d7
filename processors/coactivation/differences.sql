-- Links are compared in terms of the efforts that match.

-- load: links
SELECT k.space, k.first, k.second, k.strength FROM links k

-- prepare: links of one only
CREATE VIEW l_links_only AS
SELECT k.* FROM l_links k
LEFT JOIN match a ON a.space = k.space AND a.l = k.first LEFT JOIN match b ON b.space = k.space AND b.l = k.second
ANTI JOIN r_links o ON o.space = k.space AND o.first = least(a.r, b.r) AND o.second = greatest(a.r, b.r);
CREATE VIEW r_links_only AS
SELECT k.* FROM r_links k
LEFT JOIN match a ON a.space = k.space AND a.r = k.first LEFT JOIN match b ON b.space = k.space AND b.r = k.second
ANTI JOIN l_links o ON o.space = k.space AND o.first = least(a.l, b.l) AND o.second = greatest(a.l, b.l)

-- count: links
SELECT count(*) AS "pairs" FROM coactivations

-- count: links
SELECT count(*) AS "links", avg(strength) AS "mean strength" FROM links

-- difference: links | in left only
SELECT count(*) FROM l_links_only

-- difference: links | in right only
SELECT count(*) FROM r_links_only

-- example: links | in left only
SELECT k.space, '', a.first_turn, a.topic || ' + ' || b.topic, '', ''
FROM l_links_only k
JOIN l_efforts a ON a.space = k.space AND a.effort = k.first
JOIN l_efforts b ON b.space = k.space AND b.effort = k.second
ORDER BY k.strength DESC, k.space, k.first, k.second

-- example: links | in right only
SELECT k.space, '', a.first_turn, '', a.topic || ' + ' || b.topic, ''
FROM r_links_only k
JOIN r_efforts a ON a.space = k.space AND a.effort = k.first
JOIN r_efforts b ON b.space = k.space AND b.effort = k.second
ORDER BY k.strength DESC, k.space, k.first, k.second
