SELECT COUNT(*) AS n FROM clients WHERE client_id IN (SELECT client_id FROM trips WHERE fare > 50 UNION SELECT client_id FROM trips WHERE legs > 5 UNION SELECT client_id FROM trips WHERE legs < 0)
