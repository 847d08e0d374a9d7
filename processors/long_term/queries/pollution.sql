-- What share of what sessions were given of long-term memory misled, or was contradicted later.
-- parameter: space = ''  only this space; '' for all
WITH given AS (
    SELECT space, session, entry, min(position) AS position
    FROM (SELECT space, session, position, unnest(entries) AS entry FROM entries_loaded)
    WHERE $space IN ('', space) GROUP BY space, session, entry
), fell AS (
    SELECT
        g.space, g.session, g.entry,
        coalesce(bool_or(e.status = 'misled'), false) AS misled,
        coalesce(bool_or(e.status = 'contradicted'), false) AS contradicted
    FROM given g
    LEFT JOIN entry_distilled e ON e.space = g.space AND e.entry = g.entry AND e.position >= g.position
    GROUP BY g.space, g.session, g.entry
)
SELECT
    space, count(DISTINCT session) AS sessions, count(*) AS loaded, count(*) FILTER (misled) AS misled,
    count(*) FILTER (contradicted) AS contradicted,
    round(count(*) FILTER (misled OR contradicted) / count(*), 4) AS share
FROM fell GROUP BY space ORDER BY share DESC, space
