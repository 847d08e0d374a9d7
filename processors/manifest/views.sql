-- The segment of every turn, after all revisions. One row per turn.
--   space, session, turn_id, partition, position   of the turn
--   segment
CREATE VIEW filed_turns AS
WITH refiled AS (
    SELECT space, session, turn, arg_max(segment, (position, ordinal)) AS segment
    FROM turn_refiled GROUP BY space, session, turn
)
SELECT f.space, f.session, f.turn AS turn_id, f.partition, f.position, coalesce(r.segment, f.segment) AS segment
FROM turn_filed f
LEFT JOIN refiled r ON r.turn = f.turn AND r.space = f.space AND r.session = f.session;


-- Topically coherent runs of turns. One row per segment that has a turn left after revisions.
--   space, session, segment
--   first_turn, last_turn       turn ids, first_position, last_position, started_at, last_at: of the turns now filed in it
--                               (retracted ones only where nothing else is left)
--   turns, tokens               of its turns that are not retracted
--   summary, cue, terms         the last word on it: for readers, for indexes, stems; '' and [] before there is one
--   model                       that wrote the summary, '' for the rules
--   status                      open or concluded; closed: whether no further turn will come to it
--   concluded_at, concluded_by (turn id), pattern, confidence, conclusion: NULL while it is open
--   reason, departure           why it begins where it begins, and how strongly its first turn departed, 0 to 1
CREATE VIEW segments AS
WITH opened AS (
    SELECT space, session, segment, arg_min(reason, (position, ordinal)) AS reason, arg_min(score, (position, ordinal)) AS departure
    FROM segment_opened GROUP BY space, session, segment
), summarized AS (
    SELECT space, session, segment, arg_max({s: summary, u: cue, t: terms, c: closed, m: model}, (position, ordinal)) AS last
    FROM segment_summarized GROUP BY space, session, segment
), concluded AS (
    SELECT
        c.space, c.session, c.segment,
        arg_max(
            {a: c.at, t: c.turn, p: pattern, f: confidence, c: CASE WHEN q.turn_id IS NULL THEN conclusion ELSE '' END},
            (position, ordinal)
        ) AS last
    FROM segment_concluded c
    LEFT JOIN retracted_turns q ON q.space = c.space AND q.turn_id = c.quotes
    ANTI JOIN turn_retracted r ON r.space = c.space AND r.turn = c.turn
    GROUP BY c.space, c.session, c.segment
), filed AS (
    SELECT
        t.space, t.session, f.segment,
        coalesce(arg_min(t.turn_id, t.position) FILTER (NOT t.retracted), arg_min(t.turn_id, t.position)) AS first_turn,
        coalesce(arg_max(t.turn_id, t.position) FILTER (NOT t.retracted), arg_max(t.turn_id, t.position)) AS last_turn,
        coalesce(min(t.position) FILTER (NOT t.retracted), min(t.position)) AS first_position,
        coalesce(max(t.position) FILTER (NOT t.retracted), max(t.position)) AS last_position,
        coalesce(min(t.at) FILTER (NOT t.retracted), min(t.at)) AS started_at,
        coalesce(max(t.at) FILTER (NOT t.retracted), max(t.at)) AS last_at,
        count(*) FILTER (NOT t.retracted) AS turns,
        coalesce(sum(t.tokens) FILTER (NOT t.retracted), 0)::BIGINT AS tokens
    FROM filed_turns f
    JOIN recorded_turns t
        ON t.position = f.position AND t.partition = f.partition AND t.space = f.space AND t.session = f.session
    GROUP BY t.space, t.session, f.segment
)
SELECT
    f.space, f.session, f.segment, f.first_turn, f.last_turn, f.first_position, f.last_position, f.started_at, f.last_at,
    f.turns, f.tokens, coalesce((s.last).s, '') AS summary, coalesce((s.last).u, '') AS cue, coalesce((s.last).t, []) AS terms,
    coalesce((s.last).m, '') AS model,
    CASE WHEN c.last IS NULL THEN 'open' ELSE 'concluded' END AS status,
    c.last IS NOT NULL OR coalesce((s.last).c, false) AS closed,
    (c.last).a AS concluded_at, (c.last).t AS concluded_by, (c.last).p AS pattern, (c.last).f AS confidence,
    (c.last).c AS conclusion, o.reason, o.departure
FROM filed f
LEFT JOIN opened o USING (space, session, segment)
LEFT JOIN summarized s USING (space, session, segment)
LEFT JOIN concluded c USING (space, session, segment);


-- Turns that offered a conclusion not sure enough to take effect by itself. One row per offer.
--   space, session, turn_id, segment, at, pattern, confidence, text
--   status                      open, accepted, declined or overtaken; settled_at: NULL while it is open
--   agent                       who said it. Offers of retracted turns are gone
CREATE VIEW offers AS
WITH settled AS (
    SELECT o.space, o.session, o.turn, arg_max({o: outcome, a: o.at}, (position, ordinal)) AS last
    FROM offer_settled o GROUP BY o.space, o.session, o.turn
), offered AS (
    SELECT o.space, o.session, o.turn, arg_max(o, (position, ordinal)) AS o
    FROM conclusion_offered o GROUP BY o.space, o.session, o.turn
)
SELECT
    f.space, f.session, f.turn AS turn_id, (f.o).segment AS segment, (f.o).at AS "at", (f.o).pattern AS pattern,
    (f.o).confidence AS confidence, (f.o).text AS text, coalesce((s.last).o, 'open') AS status, (s.last).a AS settled_at,
    t.agent, (f.o).position AS position
FROM offered f
JOIN turn_recorded t ON t.id = f.turn AND t.space = f.space AND t.session = f.session
LEFT JOIN settled s ON s.turn = f.turn AND s.space = f.space AND s.session = f.session
ANTI JOIN retracted_turns r ON r.space = f.space AND r.turn_id = f.turn;


-- What conclusions left behind. One row per artifact.
--   space, session, artifact, kind, title, body, status, tags, segment, turns (ids it rests on), at
--   retracted                   whether the turn that made it (the last of them), or one that it quotes, was retracted since
CREATE VIEW artifacts AS
WITH newest AS (
    SELECT a.space, a.artifact, arg_max(a, (position, ordinal)) AS a FROM artifact_made a GROUP BY a.space, a.artifact
), said AS (
    SELECT n.space, n.artifact, unnest(list_append((n.a).quotes, (n.a).turns[-1])) AS turn FROM newest n
), retracted AS (
    SELECT DISTINCT s.space, s.artifact FROM said s SEMI JOIN turn_retracted r ON r.space = s.space AND r.turn = s.turn
)
SELECT
    n.space, (n.a).session AS session, n.artifact, (n.a).kind AS kind, (n.a).title AS title, (n.a).body AS body,
    (n.a).status AS status, (n.a).tags AS tags, (n.a).segment AS segment, (n.a).turns AS turns, (n.a).at AS "at",
    r.artifact IS NOT NULL AS retracted, (n.a).position AS position
FROM newest n LEFT JOIN retracted r ON r.space = n.space AND r.artifact = n.artifact;


-- Summaries that models wrote. One row per fact.
--   space, session, first_turn, last_turn, at, text, topics, model, prompt_hash, position
--   segment                     whose summary it became; NULL where no segment has just these turns, or one of the two was
--                               retracted before
CREATE VIEW written_summaries AS
SELECT
    w.space, w.session, w.first_turn, w.last_turn, w.at, w.text, w.topics, w.model, w.prompt_hash, s.segment, w.position
FROM summary_written w
LEFT JOIN segment_summarized s ON s.space = w.space AND s.partition = w.partition AND s.position = w.position;
