SELECT CASE WHEN n > 3 THEN 'many' ELSE 'few' END AS k, COUNT(*) AS a, AVG(n) AS b FROM (SELECT client_id, COUNT(*) AS n FROM trips WHERE fare > 1 GROUP BY client_id) GROUP BY 1 ORDER BY a DESC
