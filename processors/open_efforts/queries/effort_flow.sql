-- Efforts opened, concluded and reopened by day (or hour, week, month), and how many are open at its end; those in which
-- none was are left out.
-- parameter: space = ''   only this space; '' for all
-- parameter: by = 'day'   hour, day, week or month
WITH changes AS (
    SELECT e.space, e.opened_at AS moment, 1 AS opened, 0 AS concluded, 0 AS reopened FROM efforts e
    UNION ALL
    SELECT c.space, c.at, 0, 1, 0 FROM effort_concluded c SEMI JOIN efforts e ON e.space = c.space AND e.effort = c.effort
    UNION ALL
    SELECT r.space, r.at, 0, 0, 1 FROM effort_resumed r SEMI JOIN efforts e ON e.space = r.space AND e.effort = r.effort
), summed AS (
    SELECT
        date_trunc($by, moment)::TIMESTAMP AS period, sum(opened)::BIGINT AS opened, sum(concluded)::BIGINT AS concluded,
        sum(reopened)::BIGINT AS reopened
    FROM changes WHERE $space IN ('', space) GROUP BY ALL
)
SELECT
    period, opened, concluded, reopened,
    (sum(opened + reopened - concluded) OVER (ORDER BY period))::BIGINT AS open_at_end
FROM summed ORDER BY period
