-- Turns that were shown together. One row per pair, first < second.
--   space, first, second        turn ids
--   count, strength             how often (massed repetitions not counted), and the strength then (it halves with
--                               disuse since last_at)
--   first_at, last_at, last_session
CREATE VIEW associations AS
SELECT
    a.space, a.first, a.second, max(a.count) AS count, arg_max(a.strength, (position, ordinal)) AS strength,
    min(a.at) AS first_at, max(a.at) AS last_at, arg_max(a.session, (position, ordinal)) AS last_session
FROM memories_associated a GROUP BY a.space, a.first, a.second;
