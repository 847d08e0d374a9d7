-- What became of the entries of long-term memory: by kind, how many stand, fell out, and why, and how many were loaded.
-- parameter: space = ''  only this space; '' for all
SELECT
    e.space, e.kind, e.status, count(*) AS entries, count(*) FILTER (e.model <> '') AS worded_by_models,
    sum(e.loaded)::BIGINT AS loaded, max(e.at) AS last_at
FROM long_term e WHERE $space IN ('', e.space)
GROUP BY e.space, e.kind, e.status ORDER BY e.space, e.kind, e.status
