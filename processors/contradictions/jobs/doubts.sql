-- Each doubt that waits, once nobody has said more for a while: the older turn and the newer.
SELECT space, session, [older, turn_id] AS turns FROM doubts WHERE status = 'open' AND "at" <= $quiet
ORDER BY "at" DESC, space, turn_id
