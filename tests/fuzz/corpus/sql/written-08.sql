SELECT DATE_TRUNC('month', started) AS p, COUNT(*) AS n, AVG(fare) AS m FROM trips WHERE started >= DATE '2024-06-01' AND legs > 1 GROUP BY DATE_TRUNC('month', started) ORDER BY p ASC
