-- How each part of a session's head began and ended, what was decided and what is to be done: what stands for all of it.
WITH heads AS (
    SELECT
        space, session,
        arg_max(
            {f: first_turn, l: last_turn, p: topic_firsts || topic_lasts || decision_turns || action_turns},
            (position, ordinal)
        ) AS head
    FROM session_compressed GROUP BY space, session
), lacking AS (
    -- Told anew for a turn that was taken back: what is written of it is not taken until it has grown.
    SELECT c.space, c.session, c.last_turn FROM session_compressed c
    SEMI JOIN turn_retracted x ON x.space = c.space AND x.position = c.position
), told AS (
    SELECT h.space, h.session, (h.head).f AS first, (h.head).l AS last, unnest(list_distinct((h.head).p)) AS turn
    FROM heads h ANTI JOIN lacking g ON g.space = h.space AND g.session = h.session AND g.last_turn = (h.head).l
)
SELECT t.space, t.session, list(t.turn ORDER BY r.position) AS turns
FROM told t
JOIN recorded_turns r ON r.space = t.space AND r.session = t.session AND r.turn_id = t.turn AND NOT r.retracted
GROUP BY t.space, t.session
HAVING bool_or(t.turn = t.first) AND bool_or(t.turn = t.last)
ORDER BY max(r.at) DESC, t.space, t.session
