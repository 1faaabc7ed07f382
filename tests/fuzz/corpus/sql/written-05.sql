SELECT t.client_id, ANY_VALUE(c.full_name) AS n, SUM(t.fare) AS m FROM trips t JOIN clients c ON c.client_id = t.client_id WHERE c.credit > 1 GROUP BY t.client_id ORDER BY m DESC LIMIT 5
