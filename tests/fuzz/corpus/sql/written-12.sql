SELECT COUNT(*) AS n FROM clients WHERE client_id NOT IN (SELECT client_id FROM trips WHERE client_id IS NOT NULL AND fare > 5) AND credit >= 0
