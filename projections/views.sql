-- What is known of turns from the raw log alone. Each mechanism adds views of its own (processors/*/views.sql).
--
-- How views are written, here and there: nothing is stored or updated, each view picks the last word on each thing. The
-- same text serves as-of, run in a schema whose tables end at a position, so it names no schema and asks no clock.
-- (partition, position) orders outside events, (partition, position, ordinal) derived ones. All events of a space are in
-- one partition, so (position, ordinal) is compared within a space and an event type. A derived event stands at the
-- position of the raw event that caused it, so what tells of every turn joins on it (an integer). Space and session are in
-- every join and key, so that a filter on them reaches the scans. A view uses tables and views of its own mechanism, of
-- those that it reads, and of this file. `at` is a word of DuckDB's grammar: write t.at or "at". A field of a struct is
-- (t.last).a, not t.last.a, which in a memory named t could be something of that memory.


-- Turns that were taken back, whatever session says so. One row per such turn.
--   space, turn_id
--   reason                      why, in the last word on it: edited, regenerated, popped, cleared
CREATE VIEW retracted_turns AS
SELECT space, turn AS turn_id, arg_max(reason, position) AS reason FROM turn_retracted GROUP BY space, turn;


-- Every turn as it was recorded. One row per turn.
--   space, session, turn_id     the event id of the turn
--   partition, position         in the log: the order of the turns of a space
--   at, recorded_at             when it happened, when the log stored it
--   agent, role, content, parts, reply_to, tokens (estimated), echo (characters left out that mnemolog had rendered)
--   retracted, retraction       whether it is no longer shown or matched, and why (NULL while it is)
CREATE VIEW recorded_turns AS
SELECT
    t.space, t.session, t.id AS turn_id, t.partition, t.position, t.at, t.agent, t.role, t.content, t.tokens, t.echo, t.reply_to,
    t.parts, r.turn_id IS NOT NULL AS retracted, r.reason AS retraction, t.recorded_at
FROM turn_recorded t
LEFT JOIN retracted_turns r ON r.turn_id = t.id AND r.space = t.space;


-- Turns of which something was said from outside: they were shown, flagged, pinned or rewarded. One row per such turn.
-- How alive it is at a moment is computed when asked (`mnemolog memory`).
--   space, session, turn_id, position, at, agent, role, content   of the turn
--   recalls, first_recalled_at, last_recalled_at   how often it was shown, and when
--   important, pinned           the last word on it
--   rewards, reward             how often it was rewarded or said to mislead, and the mean, -1 to 1; NULL for never
--   retracted                   whether the turn was taken back
CREATE VIEW remembered AS
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
), touched AS (
    SELECT space, turn FROM shown UNION SELECT space, turn FROM flagged UNION SELECT space, turn FROM pinned
    UNION SELECT space, turn FROM rewarded
)
SELECT
    m.space, t.session, m.turn AS turn_id, t.position, t.at, t.agent, t.role, t.content,
    coalesce(s.recalls, 0) AS recalls, s.first_at AS first_recalled_at, s.last_at AS last_recalled_at,
    coalesce(f.important, false) AS important, coalesce(p.pinned, false) AS pinned,
    coalesce(w.rewards, 0) AS rewards, w.reward, x.turn_id IS NOT NULL AS retracted
FROM touched m
LEFT JOIN turn_recorded t ON t.id = m.turn AND t.space = m.space
LEFT JOIN shown s ON s.turn = m.turn AND s.space = m.space
LEFT JOIN flagged f ON f.turn = m.turn AND f.space = m.space
LEFT JOIN pinned p ON p.turn = m.turn AND p.space = m.space
LEFT JOIN rewarded w ON w.turn = m.turn AND w.space = m.space
LEFT JOIN retracted_turns x ON x.turn_id = m.turn AND x.space = m.space;
