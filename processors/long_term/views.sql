-- Long-term memory: what is kept of sessions beyond their end. One row per entry.
--   space, entry, session       the session is the one it was distilled from
--   kind                        solution, failure, preference or fact
--   text, problem, failed       what worked or is so; of a solution what was asked or wrong, and what was tried before
--   said_by, turns, model       who said it, its source, and who worded it ('' for the rules)
--   status, why                 active, contradicted, misled, expired, collected or retracted, and what brought it there
--   made_at, at                 when it was distilled, and when its status was last told
--   loaded                      how many sessions were given it
CREATE VIEW long_term AS
WITH given AS (
    SELECT space, entry, count(DISTINCT session) AS loaded
    FROM (SELECT l.space, l.session, unnest(l.entries) AS entry FROM entries_loaded l) GROUP BY space, entry
), last AS (
    SELECT
        e.space, e.entry, min(e.at) AS made_at,
        arg_max(
            {session: e.session, kind: e.kind, text: e.text, problem: e.problem, failed: e.failed, said: e.by,
             turns: e.turns, status: e.status, why: e.why, model: e.model, told_at: e.at},
            (e.position, e.ordinal)
        ) AS told
    FROM entry_distilled e GROUP BY e.space, e.entry
)
SELECT
    l.space, l.entry, (l.told).session AS session, (l.told).kind AS kind, (l.told).text AS text,
    (l.told).problem AS problem, (l.told).failed AS failed, (l.told).said AS said_by, (l.told).turns AS turns,
    (l.told).model AS model, (l.told).status AS status, (l.told).why AS why, l.made_at, (l.told).told_at AS at,
    coalesce(g.loaded, 0) AS loaded
FROM last l LEFT JOIN given g ON g.space = l.space AND g.entry = l.entry;


-- Sessions that go on with older ones. One row per pair of them.
--   space, session, older
--   at, position                when it was last said
CREATE VIEW inheritances AS
SELECT space, session, older, arg_max(i.at, position) AS "at", max(position) AS position
FROM session_inherited i GROUP BY space, session, older;
