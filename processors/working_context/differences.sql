-- Contexts are compared turn by turn, the efforts of the right memory in terms of the left one's.

-- load: contexts
SELECT t.space, t.session, t.turn_id, list_sort(coalesce(c.efforts, [])) AS context
FROM recorded_turns t ASOF LEFT JOIN (
    SELECT x.space, x.session, x.position, arg_max(x.efforts, x.ordinal) AS efforts
    FROM context_scored x GROUP BY x.space, x.session, x.position
) c ON c.space = t.space AND c.session = t.session AND c.position <= t.position

-- prepare: unequal, the turns after which contexts differ, and what only one of them has
CREATE TABLE unequal AS
SELECT
    u.*, [e FOR e IN u.l_context IF NOT list_contains(u.r_context, e)] AS l_has,
    [e FOR e IN u.r_context IF NOT list_contains(u.l_context, e)] AS r_has
FROM (
    SELECT
        x.space, x.session, x.position, x.turn_id, any_value(x.l_context) AS l_context,
        coalesce(list_sort(list(coalesce(m.l, x.effort)) FILTER (x.effort IS NOT NULL)), []) AS r_context
    FROM (
        SELECT s.*, l.context AS l_context, unnest(r.context || [NULL]) AS effort
        FROM shared s
        JOIN l_contexts l ON l.space = s.space AND l.turn_id = s.turn_id
        JOIN r_contexts r ON r.space = s.space AND r.turn_id = s.turn_id
        WHERE l.context <> r.context
    ) x
    LEFT JOIN match m ON m.space = x.space AND m.r = x.effort
    GROUP BY x.space, x.session, x.position, x.turn_id
) u WHERE u.l_context <> u.r_context

-- count: contexts
SELECT avg(coalesce(len(c.efforts), 0)) AS "mean entries"
FROM recorded_turns t ASOF LEFT JOIN (
    SELECT x.space, x.session, x.position, arg_max(x.efforts, x.ordinal) AS efforts
    FROM context_scored x GROUP BY x.space, x.session, x.position
) c ON c.space = t.space AND c.session = t.session AND c.position <= t.position

-- count: contexts
SELECT count(*) AS "changes", count(*) FILTER (change = 'left' AND other IS NOT NULL) AS "displaced" FROM context_changes

-- difference: contexts | other efforts, share of turns
SELECT count(*) / greatest((SELECT count(*) FROM shared), 1) FROM unequal

-- example: contexts | only in one's context, from this turn on
WITH topics AS (
    SELECT space, effort, topic FROM l_efforts UNION ALL SELECT space, effort, topic FROM r_only
)
SELECT
    u.space, u.session, u.turn_id,
    (SELECT string_agg(coalesce(e.topic, x.id), ' | ' ORDER BY x.id) FROM (SELECT unnest(u.l_has) AS id) x
        LEFT JOIN topics e ON e.space = u.space AND e.effort = x.id),
    (SELECT string_agg(coalesce(e.topic, x.id), ' | ' ORDER BY x.id) FROM (SELECT unnest(u.r_has) AS id) x
        LEFT JOIN topics e ON e.space = u.space AND e.effort = x.id),
    NULL
FROM unequal u
QUALIFY row_number() OVER (PARTITION BY u.space, u.session, u.l_has, u.r_has ORDER BY u.position) = 1
ORDER BY u.space, u.position

-- count: tokens
SELECT avg(context_tokens) AS "mean context", max(context_tokens) AS "largest context" FROM <tokens>
