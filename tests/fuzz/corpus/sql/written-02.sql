WITH q AS (SELECT client_id, SUM(fare) AS s FROM trips WHERE legs > 1 GROUP BY client_id ORDER BY s DESC LIMIT 5) SELECT 100.0 * (SELECT SUM(s) FROM q) / (SELECT SUM(fare) FROM trips) AS m
