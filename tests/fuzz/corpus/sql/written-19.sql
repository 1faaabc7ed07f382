SELECT state, 100.0 * COUNT(*) FILTER (WHERE fare > 10) / COUNT(*) AS r, MAX(legs) - MIN(legs) AS s FROM trips WHERE legs IS NOT NULL GROUP BY state ORDER BY r DESC
