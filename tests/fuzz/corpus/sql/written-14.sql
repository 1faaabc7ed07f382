SELECT AVG(n) AS m, MAX(n) AS b FROM (SELECT client_id, COUNT(*) AS n, SUM(fare) AS s FROM trips WHERE legs > 0 GROUP BY client_id HAVING COUNT(*) > 2) WHERE s > 10
