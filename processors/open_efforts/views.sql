-- The effort of every turn that belongs to one, after all revisions. One row per turn.
--   space, session, turn_id, partition, position   of the turn
--   effort
CREATE VIEW threaded_turns AS
WITH revised AS (
    SELECT space, session, turn, arg_max(effort, (position, ordinal)) AS effort
    FROM turn_rethreaded GROUP BY space, session, turn
)
SELECT h.space, h.session, h.turn AS turn_id, h.partition, h.position, h.effort
FROM turn_threaded h
ANTI JOIN revised r ON r.space = h.space AND r.session = h.session AND r.turn = h.turn
WHERE h.effort <> ''
UNION ALL
SELECT r.space, r.session, r.turn, h.partition, h.position, r.effort
FROM revised r
JOIN turn_threaded h ON h.space = r.space AND h.session = r.session AND h.turn = r.turn
WHERE r.effort <> '';


-- Every turn, where it was last filed. One row per turn.
--   space, session, turn_id     the event id of the turn
--   position                    in the log: the order of the turns of a space
--   at, recorded_at             when it happened, when the log stored it
--   agent, role, content, parts, reply_to, tokens (estimated), echo (characters left out that mnemolog had rendered)
--   segment, effort             after all revisions; NULL where there is none (effort: small talk)
--   threaded_by, fit            what decided on the effort, and how well the turn fits it, 0 to 1
--   retracted, retraction       whether it is no longer shown or matched, and why (NULL while it is)
CREATE VIEW turns AS
SELECT
    t.space, t.session, t.turn_id, t.position, t.at, t.agent, t.role, t.content, f.segment, e.effort, t.tokens, t.echo,
    t.reply_to, t.parts, h.reason AS threaded_by, h.score AS fit, t.retracted, t.retraction, t.recorded_at
FROM recorded_turns t
LEFT JOIN filed_turns f
    ON f.position = t.position AND f.partition = t.partition AND f.space = t.space AND f.session = t.session
LEFT JOIN turn_threaded h
    ON h.position = t.position AND h.partition = t.partition AND h.space = t.space AND h.session = t.session
LEFT JOIN threaded_turns e
    ON e.position = t.position AND e.partition = t.partition AND e.space = t.space AND e.session = t.session;


-- Conversations. One row per session with at least one turn; counts leave retracted turns out.
--   space, session
--   started_at, last_at         of its turns
--   turns, retracted, tokens    (of the raw turns), agents (distinct, in name order)
--   segments, efforts           how many its turns belong to
--   first_turn, last_turn       turn ids, retracted ones left out
--   ended_at                    when it was said to be over, where nothing was said since; else NULL
CREATE VIEW sessions AS
WITH ended AS (
    SELECT space, session, arg_max(e.at, position) AS ended_at, max(position) AS position
    FROM session_ended e GROUP BY space, session
), talk AS (
    SELECT
        space, session, min(t.at) AS started_at, max(t.at) AS last_at, max(position) AS position,
        count(*) FILTER (NOT retracted) AS turns, count(*) FILTER (retracted) AS retracted,
        coalesce(sum(tokens) FILTER (NOT retracted), 0)::BIGINT AS tokens,
        list_sort(list(DISTINCT agent) FILTER (NOT retracted AND agent <> '')) AS agents,
        count(DISTINCT segment) FILTER (NOT retracted) AS segments,
        count(DISTINCT effort) FILTER (NOT retracted) AS efforts,
        arg_min(turn_id, position) FILTER (NOT retracted) AS first_turn,
        arg_max(turn_id, position) FILTER (NOT retracted) AS last_turn
    FROM turns t GROUP BY space, session
)
SELECT
    t.space, t.session, t.started_at, t.last_at, t.turns, t.retracted, t.tokens, coalesce(t.agents, []) AS agents,
    t.segments, t.efforts, t.first_turn, t.last_turn,
    CASE WHEN e.position > t.position THEN e.ended_at END AS ended_at
FROM talk t LEFT JOIN ended e USING (space, session);


-- What is said of units of work, their turns apart. One row per effort that ever opened.
--   space, effort, topic, summary, terms, name, status, importance, opened_at, opened_in, opened_by, reopened,
--   reopened_at, concluded_at, concluded_by, pattern, conclusion   as in efforts
--   opened_with                 the turn it opened with, '' for one that was declared without a turn
CREATE VIEW effort_facts AS
WITH opened AS (
    SELECT
        space, effort,
        arg_min({a: o.at, s: session, t: turn, n: name, o: topic, r: reason}, (position, ordinal)) AS first,
        coalesce(arg_max(name, (position, ordinal)) FILTER (name <> ''), '') AS name, bool_or(reason = 'declared') AS declared
    FROM effort_opened o GROUP BY space, effort
), progressed AS (
    SELECT space, effort, arg_max({o: topic, s: summary, t: terms, n: name}, (position, ordinal)) AS last
    FROM effort_progressed GROUP BY space, effort
), concluded AS (
    SELECT
        c.space, c.effort, max((position, ordinal)) AS place,
        arg_max(
            {a: c.at, t: c.turn, p: pattern, c: CASE WHEN q.turn_id IS NULL THEN conclusion ELSE '' END}, (position, ordinal)
        ) AS last
    FROM effort_concluded c
    LEFT JOIN retracted_turns q ON q.space = c.space AND q.turn_id = c.quotes
    ANTI JOIN turn_retracted r ON r.space = c.space AND r.turn = c.turn AND c.pattern <> 'closed'
    GROUP BY c.space, c.effort
), resumed AS (
    SELECT
        space, effort, max((position, ordinal)) AS place, count(*) AS times,
        arg_max(r.at, (position, ordinal)) AS last_at
    FROM effort_resumed r GROUP BY space, effort
), rated AS (
    SELECT space, effort, arg_max(importance, (position, ordinal)) AS importance
    FROM effort_rated GROUP BY space, effort
)
SELECT
    o.space, o.effort,
    CASE WHEN (p.last).o <> '' THEN (p.last).o WHEN q.turn_id IS NULL OR o.declared THEN (o.first).o ELSE '' END AS topic,
    CASE WHEN c.place IS NULL OR r.place > c.place THEN 'open' ELSE 'concluded' END AS status,
    coalesce(nullif((p.last).n, ''), o.name) AS name, coalesce(i.importance, 'normal') AS importance,
    coalesce((p.last).s, '') AS summary, coalesce((p.last).t, []) AS terms,
    (o.first).a AS opened_at, (o.first).s AS opened_in, (o.first).r AS opened_by, (o.first).t AS opened_with,
    CASE WHEN r.place IS NULL OR c.place > r.place THEN (c.last).a END AS concluded_at,
    CASE WHEN r.place IS NULL OR c.place > r.place THEN (c.last).t END AS concluded_by,
    CASE WHEN r.place IS NULL OR c.place > r.place THEN (c.last).p END AS pattern,
    CASE WHEN r.place IS NULL OR c.place > r.place THEN (c.last).c END AS conclusion,
    coalesce(r.times, 0) AS reopened, r.last_at AS reopened_at
FROM opened o
LEFT JOIN progressed p USING (space, effort)
LEFT JOIN concluded c USING (space, effort)
LEFT JOIN resumed r USING (space, effort)
LEFT JOIN rated i USING (space, effort)
LEFT JOIN retracted_turns q ON q.space = o.space AND q.turn_id = (o.first).t;


-- Units of work. One row per effort that has a turn left after revisions and retractions, or that an agent declared.
--   space, effort
--   topic, summary, terms       the last word on it; name: the agent's own, also given later, '' for none
--   status                      open or concluded; reopened: how often it was, and reopened_at: when last (NULL: never)
--   importance                  normal or high
--   turns, segments, tokens, sessions (list, in name order), agents (list): of its turns that are not retracted
--   opened_at, opened_in (session), opened_by (what decided), first_turn, last_turn, first_position, last_position
--   last_at                     of its newest turn, or when it was declared
--   concluded_at, concluded_by (turn id), pattern, conclusion: NULL while it is open
CREATE VIEW efforts AS
WITH threaded AS (
    SELECT
        space, effort,
        coalesce(arg_min(turn_id, position) FILTER (NOT retracted), arg_min(turn_id, position)) AS first_turn,
        coalesce(arg_max(turn_id, position) FILTER (NOT retracted), arg_max(turn_id, position)) AS last_turn,
        coalesce(min(position) FILTER (NOT retracted), min(position)) AS first_position,
        coalesce(max(position) FILTER (NOT retracted), max(position)) AS last_position,
        coalesce(max(t.at) FILTER (NOT retracted), max(t.at)) AS last_at,
        count(*) FILTER (NOT retracted) AS turns, coalesce(sum(tokens) FILTER (NOT retracted), 0)::BIGINT AS tokens,
        count(DISTINCT segment) FILTER (NOT retracted) AS segments,
        list_sort(list(DISTINCT session) FILTER (NOT retracted)) AS sessions,
        list_sort(list(DISTINCT agent) FILTER (NOT retracted AND agent <> '')) AS agents
    FROM turns t WHERE effort IS NOT NULL GROUP BY space, effort
)
SELECT
    o.space, o.effort, o.topic, o.status, o.name, o.importance, o.summary, o.terms,
    coalesce(t.turns, 0) AS turns, coalesce(t.segments, 0) AS segments, coalesce(t.tokens, 0) AS tokens,
    coalesce(t.sessions, [o.opened_in]) AS sessions, coalesce(t.agents, []) AS agents,
    o.opened_at, o.opened_in, o.opened_by,
    coalesce(t.first_turn, nullif(o.opened_with, '')) AS first_turn, t.last_turn, t.first_position, t.last_position,
    coalesce(t.last_at, o.opened_at) AS last_at,
    o.concluded_at, o.concluded_by, o.pattern, o.conclusion, o.reopened, o.reopened_at
FROM effort_facts o
LEFT JOIN threaded t USING (space, effort)
WHERE t.turns > 0 OR o.opened_by = 'declared';


-- What was concluded, by whose words. One row per concluded segment: its last conclusion, for a farewell after the answer
-- concludes again. What was only claimed is in conclusion_detected, what was offered in offers, and a confirmed negation,
-- which closes nothing, in artifacts.
--   space, session, turn_id, segment (of the turn, after revisions), effort
--   at, agent, role, pattern, confidence (1 where an agent accepted an offer)
--   text                        the sentence that says so
--   conclusion                  what was concluded: the answer, where the sentence only confirms it; '' where that was
--                               retracted
CREATE VIEW conclusions AS
WITH concluded AS (
    SELECT
        c.space, c.session, c.segment,
        arg_max(
            {t: c.turn, p: c.pattern, f: c.confidence, c: CASE WHEN q.turn_id IS NULL THEN c.conclusion ELSE '' END, a: c.at},
            (c.position, c.ordinal)
        ) AS last
    FROM segment_concluded c
    LEFT JOIN retracted_turns q ON q.space = c.space AND q.turn_id = c.quotes
    ANTI JOIN turn_retracted r ON r.space = c.space AND r.turn = c.turn
    GROUP BY c.space, c.session, c.segment
), detected AS (
    SELECT d.space, d.session, d.turn, d.pattern, arg_max(d.text, (d.position, d.ordinal)) AS text
    FROM conclusion_detected d GROUP BY d.space, d.session, d.turn, d.pattern
)
SELECT
    c.space, c.session, (c.last).t AS turn_id, t.segment, t.effort, (c.last).a AS "at", t.agent, t.role, (c.last).p AS pattern,
    (c.last).f AS confidence, coalesce(d.text, (c.last).c) AS text, (c.last).c AS conclusion, t.position
FROM concluded c
JOIN turns t ON t.turn_id = (c.last).t AND t.space = c.space AND t.session = c.session
LEFT JOIN detected d ON d.turn = (c.last).t AND d.pattern = (c.last).p AND d.space = c.space AND d.session = c.session;


-- Titles that models wrote. One row per fact.
--   space, session, turns (ids it was made of), at, title, model, prompt_hash, position
--   effort                      whose title it became; NULL where it changed nothing: the turns are not all of one effort,
--                               one was retracted before, or an agent had named the effort itself
CREATE VIEW written_titles AS
SELECT w.space, w.session, w.turns, w.at, w.title, w.model, w.prompt_hash, p.effort, w.position
FROM title_written w
LEFT JOIN effort_progressed p ON p.space = w.space AND p.partition = w.partition AND p.position = w.position;


-- What sessions were about, as a timeline draws it. One row per segment and effort; turns that are retracted are left out.
--   space, session, segment, effort (NULL: small talk)
--   turns, tokens, first_turn (id), first_position, last_position, started_at, last_at   of the turns that both hold
CREATE VIEW threads AS
SELECT
    t.space, t.session, t.segment, t.effort, count(*) AS turns, coalesce(sum(t.tokens), 0)::BIGINT AS tokens,
    arg_min(t.turn_id, t.position) AS first_turn, min(t.position) AS first_position, max(t.position) AS last_position,
    min(t.at) AS started_at, max(t.at) AS last_at
FROM turns t WHERE NOT t.retracted GROUP BY t.space, t.session, t.segment, t.effort;
