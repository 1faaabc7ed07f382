SELECT COUNT(*) AS n FROM clients c WHERE EXISTS (SELECT 1 FROM trips t WHERE t.client_id = c.client_id AND t.fare > 50 AND t.legs < 3)
