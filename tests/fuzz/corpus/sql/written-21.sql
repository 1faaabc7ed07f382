SELECT c.kind, SUM(x.v) AS m FROM clients c JOIN (SELECT client_id, SUM(fare) AS v FROM trips WHERE legs > 1 GROUP BY client_id) x ON x.client_id = c.client_id GROUP BY c.kind ORDER BY m DESC
