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
CREATE VIEW beliefs AS
WITH told AS (
    SELECT
        c.space, c.older, c.turn AS newer, c.subject, c.attribute, c.position, c.ordinal,
        {a: c.at, r: rule, f: confidence, c: chain, p: place} AS link
    FROM belief_contradicted c
    UNION ALL
    SELECT r.space, r.turn, r.newer, r.subject, r.attribute, r.position, r.ordinal, NULL FROM belief_restored r
), holding AS (
    SELECT * FROM told
    QUALIFY row_number() OVER (PARTITION BY space, older, newer, subject, attribute ORDER BY position DESC, ordinal DESC) = 1
        AND link IS NOT NULL
), judged AS (
    SELECT h.space, h.older AS turn, (h.link).c AS chain, (h.link).p - 1 AS place FROM holding h WHERE h.attribute = ''
    UNION ALL
    SELECT h.space, h.newer, (h.link).c, (h.link).p FROM holding h WHERE h.attribute = ''
), stated AS (
    SELECT s.space, s.turn, s.subject, s.attribute, s.value, s.affirmed, s.chain, s.place
    FROM belief_stated s
    QUALIFY row_number() OVER (PARTITION BY s.space, s.turn, s.subject, s.attribute ORDER BY position DESC, ordinal DESC) = 1
    UNION ALL
    SELECT j.space, j.turn, '', '', '', true, arg_max(j.chain, j.place), max(j.place)
    FROM judged j GROUP BY j.space, j.turn
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
