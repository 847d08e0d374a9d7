-- People and things that are spoken of. One row per object that a turn still shown names.
--   space, object, name, kind (person, entity or knowledge), aliases, role (to who speaks), value (of the relationship)
--   mentions                    turns that are still shown and name it; near: names of what it was lately mentioned with
--   statements                  how many stand
--   first_at, last_at, session, turn   of its mentions; the last two of the last one
CREATE VIEW objects AS
WITH mentioned AS (
    SELECT m.* FROM object_mentioned m ANTI JOIN turn_retracted r ON r.space = m.space AND r.turn = m.turn
), said AS (
    SELECT space, object, count(*) AS statements FROM (
        SELECT space, object, statement, arg_max(status, (position, ordinal)) AS status
        FROM object_stated GROUP BY space, object, statement
    ) WHERE status = 'current' GROUP BY space, object
), last AS (
    SELECT
        space, object, arg_max(m, (position, ordinal)) AS o, count(DISTINCT turn) AS mentions, min(m.at) AS first_at,
        max(m.at) AS last_at
    FROM mentioned m GROUP BY space, object
)
SELECT
    l.space, l.object, (l.o).name AS name, (l.o).kind AS kind, (l.o).aliases AS aliases, (l.o).role AS role,
    (l.o).value AS value, l.mentions, coalesce(s.statements, 0) AS statements, (l.o).near AS near, l.first_at, l.last_at,
    (l.o).session AS session, (l.o).turn AS turn
FROM last l LEFT JOIN said s USING (space, object);


-- What was said of people and things. One row per statement, also of those that stand no longer.
--   space, session (in which it was said), statement, object, name (of the object), text, turn, at (when it was said),
--   strength
--   says                        manner (how somebody likes to be answered), preference, role, goal, deadline, pattern,
--                               belief, rule or fact
--   status                      current, passed (newer and stronger ones took its place), superseded, retracted
CREATE VIEW object_statements AS
SELECT
    s.space, arg_min(s.session, (position, ordinal)) AS session, s.statement,
    arg_max(s.object, (position, ordinal)) AS object, arg_max(s.name, (position, ordinal)) AS name,
    any_value(s.says) AS says, any_value(s.text) AS text, any_value(s.turn) AS turn, min(s.at) AS at,
    any_value(s.strength) AS strength, arg_max(s.status, (position, ordinal)) AS status
FROM object_stated s GROUP BY s.space, s.statement;
