SELECT CASE WHEN y THEN 'a' ELSE 'b' END AS k, AVG(s) AS m FROM (SELECT client_id, MAX(state) IS NOT NULL AS y, SUM(fare) AS s FROM trips GROUP BY client_id) GROUP BY 1
