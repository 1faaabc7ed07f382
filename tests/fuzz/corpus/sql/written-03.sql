SELECT COUNT(*) + (SELECT COUNT(*) FROM clients WHERE credit > 5) AS m FROM trips WHERE fare > 10
