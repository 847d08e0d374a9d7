-- What is being done, was, and waits for its turn. One row per task.
--   space, task, session (of the last word on it), description, source (declared or talk)
--   status                      planning, executing, blocked, awaiting_input, complete or dropped
--   place                       active (it has a slot), aside (set aside), deferred, or ended
--   priority, progress (0 to 1), step, reason (what it waits for, or what came of it), depends_on (descriptions)
--   turn                        whose request it is, NULL where an agent declared it
--   declared_at, started_at (its first slot), ended_at, changed_at: NULL where it did not come to that
--   estimate, took, blocked     hours: as it was thought, from start to end or until now, and of these blocked; NULL for none
--                               (now: the space's own clock, the time of its newest turn or of what became of a task since)
--   against_estimate            of one that ended: how many times the estimate it took; NULL where nobody said
--   demoted, changes            how often it lost its slot, and how often anything changed
CREATE VIEW tasks AS
WITH clock AS (
    SELECT e.space, max(e.at) AS now
    FROM (SELECT t.space, t.at FROM turn_recorded t UNION ALL SELECT c.space, c.at FROM task_changed c) e GROUP BY e.space
), moved AS (
    SELECT
        c.space, c.task, c.at, c.position, c.ordinal, c AS row, c.status, k.now,
        lead(c.at) OVER (PARTITION BY c.space, c.task ORDER BY c.position, c.ordinal) AS until
    FROM task_changed c JOIN clock k ON k.space = c.space
), last AS (
    SELECT
        space, task, arg_max(row, (position, ordinal)) AS t, min(m.at) AS declared_at, max(m.at) AS changed_at,
        max(now) AS now, count(*) AS changes, count(*) FILTER ((m.row).change = 'demoted') AS demoted,
        sum(greatest(date_diff('millisecond', m.at, coalesce(until, now)), 0)) FILTER (m.status = 'blocked') / 3.6e6 AS blocked
    FROM moved m GROUP BY space, task
)
SELECT
    l.space, l.task, (l.t).session AS session, (l.t).description AS description, (l.t).source AS source,
    (l.t).status AS status, (l.t).place AS place, (l.t).priority AS priority, (l.t).progress AS progress,
    (l.t).step AS step, (l.t).reason AS reason, (l.t).depends_on AS depends_on, nullif((l.t).turn, '') AS turn,
    l.declared_at, CASE WHEN (l.t).started > TIMESTAMP '1970-01-01' THEN (l.t).started END AS started_at,
    CASE WHEN (l.t).place = 'ended' THEN l.changed_at END AS ended_at, l.changed_at,
    nullif((l.t).estimate, 0) AS estimate,
    CASE WHEN (l.t).started > TIMESTAMP '1970-01-01' THEN round(date_diff('millisecond', (l.t).started,
        CASE WHEN (l.t).place = 'ended' THEN l.changed_at ELSE l.now END) / 3.6e6, 3) END AS took,
    CASE WHEN (l.t).place = 'ended' AND (l.t).estimate > 0 AND (l.t).started > TIMESTAMP '1970-01-01' THEN
        round(date_diff('millisecond', (l.t).started, l.changed_at) / 3.6e6 / (l.t).estimate, 3) END AS against_estimate,
    round(l.blocked, 3) AS blocked, l.demoted, l.changes
FROM last l;
