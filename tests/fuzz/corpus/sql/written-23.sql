SELECT y, COUNT(*) AS m FROM (SELECT client_id, CASE WHEN SUM(fare) > 50 THEN 'big' WHEN COUNT(*) > 5 THEN 'many' END AS y FROM trips WHERE legs > 1 GROUP BY client_id) GROUP BY y
