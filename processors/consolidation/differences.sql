-- count: consolidations
SELECT count(*) AS "runs", sum(fresh + week + older)::BIGINT AS "replays" FROM consolidation_ran
