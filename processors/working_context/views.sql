-- The context of each session now. One row per entry; none for a session whose context is empty.
--   space, session, rank        1 for the most relevant: open efforts, then recalled and concluded ones whose summary is kept
--   effort, score, mode         expanded or summary (open efforts), recalled or concluded
--   signals                     what made the score, as text
--   similarity, recency, idle   how alike the turn and the effort are, how strong its trace is (0 to 1), turns untouched
--   turn, position, at          of the turn (or fact) after which the context was last scored
CREATE VIEW context_entries AS
WITH newest AS (
    SELECT space, session, max(position) AS position FROM context_scored GROUP BY space, session
), scored AS (
    SELECT c.*
    FROM context_scored c
    JOIN newest n ON n.space = c.space AND n.session = c.session AND n.position = c.position
    QUALIFY row_number() OVER (PARTITION BY c.space, c.session ORDER BY c.ordinal DESC) = 1
)
SELECT
    s.space, s.session, generate_subscripts(s.efforts, 1) AS rank, unnest(s.efforts) AS effort, unnest(s.scores) AS score,
    unnest(s.modes) AS mode, unnest(s.signals) AS signals, unnest(s.similarities) AS similarity,
    unnest(s.recencies) AS recency, unnest(s.idle) AS idle, s.turn, s.position, s.at
FROM scored s;


-- How contexts came to be what they are. One row per change.
--   space, session, position, ordinal, at, turn
--   effort, change              entered, left, expanded, condensed, concluded, recalled or dropped
--   score, reason               at that moment, and what decided
--   other, other_score          the effort that displaced it, or that it displaced; NULL for none
CREATE VIEW context_changes AS
SELECT
    c.space, c.session, c.position, c.ordinal, c.at, c.turn, c.effort, c.change, c.score, c.reason,
    nullif(c.other, '') AS other, CASE WHEN c.other <> '' THEN c.other_score END AS other_score
FROM context_changed c;
