SELECT state, SUM(fare) / (SELECT SUM(fare) FROM trips WHERE legs > 2) AS m FROM trips WHERE legs > 1 GROUP BY state ORDER BY m DESC LIMIT 3
