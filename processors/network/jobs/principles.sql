-- Conclusions, and what several sessions agree on, that are nobody's own.
SELECT k.space, k.session, k.turns
FROM knowledge k
WHERE k.status = 'current' AND k.layer > 0 AND (k.kind = 'conclusion' OR k.sessions > 1) AND k."at" < $quiet
ORDER BY k."at" DESC, k.space, k.node
