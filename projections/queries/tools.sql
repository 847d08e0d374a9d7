-- Tools: how often each was called, by how many agents and in how many sessions, how many calls were answered, how many of
-- the answers say that it failed, how long an answer took, and how many tokens the turns with answers have. Told by the
-- parts of turns: a call names a tool, and its answer names the call. Retracted turns are left out.
-- parameter: space = ''   only this space; '' for all
-- parameter: limit = 50   at most so many, the most often called first
WITH parts AS (
    SELECT
        t.space, t.session, t.turn_id, t.reply_to, t.agent, t.at, t.tokens, unnest(from_json(t.parts, '["JSON"]')) AS part
    FROM recorded_turns t WHERE t.parts <> '[]' AND NOT t.retracted AND $space IN ('', t.space)
), whole AS (  -- Gemini's parts have no type, and what they say one level down
    SELECT
        p.* EXCLUDE (part), coalesce(p.part->'$.functionCall', p.part->'$.functionResponse', p.part->'$.function', p.part) AS said,
        CASE WHEN (p.part->'$.functionCall') IS NOT NULL THEN 'call' WHEN (p.part->'$.functionResponse') IS NOT NULL THEN 'result'
            ELSE p.part->>'$.type' END AS kind, p.part
    FROM parts p
), named AS (
    SELECT
        w.space, w.session, w.turn_id, w.reply_to, w.agent, w.at, w.tokens, w.kind,
        coalesce(w.said->>'$.name', w.part->>'$.recipient', nullif(regexp_replace(w.kind, '_?call$', ''), '')) AS tool,
        coalesce(w.part->>'$.tool_call_id', w.part->>'$.tool_use_id', w.part->>'$.call_id', w.part->>'$.id', w.said->>'$.id')
            AS id,
        coalesce((w.part->>'$.is_error') = 'true' OR (w.part->>'$.status') = 'error', false) AS failed
    FROM whole w
), calls AS (
    SELECT n.*, coalesce(n.id, n.turn_id || ' ' || n.tool) AS key
    FROM named n WHERE regexp_matches(n.kind, '^function$|tool_use$|call$') AND n.tool IS NOT NULL
), answered AS (
    SELECT
        n.space, n.session, coalesce(n.id, n.reply_to || ' ' || n.tool) AS key, min(n.at) AS at, bool_or(n.failed) AS failed,
        max(n.tokens) AS tokens
    FROM named n WHERE regexp_matches(n.kind, 'result$|output$')
    GROUP BY n.space, n.session, key
)
SELECT
    c.space, c.tool, count(*) AS calls, count(DISTINCT c.agent) AS agents, count(DISTINCT c.session) AS sessions,
    count(a.key) AS answered, count(*) FILTER (a.failed) AS failed,
    round(median(date_diff('millisecond', c.at, a.at)) / 1000, 1) AS median_seconds,
    coalesce(sum(a.tokens), 0)::BIGINT AS answer_tokens
FROM calls c LEFT JOIN answered a ON a.space = c.space AND a.session = c.session AND a.key = c.key
GROUP BY c.space, c.tool
ORDER BY calls DESC, c.space, c.tool
LIMIT $limit
