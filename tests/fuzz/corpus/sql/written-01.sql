SELECT SUM(n) AS m FROM (SELECT client_id, COUNT(*) AS n FROM trips WHERE fare > 5 GROUP BY client_id ORDER BY n DESC LIMIT 5)
