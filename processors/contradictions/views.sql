-- What turns state, and what took its place. One row per statement that was not taken back: what a turn says of one
-- attribute of one subject.
--   space, session, turn_id, at, agent, role   of the turn
--   subject, attribute, value   whose ('' for no one's), what ("lives in", "sister works as", "deadline"), and what is
--                               said of it in the turn's words; all '' where a judge set two turns against each other
--                               that state nothing plainly
--   affirmed                    whether it is said to be so, or not to be so
--   chain, place                the statements that took each other's place, and how many came before this one
--   replaced_by, replaced_at, rule, confidence   the turn whose statement took its place, and why: NULL while it stands
--   current                     whether nothing took its place
--   position                    of the turn
CREATE VIEW beliefs AS
WITH told AS (
    SELECT
        c.space, c.older, c.turn AS newer, c.subject, c.attribute, c.position, c.ordinal,
        {a: c.at, r: rule, f: confidence, c: chain, p: place, v: value} AS link
    FROM belief_contradicted c
    UNION ALL
    SELECT r.space, r.turn, r.newer, r.subject, r.attribute, r.position, r.ordinal, NULL FROM belief_restored r
), holding AS (
    SELECT * FROM told
    QUALIFY row_number() OVER (PARTITION BY space, older, newer, subject, attribute ORDER BY position DESC, ordinal DESC) = 1
        AND link IS NOT NULL
), judged AS (
    SELECT h.space, h.older AS turn, h.subject, h.attribute, '' AS value, (h.link).c AS chain, (h.link).p - 1 AS place
    FROM holding h
    UNION ALL
    SELECT h.space, h.newer, h.subject, h.attribute, (h.link).v, (h.link).c, (h.link).p FROM holding h
), stated AS (
    SELECT s.space, s.turn, s.subject, s.attribute, s.value, s.affirmed, s.chain, s.place
    FROM belief_stated s
    QUALIFY row_number() OVER (PARTITION BY s.space, s.turn, s.subject, s.attribute ORDER BY position DESC, ordinal DESC) = 1
    UNION ALL
    SELECT j.space, j.turn, j.subject, j.attribute, arg_max(j.value, j.place), true, arg_max(j.chain, j.place), max(j.place)
    FROM judged j ANTI JOIN belief_stated b USING (space, turn, subject, attribute)
    GROUP BY j.space, j.turn, j.subject, j.attribute
), replaced AS (
    SELECT space, older AS turn, subject, attribute, arg_max({n: newer, l: link}, (position, ordinal)) AS by
    FROM holding GROUP BY ALL
), took AS (
    SELECT space, newer AS turn, subject, attribute, arg_max(link, (position, ordinal)) AS link
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


-- Doubts: turns that may take the place of older ones, and how they were judged. One row per pair of turns.
--   space, session, turn_id, at, agent, role, text   the newer turn
--   older, older_at, older_text                      the turn whose place it may take
--   confidence, why                                  how likely it is held to be, and the signals that spoke for it most
--   status                                           open, confirmed, dismissed
--   position                                         of the newer turn
CREATE VIEW doubts AS
WITH settled AS (
    SELECT space, turn, older, position, ordinal, 'confirmed' AS status FROM belief_contradicted
    UNION ALL
    SELECT space, newer, turn, position, ordinal, 'dismissed' FROM belief_restored
), suspected AS (
    SELECT s.space, s.turn, s.older, arg_max(s, (position, ordinal)) AS s
    FROM contradiction_suspected s GROUP BY s.space, s.turn, s.older
)
SELECT
    d.space, t.session, d.turn AS turn_id, t.at, t.agent, t.role, t.content AS text, d.older, o.at AS older_at,
    o.content AS older_text, (d.s).confidence AS confidence, (d.s).why AS why,
    coalesce((
        SELECT arg_max(x.status, (x.position, x.ordinal)) FROM settled x
        WHERE x.space = d.space AND x.turn = d.turn AND x.older = d.older
    ), 'open') AS status, t.position
FROM suspected d
JOIN turn_recorded t ON t.id = d.turn AND t.space = d.space
JOIN turn_recorded o ON o.id = d.older AND o.space = d.space
ANTI JOIN turn_retracted x ON x.space = d.space AND x.turn IN (d.turn, d.older);
