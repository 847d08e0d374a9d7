-- Notes with a time to live. One row per note.
--   space, session, note, content, context, source, priority (base), opened_at, deadline
--   due                         the deadline in words of a clock, to the minute: its day alone where a day's end is meant
--   every                       how it comes again and again, as a rule of iCalendar (RFC 5545); NULL where it does not:
--                               the deadline is that of the time it is due next, or was last while that is asked about
--   moved_at, moved_by, moved_for   when its deadline changed last, the turn that put it there or told that it was done for
--                               that time, NULL where none did, and why: moved, done (and it comes again), again (its time
--                               came again), undone (what had moved it does not stand, or did not mean that)
--   turn                        it was inferred from, NULL where an agent took it
--   status                      open, escalated (the user was asked), archived, settled, or historic (its deadline lay
--                               before it was recorded: never raised)
--   escalated_at, question, archived_at, settled_at, resolution: NULL where it did not come to that
--   reopened_at                 when it last waited again, since what had settled it does not stand or did not mean that
--   settled_by, settled_why     the turn that told that it is done, or needed no more, and the signals that decided;
--                               NULL where a fact settled it
--   doubted_by, doubted_at, doubted_why   the last turn that may have told that, where it is not sure
--   surfaced, last_surfaced_at  how often it was shown, and when last
CREATE VIEW notes AS
WITH opened AS (
    SELECT n.space, n.note, arg_max(n, (position, ordinal)) AS n, max((position, ordinal)) AS place
    FROM note_opened n GROUP BY n.space, n.note
), surfaced AS (
    SELECT s.space, s.note, count(*) AS times, max(s.at) AS last_at FROM note_surfaced s GROUP BY s.space, s.note
), escalated AS (
    SELECT e.space, e.note, arg_max({a: e.at, q: question}, (position, ordinal)) AS last, max((position, ordinal)) AS place
    FROM note_escalated e GROUP BY e.space, e.note
), archived AS (
    SELECT a.space, a.note, max(a.at) AS archived_at, max((position, ordinal)) AS place
    FROM note_archived a GROUP BY a.space, a.note
), reopened AS (
    SELECT r.space, r.note, max(r.at) AS reopened_at, max((position, ordinal)) AS place
    FROM note_reopened r GROUP BY r.space, r.note
), moved AS (
    SELECT m.space, m.note, arg_max({a: m.at, d: deadline, h: historic, t: nullif(m.turn, ''), r: m.reason}, (position, ordinal)) AS last,
        max((position, ordinal)) AS place
    FROM note_moved m GROUP BY m.space, m.note
), waited AS (
    SELECT o.*, CASE WHEN r.place > o.place THEN r.reopened_at END AS reopened_at,
        CASE WHEN m.place > o.place THEN m.last END AS moved,
        CASE WHEN m.place > o.place THEN (m.last).d ELSE (o.n).deadline END AS deadline,
        CASE WHEN m.place > o.place THEN (m.last).h ELSE (o.n).historic END AS historic,
        CASE WHEN r.place > o.place THEN r.place ELSE o.place END AS since,
        CASE WHEN m.place > o.place THEN m.place ELSE o.place END AS timed
    FROM opened o LEFT JOIN reopened r USING (space, note) LEFT JOIN moved m USING (space, note)
), closed AS (
    SELECT c.space, c.note, arg_max({a: c.at, r: resolution, t: nullif(c.turn, ''), w: c.why}, (position, ordinal)) AS last, max((position, ordinal)) AS place
    FROM note_closed c GROUP BY c.space, c.note
), doubted AS (
    SELECT d.space, d.note, arg_max({a: d.at, t: d.turn, w: d.why}, (position, ordinal)) AS last, max((position, ordinal)) AS place
    FROM note_doubted d GROUP BY d.space, d.note
)
SELECT
    o.space, (o.n).session AS session, o.note, (o.n).content AS content, (o.n).context AS context, (o.n).source AS source,
    (o.n).priority AS priority, (o.n).at AS opened_at, o.reopened_at, o.deadline, nullif((o.n).turn, '') AS turn,
    CASE WHEN o.deadline = date_trunc('day', o.deadline) THEN strftime(o.deadline - INTERVAL 1 SECOND, '%Y-%m-%d')
        ELSE strftime(o.deadline, '%Y-%m-%d %H:%M') END AS due,
    nullif((o.n).every, '') AS every, (o.moved).a AS moved_at, (o.moved).t AS moved_by, (o.moved).r AS moved_for,
    CASE
        WHEN c.place >= o.since THEN 'settled'
        WHEN e.place >= o.timed THEN 'escalated'
        WHEN a.place >= o.timed THEN 'archived'
        WHEN o.historic THEN 'historic'
        ELSE 'open' END AS status,
    CASE WHEN e.place >= o.timed THEN (e.last).a END AS escalated_at,
    CASE WHEN e.place >= o.timed THEN (e.last).q END AS question,
    CASE WHEN a.place >= o.timed THEN a.archived_at END AS archived_at,
    CASE WHEN c.place >= o.since THEN (c.last).a END AS settled_at,
    CASE WHEN c.place >= o.since THEN (c.last).r END AS resolution,
    CASE WHEN c.place >= o.since THEN (c.last).t END AS settled_by,
    CASE WHEN c.place >= o.since THEN (c.last).w END AS settled_why,
    CASE WHEN d.place >= o.since THEN (d.last).t END AS doubted_by,
    CASE WHEN d.place >= o.since THEN (d.last).a END AS doubted_at,
    CASE WHEN d.place >= o.since THEN (d.last).w END AS doubted_why,
    coalesce(s.times, 0) AS surfaced, s.last_at AS last_surfaced_at, (o.n).position AS position
FROM waited o
LEFT JOIN surfaced s USING (space, note)
LEFT JOIN escalated e USING (space, note)
LEFT JOIN archived a USING (space, note)
LEFT JOIN closed c USING (space, note)
LEFT JOIN doubted d USING (space, note);


-- Notes that were raised to the user. One row per escalation.
--   space, session, at (the deadline), note, question, content, priority
--   settled_at, resolution      NULL while the question stands
CREATE VIEW escalations AS
SELECT e.space, e.session, e.at, e.note, e.question, n.content, n.priority, n.settled_at, n.resolution, e.position
FROM note_escalated e LEFT JOIN notes n ON n.space = e.space AND n.note = e.note;
