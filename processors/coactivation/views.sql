-- Pairs of efforts used together. One row per pair, first < second.
--   space, first, second
--   count, strength             how often, and the strength then (it halves with disuse since last_at)
--   first_at, last_at, last_session, last_turn
CREATE VIEW coactivations AS
SELECT
    p.space, p.first, p.second, max(p.count) AS count, arg_max(p.strength, (position, ordinal)) AS strength,
    min(p.at) AS first_at, max(p.at) AS last_at, arg_max(p.session, (position, ordinal)) AS last_session,
    arg_max(p.turn, (position, ordinal)) AS last_turn
FROM pair_coactivated p GROUP BY p.space, p.first, p.second;


-- Pairs used together often enough to be linked. One row per link, first < second.
--   space, first, second
--   count, strength, last_at    of the pair, now
--   formed_at, formed_in (session)
CREATE VIEW links AS
WITH formed AS (
    SELECT l.space, l.first, l.second, min(l.at) AS formed_at, arg_min(l.session, (position, ordinal)) AS formed_in
    FROM link_formed l GROUP BY l.space, l.first, l.second
)
SELECT f.space, f.first, f.second, c.count, c.strength, f.formed_at, f.formed_in, c.last_at
FROM formed f JOIN coactivations c ON c.space = f.space AND c.first = f.first AND c.second = f.second;
