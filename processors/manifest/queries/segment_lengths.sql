-- How long segments are, in turns: a histogram, with how many were concluded and the tokens of each.
-- parameter: space = ''  only this space; '' for all
WITH sized AS (
    SELECT s.turns, s.tokens, s.status, floor(log2(greatest(s.turns, 1)))::INTEGER AS size
    FROM segments s WHERE s.turns > 0 AND $space IN ('', s.space)
)
SELECT
    if(size = 0, '1', format('{}-{}', 1 << size, (1 << (size + 1)) - 1)) AS turns, count(*) AS segments,
    round(count(*) / sum(count(*)) OVER (), 3) AS share, count(*) FILTER (status = 'concluded') AS concluded,
    round(avg(tokens), 1) AS mean_tokens
FROM sized GROUP BY size ORDER BY size
