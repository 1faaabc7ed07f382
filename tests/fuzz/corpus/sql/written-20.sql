SELECT COUNT(*) AS n FROM trips WHERE LOWER(TRIM(state)) = 'open' AND COALESCE(fare, 0) > 1 OR legs = 2 AND NOT fare > 5
