-- The views of a memory: what is current, over the append-only tables (one per event type, see store.py).
--
-- Nothing here is stored or updated: each view picks the last word on each thing. The same text serves as-of, run in a
-- schema whose tables end at a position, so it names no schema and asks no clock.
--
-- Why it is written as it is: (partition, position, path) orders the events of one space and stream. All events of a
-- space are in one partition, so (position, path) is compared within a space. A derived event stands at the position of
-- the raw event that caused it; turn_filed and turn_threaded stand at their turn's own, so they join on it (an integer).
-- Space and session are in every join and key, so that a filter on them reaches the scans.
-- A retracted turn concludes nothing: where its words concluded something, that is open again, unless an agent said so
-- itself. `at` is a word of DuckDB's grammar: write t.at or "at". A field of a struct is (t.last).a, not t.last.a, which
-- in a memory named t could be something of that memory.


-- Every turn, where it was last filed. One row per turn.
--   space, session, turn_id     the event id of the turn
--   position                    in the log: the order of the turns of a space
--   at, recorded_at             when it happened, when the log stored it
--   agent, role, content, parts, reply_to, tokens (estimated)
--   segment, effort             after all revisions; NULL where there is none (effort: small talk)
--   threaded_by, fit            what decided on the effort, and how well the turn fits it, 0 to 1
--   retracted, retraction       whether it is no longer shown or matched, and why (NULL while it is)
CREATE OR REPLACE VIEW turns AS
WITH refiled AS (
    SELECT space, session, turn, arg_max(segment, (position, path)) AS segment
    FROM turn_refiled GROUP BY space, session, turn
), rethreaded AS (
    SELECT space, session, turn, arg_max(effort, (position, path)) AS effort
    FROM turn_rethreaded GROUP BY space, session, turn
), retracted AS (
    SELECT space, session, turn, arg_max(reason, position) AS reason
    FROM turn_retracted GROUP BY space, session, turn
)
SELECT
    t.space, t.session, t.id AS turn_id, t.position, t.at, t.agent, t.role, t.content,
    coalesce(s.segment, f.segment) AS segment,
    nullif(coalesce(e.effort, h.effort), '') AS effort,
    t.tokens, t.reply_to, t.parts,
    h.reason AS threaded_by, h.score AS fit,
    r.turn IS NOT NULL AS retracted, r.reason AS retraction, t.recorded_at
FROM turn_recorded t
LEFT JOIN turn_filed f ON f.position = t.position AND f.partition = t.partition AND f.space = t.space AND f.session = t.session
LEFT JOIN refiled s ON s.turn = t.id AND s.space = t.space AND s.session = t.session
LEFT JOIN turn_threaded h ON h.position = t.position AND h.partition = t.partition AND h.space = t.space AND h.session = t.session
LEFT JOIN rethreaded e ON e.turn = t.id AND e.space = t.space AND e.session = t.session
LEFT JOIN retracted r ON r.turn = t.id AND r.space = t.space AND r.session = t.session;


-- Conversations. One row per session with at least one turn; counts leave retracted turns out.
--   space, session
--   started_at, last_at         of its turns
--   turns, retracted, tokens    (of the raw turns), agents (distinct, in name order)
--   segments, efforts           how many its turns belong to
--   first_turn, last_turn       turn ids, retracted ones left out
--   ended_at                    when it was said to be over, where nothing was said since; else NULL
CREATE OR REPLACE VIEW sessions AS
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


-- Topically coherent runs of turns. One row per segment that has a turn left after revisions.
--   space, session, segment
--   first_turn, last_turn       turn ids, first_position, last_position: of the turns now filed in it (retracted ones
--                               only where nothing else is left)
--   started_at, last_at, turns, tokens   of its turns that are not retracted
--   summary, terms              the last word on it; '' and [] before there is one
--   status                      open or concluded; closed: whether no further turn will come to it
--   concluded_at, concluded_by (turn id), pattern, confidence, conclusion: NULL while it is open
--   reason, departure           why it begins where it begins, and how strongly its first turn departed, 0 to 1
CREATE OR REPLACE VIEW segments AS
WITH opened AS (
    SELECT space, session, segment, arg_min(reason, (position, path)) AS reason, arg_min(score, (position, path)) AS departure
    FROM segment_opened GROUP BY space, session, segment
), summarized AS (
    SELECT space, session, segment, arg_max({s: summary, t: terms, c: closed}, (position, path)) AS last
    FROM segment_summarized GROUP BY space, session, segment
), concluded AS (
    SELECT space, session, segment, arg_max({a: c.at, t: turn, p: pattern, f: confidence, c: conclusion}, (position, path)) AS last
    FROM segment_concluded c
    ANTI JOIN turn_retracted r ON r.space = c.space AND r.session = c.session AND r.turn = c.turn
    GROUP BY space, session, segment
), filed AS (
    SELECT
        space, session, segment,
        coalesce(arg_min(turn_id, position) FILTER (NOT retracted), arg_min(turn_id, position)) AS first_turn,
        coalesce(arg_max(turn_id, position) FILTER (NOT retracted), arg_max(turn_id, position)) AS last_turn,
        coalesce(min(position) FILTER (NOT retracted), min(position)) AS first_position,
        coalesce(max(position) FILTER (NOT retracted), max(position)) AS last_position,
        min(t.at) AS started_at, max(t.at) AS last_at,
        count(*) FILTER (NOT retracted) AS turns, coalesce(sum(tokens) FILTER (NOT retracted), 0)::BIGINT AS tokens
    FROM turns t WHERE segment IS NOT NULL GROUP BY space, session, segment
)
SELECT
    f.space, f.session, f.segment, f.first_turn, f.last_turn, f.first_position, f.last_position, f.started_at, f.last_at,
    f.turns, f.tokens, coalesce((s.last).s, '') AS summary, coalesce((s.last).t, []) AS terms,
    CASE WHEN c.last IS NULL THEN 'open' ELSE 'concluded' END AS status,
    c.last IS NOT NULL OR coalesce((s.last).c, false) AS closed,
    (c.last).a AS concluded_at, (c.last).t AS concluded_by, (c.last).p AS pattern, (c.last).f AS confidence,
    (c.last).c AS conclusion, o.reason, o.departure
FROM filed f
LEFT JOIN opened o USING (space, session, segment)
LEFT JOIN summarized s USING (space, session, segment)
LEFT JOIN concluded c USING (space, session, segment);


-- Units of work. One row per effort that has a turn left after revisions, or that an agent declared.
--   space, effort
--   topic, summary, terms       the last word on it; name: the agent's own, also given later, '' for none
--   status                      open or concluded; reopened: how often it was
--   importance                  normal or high
--   turns, segments, tokens, sessions (list, in name order), agents (list): of its turns that are not retracted
--   opened_at, opened_in (session), opened_by (what decided), first_turn, last_turn, first_position, last_position
--   last_at                     of its newest turn, or when it was declared
--   concluded_at, concluded_by (turn id), pattern, conclusion: NULL while it is open
CREATE OR REPLACE VIEW efforts AS
WITH opened AS (
    SELECT
        space, effort,
        arg_min({a: o.at, s: session, t: turn, n: name, o: topic, r: reason}, (position, path)) AS first,
        coalesce(arg_max(name, (position, path)) FILTER (name <> ''), '') AS name
    FROM effort_opened o GROUP BY space, effort
), progressed AS (
    SELECT space, effort, arg_max({o: topic, s: summary, t: terms, n: name}, (position, path)) AS last
    FROM effort_progressed GROUP BY space, effort
), concluded AS (
    SELECT space, effort, max((position, path)) AS place, arg_max({a: c.at, t: turn, p: pattern, c: conclusion}, (position, path)) AS last
    FROM effort_concluded c
    ANTI JOIN turn_retracted r ON r.space = c.space AND r.turn = c.turn AND c.pattern <> 'closed'
    GROUP BY space, effort
), resumed AS (
    SELECT space, effort, max((position, path)) AS place, count(*) AS times
    FROM effort_resumed GROUP BY space, effort
), rated AS (
    SELECT space, effort, arg_max(importance, (position, path)) AS importance
    FROM effort_rated GROUP BY space, effort
), threaded AS (
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
    o.space, o.effort, coalesce(nullif((p.last).o, ''), (o.first).o) AS topic,
    CASE WHEN c.place IS NULL OR r.place > c.place THEN 'open' ELSE 'concluded' END AS status,
    coalesce(nullif((p.last).n, ''), o.name) AS name, coalesce(i.importance, 'normal') AS importance,
    coalesce((p.last).s, '') AS summary, coalesce((p.last).t, []) AS terms,
    coalesce(t.turns, 0) AS turns, coalesce(t.segments, 0) AS segments, coalesce(t.tokens, 0) AS tokens,
    coalesce(t.sessions, [(o.first).s]) AS sessions, coalesce(t.agents, []) AS agents,
    (o.first).a AS opened_at, (o.first).s AS opened_in, (o.first).r AS opened_by,
    coalesce(t.first_turn, nullif((o.first).t, '')) AS first_turn, t.last_turn, t.first_position, t.last_position,
    coalesce(t.last_at, (o.first).a) AS last_at,
    CASE WHEN r.place IS NULL OR c.place > r.place THEN (c.last).a END AS concluded_at,
    CASE WHEN r.place IS NULL OR c.place > r.place THEN (c.last).t END AS concluded_by,
    CASE WHEN r.place IS NULL OR c.place > r.place THEN (c.last).p END AS pattern,
    CASE WHEN r.place IS NULL OR c.place > r.place THEN (c.last).c END AS conclusion,
    coalesce(r.times, 0) AS reopened
FROM opened o
LEFT JOIN threaded t USING (space, effort)
LEFT JOIN progressed p USING (space, effort)
LEFT JOIN concluded c USING (space, effort)
LEFT JOIN resumed r USING (space, effort)
LEFT JOIN rated i USING (space, effort)
WHERE t.effort IS NOT NULL OR (o.first).r = 'declared';


-- The context of each session now. One row per entry; none for a session whose context is empty.
--   space, session, rank        1 for the most relevant: open efforts, then recalled and concluded ones whose summary is kept
--   effort, score, mode         expanded or summary (open efforts), recalled or concluded
--   signals                     what made the score, as text
--   similarity, recency, idle   how alike the turn and the effort are, how strong its trace is (0 to 1), turns untouched
--   turn, position, at          of the turn (or fact) after which the context was last scored
CREATE OR REPLACE VIEW context_entries AS
WITH newest AS (
    SELECT space, session, max(position) AS position FROM context_scored GROUP BY space, session
), scored AS (
    SELECT c.*
    FROM context_scored c
    JOIN newest n ON n.space = c.space AND n.session = c.session AND n.position = c.position
    QUALIFY row_number() OVER (PARTITION BY c.space, c.session ORDER BY c.path DESC) = 1
)
SELECT
    s.space, s.session, generate_subscripts(s.efforts, 1) AS rank, unnest(s.efforts) AS effort, unnest(s.scores) AS score,
    unnest(s.modes) AS mode, unnest(s.signals) AS signals, unnest(s.similarities) AS similarity,
    unnest(s.recencies) AS recency, unnest(s.idle) AS idle, s.turn, s.position, s.at
FROM scored s;


-- How contexts came to be what they are. One row per change.
--   space, session, position, path, at, turn
--   effort, change              entered, left, expanded, condensed, concluded, recalled or dropped
--   score, reason               at that moment, and what decided
--   other, other_score          the effort that displaced it, or that it displaced; NULL for none
CREATE OR REPLACE VIEW context_changes AS
SELECT
    c.space, c.session, c.position, c.path, c.at, c.turn, c.effort, c.change, c.score, c.reason,
    nullif(c.other, '') AS other, CASE WHEN c.other <> '' THEN c.other_score END AS other_score
FROM context_changed c;


-- Pairs of efforts used together. One row per pair, first < second.
--   space, first, second
--   count, strength             how often, and the strength then (it halves with disuse since last_at)
--   first_at, last_at, last_session, last_turn
CREATE OR REPLACE VIEW coactivations AS
SELECT
    p.space, p.first, p.second, max(p.count) AS count, arg_max(p.strength, (position, path)) AS strength,
    min(p.at) AS first_at, max(p.at) AS last_at, arg_max(p.session, (position, path)) AS last_session,
    arg_max(p.turn, (position, path)) AS last_turn
FROM pair_coactivated p GROUP BY p.space, p.first, p.second;


-- Pairs used together often enough to be linked. One row per link, first < second.
--   space, first, second
--   count, strength, last_at    of the pair, now
--   formed_at, formed_in (session)
CREATE OR REPLACE VIEW links AS
WITH formed AS (
    SELECT l.space, l.first, l.second, min(l.at) AS formed_at, arg_min(l.session, (position, path)) AS formed_in
    FROM link_formed l GROUP BY l.space, l.first, l.second
)
SELECT f.space, f.first, f.second, c.count, c.strength, f.formed_at, f.formed_in, c.last_at
FROM formed f JOIN coactivations c ON c.space = f.space AND c.first = f.first AND c.second = f.second;


-- Notes with a time to live. One row per note.
--   space, session, note, content, context, source, priority (base), opened_at, deadline
--   turn                        it was inferred from, NULL where an agent took it
--   status                      open, escalated (the user was asked), archived, settled, or historic (its deadline lay
--                               before it was recorded: never raised)
--   escalated_at, question, archived_at, settled_at, resolution: NULL where it did not come to that
--   surfaced, last_surfaced_at  how often it was shown, and when last
CREATE OR REPLACE VIEW notes AS
WITH opened AS (
    SELECT n.space, n.note, arg_max(n, (position, path)) AS n, max((position, path)) AS place
    FROM note_opened n GROUP BY n.space, n.note
), surfaced AS (
    SELECT s.space, s.note, count(*) AS times, max(s.at) AS last_at FROM note_surfaced s GROUP BY s.space, s.note
), escalated AS (
    SELECT e.space, e.note, arg_max({a: e.at, q: question}, (position, path)) AS last, max((position, path)) AS place
    FROM note_escalated e GROUP BY e.space, e.note
), archived AS (
    SELECT a.space, a.note, max(a.at) AS archived_at, max((position, path)) AS place
    FROM note_archived a GROUP BY a.space, a.note
), closed AS (
    SELECT c.space, c.note, arg_max({a: c.at, r: resolution}, (position, path)) AS last, max((position, path)) AS place
    FROM note_closed c GROUP BY c.space, c.note
)
SELECT
    o.space, (o.n).session AS session, o.note, (o.n).content AS content, (o.n).context AS context, (o.n).source AS source,
    (o.n).priority AS priority, (o.n).at AS opened_at, (o.n).deadline AS deadline, nullif((o.n).turn, '') AS turn,
    CASE
        WHEN c.place >= o.place THEN 'settled'
        WHEN e.place >= o.place THEN 'escalated'
        WHEN a.place >= o.place THEN 'archived'
        WHEN (o.n).historic THEN 'historic'
        ELSE 'open' END AS status,
    CASE WHEN e.place >= o.place THEN (e.last).a END AS escalated_at,
    CASE WHEN e.place >= o.place THEN (e.last).q END AS question,
    CASE WHEN a.place >= o.place THEN a.archived_at END AS archived_at,
    CASE WHEN c.place >= o.place THEN (c.last).a END AS settled_at,
    CASE WHEN c.place >= o.place THEN (c.last).r END AS resolution,
    coalesce(s.times, 0) AS surfaced, s.last_at AS last_surfaced_at, (o.n).position AS position
FROM opened o
LEFT JOIN surfaced s USING (space, note)
LEFT JOIN escalated e USING (space, note)
LEFT JOIN archived a USING (space, note)
LEFT JOIN closed c USING (space, note);


-- Notes that were raised to the user. One row per escalation.
--   space, session, at (the deadline), note, question, content, priority
--   settled_at, resolution      NULL while the question stands
CREATE OR REPLACE VIEW escalations AS
SELECT e.space, e.session, e.at, e.note, e.question, n.content, n.priority, n.settled_at, n.resolution, e.position
FROM note_escalated e LEFT JOIN notes n ON n.space = e.space AND n.note = e.note;


-- Turns that offered a conclusion not sure enough to take effect by itself. One row per offer.
--   space, session, turn_id, segment, at, pattern, confidence, text
--   status                      open, accepted, declined or overtaken; settled_at: NULL while it is open
--   agent                       who said it. Offers of retracted turns are gone
CREATE OR REPLACE VIEW offers AS
WITH settled AS (
    SELECT o.space, o.session, o.turn, arg_max({o: outcome, a: o.at}, (position, path)) AS last
    FROM offer_settled o GROUP BY o.space, o.session, o.turn
), retracted AS (
    SELECT DISTINCT space, session, turn FROM turn_retracted
), offered AS (
    SELECT o.space, o.session, o.turn, arg_max(o, (position, path)) AS o
    FROM conclusion_offered o GROUP BY o.space, o.session, o.turn
)
SELECT
    f.space, f.session, f.turn AS turn_id, (f.o).segment AS segment, (f.o).at AS "at", (f.o).pattern AS pattern,
    (f.o).confidence AS confidence, (f.o).text AS text, coalesce((s.last).o, 'open') AS status, (s.last).a AS settled_at,
    t.agent, (f.o).position AS position
FROM offered f
JOIN turn_recorded t ON t.id = f.turn AND t.space = f.space AND t.session = f.session
LEFT JOIN settled s ON s.turn = f.turn AND s.space = f.space AND s.session = f.session
WHERE (f.space, f.session, f.turn) NOT IN (SELECT (space, session, turn) FROM retracted);


-- What was concluded, by whose words. One row per concluded segment: its last conclusion, for a farewell after the answer
-- concludes again. What was only claimed is in conclusion_detected, what was offered in offers, and a confirmed negation,
-- which closes nothing, in artifacts.
--   space, session, turn_id, segment (of the turn, after revisions), effort
--   at, agent, role, pattern, confidence (1 where an agent accepted an offer)
--   text                        the sentence that says so
--   conclusion                  what was concluded: the answer, where the sentence only confirms it
CREATE OR REPLACE VIEW conclusions AS
WITH concluded AS (
    SELECT
        c.space, c.session, c.segment,
        arg_max({t: c.turn, p: c.pattern, f: c.confidence, c: c.conclusion, a: c.at}, (c.position, c.path)) AS last
    FROM segment_concluded c
    ANTI JOIN turn_retracted r ON r.space = c.space AND r.session = c.session AND r.turn = c.turn
    GROUP BY c.space, c.session, c.segment
), detected AS (
    SELECT d.space, d.session, d.turn, d.pattern, arg_max(d.text, (d.position, d.path)) AS text
    FROM conclusion_detected d GROUP BY d.space, d.session, d.turn, d.pattern
)
SELECT
    c.space, c.session, (c.last).t AS turn_id, t.segment, t.effort, (c.last).a AS "at", t.agent, t.role, (c.last).p AS pattern,
    (c.last).f AS confidence, coalesce(d.text, (c.last).c) AS text, (c.last).c AS conclusion, t.position
FROM concluded c
JOIN turns t ON t.turn_id = (c.last).t AND t.space = c.space AND t.session = c.session
LEFT JOIN detected d ON d.turn = (c.last).t AND d.pattern = (c.last).p AND d.space = c.space AND d.session = c.session;


-- What conclusions left behind. One row per artifact.
--   space, session, artifact, kind, title, body, status, tags, segment, turns (ids it rests on), at
--   retracted                   whether the turn that made it (the last of them) was retracted since
CREATE OR REPLACE VIEW artifacts AS
WITH newest AS (
    SELECT a.space, a.artifact, arg_max(a, (position, path)) AS a FROM artifact_made a GROUP BY a.space, a.artifact
), retracted AS (
    SELECT DISTINCT r.space, r.turn FROM turn_retracted r
)
SELECT
    n.space, (n.a).session AS session, n.artifact, (n.a).kind AS kind, (n.a).title AS title, (n.a).body AS body,
    (n.a).status AS status, (n.a).tags AS tags, (n.a).segment AS segment, (n.a).turns AS turns, (n.a).at AS "at",
    r.turn IS NOT NULL AS retracted, (n.a).position AS position
FROM newest n LEFT JOIN retracted r ON r.space = n.space AND r.turn = (n.a).turns[-1];


-- What turns state, and what took its place. One row per statement that was not taken back: what a turn says of one
-- attribute of one subject.
--   space, session, turn_id, at, agent, role   of the turn
--   subject, attribute, value   whose ('' for no one's), what (as stems), and what is said of it in the turn's words;
--                               all '' where a judge set two turns against each other that state nothing in common
--   affirmed                    whether it is said to be so, or not to be so
--   chain, place                the statements that took each other's place, and how many came before this one
--   replaced_by, replaced_at, rule, confidence   the turn whose statement took its place, and why: NULL while it stands
--   current                     whether nothing took its place
--   position                    of the turn
CREATE OR REPLACE VIEW beliefs AS
WITH told AS (
    SELECT
        c.space, c.older, c.turn AS newer, c.subject, c.attribute, c.position, c.path,
        {a: c.at, r: rule, f: confidence, c: chain, p: place} AS link
    FROM belief_contradicted c
    UNION ALL
    SELECT r.space, r.turn, r.newer, r.subject, r.attribute, r.position, r.path, NULL FROM belief_restored r
), holding AS (
    SELECT * FROM told
    QUALIFY row_number() OVER (PARTITION BY space, older, newer, subject, attribute ORDER BY position DESC, path DESC) = 1
        AND link IS NOT NULL
), judged AS (
    SELECT h.space, h.older AS turn, (h.link).c AS chain, (h.link).p - 1 AS place FROM holding h WHERE h.attribute = ''
    UNION ALL
    SELECT h.space, h.newer, (h.link).c, (h.link).p FROM holding h WHERE h.attribute = ''
), stated AS (
    SELECT s.space, s.turn, s.subject, s.attribute, s.value, s.affirmed, s.chain, s.place
    FROM belief_stated s
    QUALIFY row_number() OVER (PARTITION BY s.space, s.turn, s.subject, s.attribute ORDER BY position DESC, path DESC) = 1
    UNION ALL
    SELECT j.space, j.turn, '', '', '', true, arg_max(j.chain, j.place), max(j.place)
    FROM judged j GROUP BY j.space, j.turn
), replaced AS (
    SELECT space, older AS turn, subject, attribute, arg_max({n: newer, l: link}, (position, path)) AS by
    FROM holding GROUP BY ALL
), took AS (
    SELECT space, newer AS turn, subject, attribute, arg_max(link, (position, path)) AS link
    FROM holding GROUP BY ALL
)
SELECT
    s.space, t.session, s.turn AS turn_id, t.at, t.agent, t.role, s.subject, s.attribute, s.value, s.affirmed,
    coalesce((k.link).c, s.chain) AS chain, coalesce((k.link).p, s.place) AS place,
    (r.by).n AS replaced_by, (r.by).l.a AS replaced_at, (r.by).l.r AS rule, (r.by).l.f AS confidence,
    r.turn IS NULL AS current, t.position
FROM stated s
LEFT JOIN turn_recorded t ON t.id = s.turn AND t.space = s.space
LEFT JOIN replaced r ON r.turn = s.turn AND r.space = s.space AND r.subject = s.subject AND r.attribute = s.attribute
LEFT JOIN took k ON k.turn = s.turn AND k.space = s.space AND k.subject = s.subject AND k.attribute = s.attribute
ANTI JOIN turn_retracted x ON x.turn = s.turn AND x.space = s.space;


-- Turns that were shown together. One row per pair, first < second.
--   space, first, second        turn ids
--   count, strength             how often (massed repetitions not counted), and the strength then (it halves with
--                               disuse since last_at)
--   first_at, last_at, last_session
CREATE OR REPLACE VIEW associations AS
SELECT
    a.space, a.first, a.second, max(a.count) AS count, arg_max(a.strength, (position, path)) AS strength,
    min(a.at) AS first_at, max(a.at) AS last_at, arg_max(a.session, (position, path)) AS last_session
FROM memories_associated a GROUP BY a.space, a.first, a.second;


-- Turns as memories. One row per turn to which something happened since it was said: it was shown, flagged, pinned,
-- rewarded, replayed, confirmed or contradicted. How alive it is at a moment is computed when asked (`mnemolog memory`).
--   space, session, turn_id, position, at, agent, role, content   of the turn
--   recalls, first_recalled_at, last_recalled_at   how often it was shown, and when
--   important, pinned           the last word on it
--   rewards, reward             how often it was rewarded or said to mislead, and the mean, -1 to 1; NULL for never
--   growth                      what spaced recalls made of its stability: a factor
--   replays, r1, r2, traced_at    what replays added to its fast and slow trace, as of then; NULL for never
--   scale, shift, contradicted  how far it can be relied on: trust in its role * scale + shift, less while contradicted
--   retracted                   whether the turn was taken back
CREATE OR REPLACE VIEW remembered AS
WITH shown AS (
    SELECT s.space, s.turn, count(*) AS recalls, min(s.at) AS first_at, max(s.at) AS last_at
    FROM (SELECT r.space, r.at, unnest(list_distinct(r.turns)) AS turn FROM memory_recalled r) s GROUP BY s.space, s.turn
), flagged AS (
    SELECT space, turn, arg_max(importance, position) = 'high' AS important FROM importance_flagged GROUP BY space, turn
), pinned AS (
    SELECT space, turn, arg_max(pinned, position) AS pinned FROM memory_pinned GROUP BY space, turn
), rewarded AS (
    SELECT w.space, w.turn, count(*) AS rewards, avg(w.reward) AS reward
    FROM (SELECT m.space, m.reward, unnest(list_distinct(m.turns)) AS turn FROM memory_rewarded m) w
    GROUP BY w.space, w.turn
), practised AS (
    SELECT space, turn, arg_max(growth, (position, path)) AS growth FROM retention_changed GROUP BY space, turn
), consolidated AS (
    SELECT c.space, c.turn, arg_max({n: replays, r1: r1, r2: r2, a: c.at}, (position, path)) AS traced
    FROM memory_consolidated c GROUP BY c.space, c.turn
), relied AS (
    SELECT c.space, c.turn, arg_max({s: scale, h: shift, c: contradicted}, (position, path)) AS trust
    FROM confidence_changed c GROUP BY c.space, c.turn
), touched AS (
    SELECT space, turn FROM shown UNION SELECT space, turn FROM flagged UNION SELECT space, turn FROM pinned
    UNION SELECT space, turn FROM rewarded UNION SELECT space, turn FROM consolidated UNION SELECT space, turn FROM relied
)
SELECT
    m.space, t.session, m.turn AS turn_id, t.position, t.at, t.agent, t.role, t.content,
    coalesce(s.recalls, 0) AS recalls, s.first_at AS first_recalled_at, s.last_at AS last_recalled_at,
    coalesce(f.important, false) AS important, coalesce(p.pinned, false) AS pinned,
    coalesce(w.rewards, 0) AS rewards, w.reward, coalesce(g.growth, 1) AS growth,
    coalesce((c.traced).n, 0) AS replays, CASE WHEN (c.traced).n > 0 THEN (c.traced).r1 END AS r1,
    CASE WHEN (c.traced).n > 0 THEN (c.traced).r2 END AS r2,
    CASE WHEN (c.traced).n > 0 THEN (c.traced).a END AS traced_at,
    coalesce((b.trust).s, 1) AS scale, coalesce((b.trust).h, 0) AS shift, coalesce((b.trust).c, false) AS contradicted,
    x.turn IS NOT NULL AS retracted
FROM touched m
LEFT JOIN turn_recorded t ON t.id = m.turn AND t.space = m.space
LEFT JOIN shown s ON s.turn = m.turn AND s.space = m.space
LEFT JOIN flagged f ON f.turn = m.turn AND f.space = m.space
LEFT JOIN pinned p ON p.turn = m.turn AND p.space = m.space
LEFT JOIN rewarded w ON w.turn = m.turn AND w.space = m.space
LEFT JOIN practised g ON g.turn = m.turn AND g.space = m.space
LEFT JOIN consolidated c ON c.turn = m.turn AND c.space = m.space
LEFT JOIN relied b ON b.turn = m.turn AND b.space = m.space
LEFT JOIN (SELECT DISTINCT r.space, r.turn FROM turn_retracted r) x ON x.turn = m.turn AND x.space = m.space;
