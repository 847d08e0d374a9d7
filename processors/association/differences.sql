-- count: associations
SELECT count(*) AS "pairs", avg(strength) AS "mean strength" FROM associations
