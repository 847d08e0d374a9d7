-- What long sessions came to: one row per session that was compressed, as it is now.
-- parameter: space = ''  only this space; '' for all
-- parameter: session = ''  only this session; '' for all
SELECT
    c.space, c.session, c.turns, c.tokens, len(c.topics) AS parts, len(c.decisions) AS decisions,
    len(c.actions) AS actions, c.tone, c.first_turn, c.last_turn, c.at AS last_at
FROM compressions c
WHERE $space IN ('', c.space) AND $session IN ('', c.session)
ORDER BY c.space, c.session
